/**
 * Estimates how long it may take until an update is ordered: as long as the
 * slowest lately, and as long as the oldest pending one has waited, with a
 * margin. No measurement gives a certain bound.
 */

/** An update that is waited for. */
export interface PendingCommit {
  readonly startedAtMs: number;
}

const SAFETY_FACTOR = 1.5;
/**
 * How long it takes until a slow one counts half as much, once faster ones have
 * come.
 */
const HALF_LIFE_MS = 5_000;
/** Clocks may tick in whole milliseconds. */
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

  /** The update has been ordered. */
  end(awaited: PendingCommit, nowMs: number): void {
    this.discard(awaited);
    const tookMs = nowMs - awaited.startedAtMs;
    // The clock was set back meanwhile: the time is unknown.
    if (tookMs < 0) return;
    const fading =
      0.5 ** (Math.max(0, nowMs - this.#measuredAtMs) / HALF_LIFE_MS);
    this.#slowestRecentMs = Math.max(
      tookMs,
      (this.#slowestRecentMs ?? 0) * fading,
    );
    this.#measuredAtMs = nowMs;
  }

  /** The update has failed: how long it would have taken is not known. */
  discard(awaited: PendingCommit): void {
    this.#pending.delete(awaited);
  }

  /**
   * For an update that begins now; undefined before the first one has been
   * ordered.
   */
  estimateMs(nowMs: number): number | undefined {
    if (this.#slowestRecentMs === undefined) return undefined;
    const [oldest] = this.#pending;
    const waitedMs = oldest === undefined ? 0 : nowMs - oldest.startedAtMs;
    return (
      SAFETY_FACTOR *
      (Math.max(this.#slowestRecentMs, waitedMs) + RESOLUTION_MS)
    );
  }
}
