/**
 * The hybrid logical clock of a site: its stamps never go back, and lie above every stamp that they
 * depend on.
 */

export const MICROS_PER_MS = 1000;
/**
 * No correct clock shows this time (the year 2200). Too few stamps are left above it to keep them
 * distinct.
 */
export const HORIZON_MS: number = Date.UTC(2200);
/**
 * Above the horizon stamps only count on, one for each operation. No deployment gets this far
 * beyond it.
 */
const MAX_COUNTED_STAMPS = 2 ** 49;
/**
 * The largest stamp that a clock can have given. Above it there is room for all stamps that follow.
 */
export const MAX_STAMP = HORIZON_MS * MICROS_PER_MS + MAX_COUNTED_STAMPS;

/** A hybrid logical clock. Stamps are microseconds since the epoch, as safe integers. */
export class HybridClock {
  #last = 0;

  /**
   * Returns the next stamp. It is above all earlier ones and above `after`, and at least the wall
   * clock `wallMs`, if that is possible.
   */
  next(wallMs: number, after: number): number {
    const wall = wallMs < HORIZON_MS ? Math.floor(wallMs * MICROS_PER_MS) : 0;
    this.#last = Math.max(wall, this.#last + 1, after + 1);
    return this.#last;
  }

  /** The last stamp given, or a larger one that was advanced to. */
  get last(): number {
    return this.#last;
  }

  /** Never again gives a stamp at or below `stamp`, which this site gave before a restart. */
  advanceTo(stamp: number): void {
    this.#last = Math.max(this.#last, stamp);
  }
}
