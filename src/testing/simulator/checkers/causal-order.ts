/**
 * An operation becomes visible at a site only after everything that was visible at its own site when its generator ran.
 * It counts operations, so that it does not rely on the vectors that it checks.
 */
import { RED, type Origin, type Origins } from '../../../server/records/origin.ts';
import { executionOf, isRed, require, type AnyOperation, type Checker } from './checker.ts';

/** Operations seen, by ordinal: red ones, then blue ones. */
type Counts = number[];

export class CausalOrderChecker implements Checker {
  readonly name = 'causal order';
  readonly #size: number;
  readonly #seen: Counts[];
  readonly #needs = new Map<string, Counts>();

  constructor({ size }: Origins) {
    this.#size = size;
    this.#seen = Array.from({ length: size }, () => this.#nothing());
  }

  started(site: Origin, saved?: Counts): void {
    this.#seen[site] = [...(saved ?? this.#nothing())];
  }

  save(site: Origin): Counts {
    return [...(this.#seen[site] as Counts)];
  }

  created(site: Origin, operation: AnyOperation): void {
    this.#needs.set(nameOf(operation), [...(this.#seen[site] as Counts)]);
  }

  applied(site: Origin, operation: AnyOperation): void {
    const seen = this.#seen[site] as Counts;
    const needs = this.#needs.get(nameOf(operation)) ?? [];
    for (const [entry, count] of needs.entries()) {
      const origin = entry === RED ? 'red' : `site ${entry}`;
      require((seen[entry] ?? 0) >= count, () =>
        `site ${site} shows ${nameOf(operation)} with ${seen[entry]} of the ${count} operations of ${origin} before it`);
    }
    const entry = isRed(operation) ? RED : operation.site;
    seen[entry] = (seen[entry] ?? 0) + 1;
  }

  #nothing(): Counts {
    return Array.from({ length: this.#size }, () => 0);
  }
}

function nameOf(operation: AnyOperation): string {
  return isRed(operation) ? executionOf(operation) : `blue ${operation.site}.${operation.sequence}`;
}

/** Every site shows the red operations in one and the same order, and the blue ones of each origin likewise. */
export class TotalOrderChecker implements Checker {
  readonly name = 'red total order';
  /** The one order of each origin and of red, as far as any site has shown it. */
  readonly #orders = new Map<string, string[]>();
  readonly #positions = new Map<string, number>();

  started(site: Origin, saved?: readonly (readonly [string, number])[]): void {
    for (const position of this.#positions.keys()) {
      if (position.startsWith(`${site}:`)) this.#positions.delete(position);
    }
    for (const [position, count] of saved ?? []) this.#positions.set(position, count);
  }

  save(site: Origin): readonly (readonly [string, number])[] {
    return [...this.#positions].filter(([position]) => position.startsWith(`${site}:`));
  }

  applied(site: Origin, operation: AnyOperation): void {
    const origin = isRed(operation) ? 'red' : `site ${operation.site}`;
    const order = this.#orders.get(origin) ?? [];
    this.#orders.set(origin, order);
    const position = this.#positions.get(`${site}:${origin}`) ?? 0;
    this.#positions.set(`${site}:${origin}`, position + 1);
    order[position] ??= operation.id;
    require(order[position] === operation.id, () =>
      `site ${site} shows ${operation.id} at ${origin} ${position}, where another shows ${order[position]}`);
  }
}
