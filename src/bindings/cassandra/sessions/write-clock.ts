/**
 * Times of writing, in microseconds since the epoch. Of two writes Cassandra keeps the one with the later time, whichever was
 * answered last: who writes after an answer must not have an earlier time than that write, nor the same.
 *
 * A hybrid logical clock (Kulkarni et al., OPODIS 2014): the wall clock's time, above every time that it gave before and above
 * those that were read.
 */

const MICROSECONDS_PER_MS = 1_000;
/** A time that is further ahead was not given by a clock that anybody looks after: who followed it would lead others astray. */
const AHEAD_MAX_MICROSECONDS = 60_000_000;

export class WriteClock {
  readonly #now: () => number;
  #last = 0;

  constructor(now: () => number = wallClock()) {
    this.#now = now;
  }

  /** A time of writing: later than all before, also when the wall clock is set back. */
  next(): number {
    this.#last = Math.max(this.#now(), this.#last + 1);
    return this.#last;
  }

  /** The time as it is: what was written before, here or by whom one has heard from, is not later. */
  current(): number {
    return Math.max(this.#now(), this.#last);
  }

  /** A version was read: what is written from now on comes after it. */
  passed(version: number | undefined): void {
    if (version === undefined || version <= this.#last) return;
    if (version <= this.#now() + AHEAD_MAX_MICROSECONDS) this.#last = version;
  }
}

/** All copies of the package find it under this name: npm may install several, and a bundle has one of its own. */
const SHARED: unique symbol = Symbol.for('correctables.cassandra.writeClock');

/**
 * The one of this process, for all its bindings and for all that they write: with two, a write could be earlier than one
 * that was answered before it began. Threads of a process have one each.
 */
export const writeClock: WriteClock = ((globalThis as { [SHARED]?: WriteClock })[SHARED] ??= new WriteClock());

/**
 * The wall clock with microseconds: those of the monotonic clock, held within the millisecond that the wall clock shows.
 * Whole milliseconds would be rounded down, below what a server has given to a conditional write just before.
 */
export function wallClock(): () => number {
  let offsetMs = performance.timeOrigin;
  return () => {
    const wallMs = Date.now();
    const preciseMs = offsetMs + performance.now();
    const heldMs = Math.min(Math.max(preciseMs, wallMs), wallMs + 1 - 1 / MICROSECONDS_PER_MS);
    offsetMs += heldMs - preciseMs;
    return Math.floor(heldMs * MICROSECONDS_PER_MS);
  };
}
