/** How many operations a second a connection may submit: a bucket that holds those of one second. */

/** Permits that can be saved: one at least, or there would never be any. */
function sizeOf(perSecond: number): number {
  return Math.max(1, perSecond);
}

/** How long an empty bucket takes until it is full, in milliseconds: nobody need remember it for longer. */
export function fillMs(perSecond: number): number {
  return perSecond === Infinity ? 0 : (sizeOf(perSecond) * 1000) / perSecond;
}

/** A bucket of permits. */
export class RateLimit {
  readonly #perSecond: number;
  #permits: number;
  #filledAt: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#permits = sizeOf(perSecond);
    this.#filledAt = nowMs;
  }

  /** How long to wait until there will be a permit, in milliseconds; 0 where there is one, which `take` takes. */
  waitMs(nowMs: number): number {
    if (this.#perSecond === Infinity) return 0;
    // A clock that was set back fills nothing.
    const elapsedMs = Math.max(0, nowMs - this.#filledAt);
    this.#permits = Math.min(sizeOf(this.#perSecond), this.#permits + (elapsedMs * this.#perSecond) / 1000);
    this.#filledAt = nowMs;
    return this.#permits < 1 ? Math.ceil(((1 - this.#permits) * 1000) / this.#perSecond) : 0;
  }

  /** Takes a permit and returns 0, or how long to wait until there will be one, in milliseconds. */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    if (waitMs === 0) this.#permits -= 1;
    return waitMs;
  }
}
