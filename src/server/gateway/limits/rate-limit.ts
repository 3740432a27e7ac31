/**
 * Limits the operations a second by a token bucket. Its capacity is the number of operations in one
 * second.
 */

export class RateLimit {
  readonly #perSecond: number;
  /** Capacity of the bucket. It is at least 1: otherwise there would never be a whole permit. */
  readonly #size: number;
  #permits: number;
  #filledAt: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#size = Math.max(1, perSecond);
    this.#permits = this.#size;
    this.#filledAt = nowMs;
  }

  /**
   * Takes a permit and returns 0. If there is none, returns how long to wait for one, in
   * milliseconds.
   */
  tryTake(nowMs: number): number {
    this.#fill(nowMs);
    if (this.#permits < 1) return Math.ceil(((1 - this.#permits) * 1000) / this.#perSecond);
    this.#permits -= 1;
    return 0;
  }

  /** Whether the bucket is full, as a new one would be. */
  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#permits === this.#size;
  }

  #fill(nowMs: number): void {
    if (this.#perSecond === Infinity) return;
    // If the clock was set back, add no permits.
    const elapsedMs = Math.max(0, nowMs - this.#filledAt);
    this.#permits = Math.min(this.#size, this.#permits + (elapsedMs * this.#perSecond) / 1000);
    this.#filledAt = nowMs;
  }
}
