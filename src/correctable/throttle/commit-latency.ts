/**
 * Estimates how long it may take until an update is ordered: as long as the slowest recent one, and
 * at least as long as the oldest pending one has waited, with a margin. No measurement gives a
 * certain bound.
 */

/** A pending update. */
export interface PendingCommit {
  readonly startedAtMs: number;
}

const SAFETY_FACTOR = 1.5;
/**
 * The half-life of a measurement: a slow update counts half this long after it, if only faster
 * updates followed.
 */
const HALF_LIFE_MS = 5_000;
/** Added to each measurement, because clocks may have a resolution of one millisecond. */
const RESOLUTION_MS = 1;

export class CommitLatency {
  readonly #pending = new Set<PendingCommit>();
  #slowestRecentMs: number | undefined;
  #measuredAtMs = 0;

  begin(nowMs: number): PendingCommit {
    const awaited: PendingCommit = { startedAtMs: nowMs };
    this.#pending.add(awaited);
    return awaited;
  }

  /** Notes that the update has been ordered. */
  end(awaited: PendingCommit, nowMs: number): void {
    this.discard(awaited);
    const tookMs = nowMs - awaited.startedAtMs;
    // If the clock was set back meanwhile, the duration is unknown.
    if (tookMs < 0) return;
    const fading = 0.5 ** (Math.max(0, nowMs - this.#measuredAtMs) / HALF_LIFE_MS);
    this.#slowestRecentMs = Math.max(tookMs, (this.#slowestRecentMs ?? 0) * fading);
    this.#measuredAtMs = nowMs;
  }

  /** Notes that the update has failed. How long it would have taken is unknown. */
  discard(awaited: PendingCommit): void {
    this.#pending.delete(awaited);
  }

  /**
   * Returns the estimate for an update that begins now, or `undefined` before the first one has
   * been ordered.
   */
  estimateMs(nowMs: number): number | undefined {
    if (this.#slowestRecentMs === undefined) return undefined;
    const [oldest] = this.#pending;
    const waitedMs = oldest === undefined ? 0 : nowMs - oldest.startedAtMs;
    return SAFETY_FACTOR * (Math.max(this.#slowestRecentMs, waitedMs) + RESOLUTION_MS);
  }
}
