/**
 * The times of a store's last transactions. They show which transactions had ended before a given
 * moment, also to a page that has not read the store yet.
 */

const MAX_LOG_ENTRIES = 32;

/** Maximum difference between two readings of the clocks of one device, in milliseconds. */
const CLOCK_TOLERANCE_MS = 10;

/**
 * A moment in the order of everything that one program does on one store. Unlike a clock, it orders
 * events exactly.
 */
export interface ProgramMoment {
  readonly programId: string;
  /** Counted from 1. */
  readonly count: number;
}

/**
 * The number of a transaction, a time in milliseconds at or after it, the program that made it, and
 * the program's count then.
 */
export type LogEntry = readonly [seq: number, atMs: number, by?: string, count?: number];

/** A moment by the two clocks of a device in milliseconds, and by the program's count. */
export interface StoreMoment {
  /** Milliseconds since the epoch. Pages of one device share this clock, and it may be set. */
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly programMoment: ProgramMoment;
}

export interface KnownTransaction {
  /** The last transaction that was known to have ended. */
  readonly seq: number;
  /**
   * When that was known. Absent if the store had been read by then, because then the number
   * suffices.
   */
  readonly at?: StoreMoment;
}

export class TransactionLog {
  data: readonly LogEntry[];

  constructor(entries: unknown) {
    this.data = isLogEntries(entries) ? entries : [];
  }

  /**
   * Adds a transaction. Times in the future are from before the clock was set back, so they count
   * as now.
   */
  add(seq: number, nowMs: number, { programId, count }: ProgramMoment): void {
    const before = this.data.map(([of, atMs, ...counted]): LogEntry => [
      of,
      Math.min(atMs, nowMs),
      ...counted,
    ]);
    this.data = [...before, [seq, nowMs, programId, count] as const].slice(-MAX_LOG_ENTRIES);
  }

  /**
   * Returns the last transaction that certainly ended before `moment`, or 0. If the clock was set,
   * only transactions of this program count.
   */
  findLastEndedBefore(
    { wallMs, monotonicMs, programMoment }: StoreMoment,
    read: StoreMoment,
  ): number {
    const wasSetByMs = read.wallMs - wallMs - (read.monotonicMs - monotonicMs);
    const isClockWell = Math.abs(wasSetByMs) < CLOCK_TOLERANCE_MS;
    let ended = 0;
    for (const [seq, atMs, by, count = Infinity] of this.data) {
      if (by === programMoment.programId && count > programMoment.count) break;
      if (by === programMoment.programId || (isClockWell && atMs < wallMs - CLOCK_TOLERANCE_MS))
        ended = seq;
    }
    return ended;
  }
}

const counters = /* @__PURE__ */ new WeakMap<object, () => ProgramMoment>();

/** Returns a counter that all clients of this program share for `store`. */
export function getCounter(store: object): () => ProgramMoment {
  let counting = counters.get(store);
  if (counting === undefined) {
    const programId = Math.random().toString(36);
    let count = 0;
    counting = () => ({ programId, count: ++count });
    counters.set(store, counting);
  }
  return counting;
}

function isLogEntries(entries: unknown): entries is readonly LogEntry[] {
  const isLogged = (entry: unknown): boolean =>
    Array.isArray(entry) && typeof entry[0] === 'number' && typeof entry[1] === 'number';
  return Array.isArray(entries) && entries.every(isLogged);
}
