/**
 * An operation becomes visible at a site only after everything that was visible at its own site when its generator ran.
 * It counts operations, so that it does not rely on the vectors that it checks.
 */
import { RED, type Origin, type Origins } from '../../../server/records/origin.ts';
import { CountingChecker, executionOf, isRed, require, SiteChecker, type AnyOperation } from './checker.ts';

type Counts = readonly number[];

export class CausalOrderChecker extends CountingChecker {
  readonly name = 'causal order';
  readonly #needs = new Map<string, Counts>();

  created(site: Origin, operation: AnyOperation): void {
    this.#needs.set(nameOf(operation), [...this.at(site)]);
  }

  override applied(site: Origin, operation: AnyOperation): void {
    const seen = this.at(site);
    const needs = this.#needs.get(nameOf(operation)) ?? [];
    for (const [entry, count] of needs.entries()) {
      const origin = entry === RED ? 'red' : `site ${entry}`;
      require((seen[entry] ?? 0) >= count, () =>
        `site ${site} shows ${nameOf(operation)} with ${seen[entry]} of the ${count} operations of ${origin} before it`);
    }
    super.applied(site, operation);
  }
}

function nameOf(operation: AnyOperation): string {
  return isRed(operation) ? executionOf(operation) : `blue ${operation.site}.${operation.sequence}`;
}

/** Every site shows the red operations in one and the same order, and the blue ones of each origin likewise. */
export class TotalOrderChecker extends SiteChecker<Map<string, number>> {
  readonly name = 'red total order';
  /** The one order of each origin and of red, as far as any site has shown it. */
  readonly #orders = new Map<string, string[]>();

  constructor(origins: Origins) {
    super(origins, (saved) => new Map(saved));
  }

  applied(site: Origin, operation: AnyOperation): void {
    const origin = isRed(operation) ? 'red' : `site ${operation.site}`;
    const order = this.#orders.get(origin) ?? [];
    this.#orders.set(origin, order);
    const positions = this.at(site);
    const position = positions.get(origin) ?? 0;
    positions.set(origin, position + 1);
    order[position] ??= operation.id;
    require(order[position] === operation.id, () =>
      `site ${site} shows ${operation.id} at ${origin} ${position}, where another shows ${order[position]}`);
  }
}
