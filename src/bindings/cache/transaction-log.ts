/** When the last transactions of a store took place: tells which of them a page that has not read it yet came after. */

/** How many of the last transactions are remembered. */
const LOGGED_MAX = 32;

/** By how much two readings of clocks of one device may differ, in milliseconds. */
const SLACK_MS = 10;

/** The number of a transaction, and no earlier than when it took place, in milliseconds since the epoch. */
export type Logged = readonly [seq: number, atMs: number];

/** A moment by the two clocks of a device, in milliseconds. */
export interface Moment {
  /** Since the epoch: pages of one device share it, and it may be set. */
  readonly wallMs: number;
  readonly monotonicMs: number;
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
  add(seq: number, nowMs: number): void {
    const before = this.#entries.map(([of, atMs]): Logged => [of, Math.min(atMs, nowMs)]);
    this.#entries = [...before, [seq, nowMs] as const].slice(-LOGGED_MAX);
  }

  /**
   * The last transaction that surely ended before `moment`, 0 where none did: judged at `read`, when this log was read. Where
   * the clock was set between the two, none did.
   */
  endedBefore(moment: Moment, read: Moment): number {
    const wasSetByMs = read.wallMs - moment.wallMs - (read.monotonicMs - moment.monotonicMs);
    if (!(Math.abs(wasSetByMs) < SLACK_MS)) return 0;
    let ended = 0;
    for (const [seq, atMs] of this.#entries) {
      if (!(atMs < moment.wallMs - SLACK_MS)) break;
      ended = seq;
    }
    return ended;
  }
}

function areLogged(entries: unknown): entries is readonly Logged[] {
  const isLogged = (entry: unknown): boolean =>
    Array.isArray(entry) && typeof entry[0] === 'number' && typeof entry[1] === 'number';
  return Array.isArray(entries) && entries.every(isLogged);
}
