/** What may take a share of the time, and no more of it however often it is wanted. */

/** How much of the time. */
export interface ShareOfTime {
  /** From 0 to 1. */
  readonly share: number;
  /** What has been saved up at most, in milliseconds: so much may be taken at once before the share counts. */
  readonly savedMaxMs: number;
}

/** Lets something run while it has time left, which comes back at its share of what passes. */
export class TimeShare {
  readonly #of: ShareOfTime;
  readonly #elapsedMs: () => number;
  #leftMs: number;
  #sinceMs: number;

  /** `elapsedMs` is a clock that nobody sets. */
  constructor(of: ShareOfTime, elapsedMs: () => number) {
    this.#of = of;
    this.#elapsedMs = elapsedMs;
    this.#leftMs = of.savedMaxMs;
    this.#sinceMs = elapsedMs();
  }

  /** Runs `work` where there is time left for it, and says what it gave; `undefined` where it did not run. */
  run<T>(work: () => T): T | undefined {
    const { share, savedMaxMs } = this.#of;
    const begunMs = this.#elapsedMs();
    this.#leftMs = Math.min(savedMaxMs, this.#leftMs + (begunMs - this.#sinceMs) * share);
    this.#sinceMs = begunMs;
    if (this.#leftMs <= 0) return undefined;
    const given = work();
    this.#sinceMs = this.#elapsedMs();
    this.#leftMs -= this.#sinceMs - begunMs;
    return given;
  }
}
