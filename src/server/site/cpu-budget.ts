/** What may take a share of the time, and no more of it however often it is wanted. */

/** How much of the time. */
export interface CpuShare {
  /** From 0 to 1. */
  readonly share: number;
  /** What has been saved up at most, in milliseconds: so much may be taken at once before the share counts. */
  readonly maxSavedMs: number;
}

/** Lets something run while it has time left, which comes back at its share of what passes. */
export class CpuBudget {
  readonly #share: CpuShare;
  readonly #elapsedMs: () => number;
  #availableMs: number;
  #sinceMs: number;

  /** `elapsedMs` is a monotonic clock. */
  constructor(of: CpuShare, elapsedMs: () => number) {
    this.#share = of;
    this.#elapsedMs = elapsedMs;
    this.#availableMs = of.maxSavedMs;
    this.#sinceMs = elapsedMs();
  }

  /** Runs `work` where there is time left for it, and says what it gave; `undefined` where it did not run. */
  run<T>(work: () => T): T | undefined {
    const { share, maxSavedMs } = this.#share;
    const begunMs = this.#elapsedMs();
    this.#availableMs = Math.min(maxSavedMs, this.#availableMs + (begunMs - this.#sinceMs) * share);
    this.#sinceMs = begunMs;
    if (this.#availableMs <= 0) return undefined;
    const value = work();
    this.#sinceMs = this.#elapsedMs();
    this.#availableMs -= this.#sinceMs - begunMs;
    return value;
  }
}
