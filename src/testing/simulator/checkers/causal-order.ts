/**
 * An operation becomes visible at a site only after everything that was visible at its own site when its generator ran.
 * It counts operations, so that it does not rely on the vectors that it checks.
 */
import { executionOf, isRed, require } from './checker.ts';
import type { AnyOperation, Checker } from './checker.ts';

/** Operations seen: blue ones by origin, then red ones. */
type Counts = number[];

export class CausalOrderChecker implements Checker {
  readonly name = 'causal order';
  readonly #siteCount: number;
  readonly #seen: Counts[];
  readonly #needs = new Map<string, Counts>();

  constructor(siteCount: number) {
    this.#siteCount = siteCount;
    this.#seen = Array.from({ length: siteCount }, () => this.#nothing());
  }

  started(site: number, saved?: Counts): void {
    this.#seen[site] = [...(saved ?? this.#nothing())];
  }

  save(site: number): Counts {
    return [...(this.#seen[site] as Counts)];
  }

  created(site: number, operation: AnyOperation): void {
    this.#needs.set(nameOf(operation), [...(this.#seen[site] as Counts)]);
  }

  applied(site: number, operation: AnyOperation): void {
    const seen = this.#seen[site] as Counts;
    const needs = this.#needs.get(nameOf(operation)) ?? [];
    for (const [entry, count] of needs.entries()) {
      const origin = entry === this.#siteCount ? 'red' : `site ${entry}`;
      require((seen[entry] ?? 0) >= count, () =>
        `site ${site} shows ${nameOf(operation)} with ${seen[entry]} of the ${count} operations of ${origin} before it`);
    }
    const entry = isRed(operation) ? this.#siteCount : operation.site;
    seen[entry] = (seen[entry] ?? 0) + 1;
  }

  #nothing(): Counts {
    return Array.from({ length: this.#siteCount + 1 }, () => 0);
  }
}

function nameOf(operation: AnyOperation): string {
  return isRed(operation) ? executionOf(operation) : `blue ${operation.site}.${operation.sequence}`;
}
