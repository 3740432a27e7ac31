/** A site with a wild clock drags no other along: no site shows a stamp that is far ahead of its own clock. */
import { isRed, require } from './checker.ts';
import type { AnyOperation, Checker } from './checker.ts';

const MICROS_PER_MS = 1000;

export class ClockChecker implements Checker {
  readonly name = 'clocks';
  readonly #clockOf: (site: number) => number;
  readonly #skewMaxMs: number;

  constructor(clockOf: (site: number) => number, skewMaxMs: number) {
    this.#clockOf = clockOf;
    this.#skewMaxMs = skewMaxMs;
  }

  applied(site: number, operation: AnyOperation): void {
    // A site believes itself, and shows again at a start what it had taken in before.
    if (operation.site === site) return;
    const stamp = isRed(operation) ? operation.clock : (operation.vector[operation.site] ?? 0);
    const aheadMs = stamp / MICROS_PER_MS - this.#clockOf(site);
    require(aheadMs <= this.#skewMaxMs, () =>
      `site ${site} shows ${operation.id} of site ${operation.site}, ${Math.round(aheadMs)} ms ahead of its clock`);
  }
}
