/**
 * An operation becomes visible only after everything that its generator saw. The checker counts
 * operations instead of comparing vectors.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import type { SiteState } from '../../../server/site/core/site-state.ts';
import {
  CountingChecker,
  getExecutionName,
  isRed,
  assertProperty,
  formatList,
  SiteChecker,
  type AnyOperation,
} from './checker.ts';

type Counts = readonly number[];

export class CausalOrderChecker extends CountingChecker {
  readonly name = 'causal order';
  readonly #needs = new Map<string, Counts>();

  onCreated(site: Origin, operation: AnyOperation): void {
    this.#needs.set(formatOperation(operation), [...this.getState(site)]);
  }

  override onApplied(site: Origin, operation: AnyOperation, state: SiteState): void {
    const seen = this.getState(site);
    const needs = this.#needs.get(formatOperation(operation)) ?? [];
    for (const [entry, count] of needs.entries()) {
      const origin = formatList(entry, this.founding);
      assertProperty(
        (seen[entry] ?? 0) >= count,
        () =>
          `site ${site} shows ${operation.id} too early. ` +
          `Operations of ${origin} that it depends on: ${count}. ` +
          `Shown before it: ${seen[entry] ?? 0}. ` +
          `The operation: ${formatOperation(operation)}`,
      );
    }
    super.onApplied(site, operation, state);
  }
}

function formatOperation(operation: AnyOperation): string {
  return isRed(operation)
    ? getExecutionName(operation)
    : `blue ${operation.site}.${operation.sequence}`;
}

/** Every site shows the red operations in the same order, and the blue ones of each origin too. */
export class TotalOrderChecker extends SiteChecker<Map<string, number>> {
  readonly name = 'red total order';
  /** The order of each origin and of red, as far as any site has shown it. */
  readonly #orders = new Map<string, string[]>();

  constructor() {
    super((saved) => new Map(saved));
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    const origin = isRed(operation) ? `red ${operation.partition ?? ''}` : `site ${operation.site}`;
    const order = this.#orders.get(origin) ?? [];
    this.#orders.set(origin, order);
    const positions = this.getState(site);
    const position = positions.get(origin) ?? 0;
    positions.set(origin, position + 1);
    order[position] ??= operation.id;
    assertProperty(
      order[position] === operation.id,
      () =>
        `site ${site} shows ${operation.id} at ${origin} ${position}, where another shows ${order[position]}`,
    );
  }
}
