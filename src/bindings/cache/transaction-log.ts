/** When the last transactions of a store took place: tells which of them a page that has not read it yet came after. */

/** How many of the last transactions are remembered. */
const LOGGED_MAX = 32;

/** By how much two readings of clocks of one device may differ, in milliseconds. */
const SLACK_MS = 10;

/** A moment among all that one program does on one store: exact, where clocks are not. */
export interface Counted {
  /** The program, by a name of its own. */
  readonly by: string;
  /** From 1. */
  readonly count: number;
}

/**
 * The number of a transaction; no earlier than when it took place, in milliseconds since the epoch; and the same as
 * whoever made it counts.
 */
export type Logged = readonly [seq: number, atMs: number, by?: string, count?: number];

/** A moment by the two clocks of a device, in milliseconds, and as this program counts. */
export interface Moment {
  /** Since the epoch: pages of one device share it, and it may be set. */
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly counted: Counted;
}

/** What a page knew of the store when an operation began. */
export interface Noted {
  /** The last transaction that it knew to have ended. */
  readonly seq: number;
  /** When that was; where the store had been read by then, the number says it all. */
  readonly at?: Moment;
}

export class TransactionLog {
  #entries: readonly Logged[];

  constructor(entries: unknown) {
    this.#entries = areLogged(entries) ? entries : [];
  }

  get data(): readonly Logged[] {
    return this.#entries;
  }

  /** What is from the future is from before the clock was set back: it was no later than now. */
  add(seq: number, nowMs: number, { by, count }: Counted): void {
    const before = this.#entries.map(([of, atMs, ...counted]): Logged => [of, Math.min(atMs, nowMs), ...counted]);
    this.#entries = [...before, [seq, nowMs, by, count] as const].slice(-LOGGED_MAX);
  }

  /**
   * The last transaction that surely ended before `moment`, 0 where none did: judged at `read`, when this log was read. Where
   * the clock was set between the two, only what this program has done itself did.
   */
  endedBefore({ wallMs, monotonicMs, counted }: Moment, read: Moment): number {
    const wasSetByMs = read.wallMs - wallMs - (read.monotonicMs - monotonicMs);
    const isClockWell = Math.abs(wasSetByMs) < SLACK_MS;
    let ended = 0;
    for (const [seq, atMs, by, count = Infinity] of this.#entries) {
      if (by === counted.by && count > counted.count) break;
      if (by === counted.by || (isClockWell && atMs < wallMs - SLACK_MS)) ended = seq;
    }
    return ended;
  }
}

const countings = /* @__PURE__ */ new WeakMap<object, () => Counted>();

/** Counts for all clients of this program that use `store`, the one object. */
export function countingOn(store: object): () => Counted {
  let counting = countings.get(store);
  if (counting === undefined) {
    const by = Math.random().toString(36);
    let count = 0;
    counting = () => ({ by, count: ++count });
    countings.set(store, counting);
  }
  return counting;
}

function areLogged(entries: unknown): entries is readonly Logged[] {
  const isLogged = (entry: unknown): boolean =>
    Array.isArray(entry) && typeof entry[0] === 'number' && typeof entry[1] === 'number';
  return Array.isArray(entries) && entries.every(isLogged);
}
