/**
 * When the last transactions of a store took place: tells which of them a page
 * that has not read it yet came after.
 */

const MAX_LOG_ENTRIES = 32;

/**
 * By how much two readings of clocks of one device may differ, in milliseconds.
 */
const CLOCK_TOLERANCE_MS = 10;

/**
 * A moment among all that one program does on one store: exact, where clocks
 * are not.
 */
export interface ProgramMoment {
  readonly programId: string;
  /** From 1. */
  readonly count: number;
}

/**
 * The number of a transaction, a time at or after it in milliseconds, the
 * program that made it, and its count there.
 */
export type LogEntry = readonly [
  seq: number,
  atMs: number,
  by?: string,
  count?: number,
];

/**
 * A moment by the two clocks of a device, in milliseconds, and as this program
 * counts.
 */
export interface StoreMoment {
  /** Since the epoch: pages of one device share it, and it may be set. */
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly programMoment: ProgramMoment;
}

export interface KnownTransaction {
  /** The last transaction that it knew to have ended. */
  readonly seq: number;
  /**
   * When that was; where the store had been read by then, the number says it
   * all.
   */
  readonly at?: StoreMoment;
}

export class TransactionLog {
  data: readonly LogEntry[];

  constructor(entries: unknown) {
    this.data = isLogEntries(entries) ? entries : [];
  }

  /**
   * What is from the future is from before the clock was set back: it was no
   * later than now.
   */
  add(seq: number, nowMs: number, { programId, count }: ProgramMoment): void {
    const before = this.data.map(([of, atMs, ...counted]): LogEntry => [
      of,
      Math.min(atMs, nowMs),
      ...counted,
    ]);
    this.data = [...before, [seq, nowMs, programId, count] as const].slice(
      -MAX_LOG_ENTRIES,
    );
  }

  /**
   * The last transaction that surely ended before `moment`; 0 for none. If the
   * clock was set, only own ones count.
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
      if (
        by === programMoment.programId ||
        (isClockWell && atMs < wallMs - CLOCK_TOLERANCE_MS)
      )
        ended = seq;
    }
    return ended;
  }
}

const counters = /* @__PURE__ */ new WeakMap<object, () => ProgramMoment>();

/** Counts for all clients of this program that use `store`, the one object. */
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
    Array.isArray(entry) &&
    typeof entry[0] === 'number' &&
    typeof entry[1] === 'number';
  return Array.isArray(entries) && entries.every(isLogged);
}
