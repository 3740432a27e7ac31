/** How many operations a second a connection may submit: a bucket that holds those of one second. */

/** A bucket of permits. */
export class RateLimit {
  readonly #perSecond: number;
  #permits: number;
  #filledAt: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#permits = this.#size;
    this.#filledAt = nowMs;
  }

  /** Permits that can be saved: one at least, or there would never be any. */
  get #size(): number {
    return Math.max(1, this.#perSecond);
  }

  /** Takes a permit and returns 0, or how long to wait until there will be one, in milliseconds. */
  take(nowMs: number): number {
    if (this.#perSecond === Infinity) return 0;
    // A clock that was set back fills nothing.
    const elapsedMs = Math.max(0, nowMs - this.#filledAt);
    this.#permits = Math.min(this.#size, this.#permits + (elapsedMs * this.#perSecond) / 1000);
    this.#filledAt = nowMs;
    if (this.#permits < 1) return Math.ceil(((1 - this.#permits) * 1000) / this.#perSecond);
    this.#permits -= 1;
    return 0;
  }
}
