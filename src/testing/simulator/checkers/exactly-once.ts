/**
 * An operation that was answered took effect once at every site, or not at all, as the answer says; whoever asks again
 * gets the same answer. Losing what was acknowledged is the same fault.
 */
import { require } from './checker.ts';
import type { AnyOperation, Checker, FinalState } from './checker.ts';
import { tookEffect } from '../history.ts';

const READS: ReadonlySet<string> = new Set(['size', 'balance']);

export class ExactlyOnceChecker implements Checker {
  readonly name = 'exactly once';
  /** How often each site shows an operation. */
  readonly #times: Map<string, number>[];

  constructor(siteCount: number) {
    this.#times = Array.from({ length: siteCount }, () => new Map<string, number>());
  }

  started(site: number, saved?: ReadonlyMap<string, number>): void {
    this.#times[site] = new Map(saved);
  }

  save(site: number): ReadonlyMap<string, number> {
    return new Map(this.#times[site]);
  }

  applied(site: number, { id, effects }: AnyOperation): void {
    if (effects.length === 0) return;
    const times = this.#times[site] as Map<string, number>;
    times.set(id, (times.get(id) ?? 0) + 1);
    require(times.get(id) === 1, () => `${id} took effect twice at site ${site}`);
  }

  finished({ history }: FinalState): void {
    for (const { id, error } of history.operations) {
      const isShown = error !== undefined && this.#times.some((times) => times.has(id));
      require(!isShown, () => `${id} was told to have failed (${error}) and took effect`);
    }
    for (const operation of history.answered()) {
      const { id, answers } = operation;
      if (READS.has(operation.operation)) continue;
      const [first, ...others] = answers.map(({ value }) => JSON.stringify(value) ?? 'undefined');
      require(others.every((other) => other === first), () => `${id} was answered ${first}, then ${others.join()}`);
      const expected = tookEffect(operation) ? 1 : 0;
      for (const [site, times] of this.#times.entries()) {
        const found = times.get(id) ?? 0;
        const told = `${operation.operation} ${id} was answered ${first}`;
        require(found === expected, () => `${told}, and took effect ${found} times at site ${site}`);
      }
    }
  }
}
