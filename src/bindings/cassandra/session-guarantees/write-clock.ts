/**
 * Times of writing, in microseconds since the epoch. Of two writes Cassandra keeps the one with the
 * later time, whichever was answered last. So a write after an answer must have a later time than
 * the answered write.
 *
 * A hybrid logical clock (Kulkarni et al., OPODIS 2014): it returns the wall clock's time, or a
 * later one that is above every time that it returned before and above the versions that were read.
 * A version that is far ahead of the wall clock advances only later writes to its own object.
 * Otherwise writes that get their time from a server would be lost.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { RecentMap } from '../../shared/recent-map.ts';

const MICROSECONDS_PER_MS = 1_000;
/** Synchronized clocks differ by less than this. */
const MAX_AHEAD_MICROSECONDS = 1_000_000;
/**
 * Maximum number of objects that are remembered because their version was further ahead. Those that
 * were seen longest ago are dropped first.
 */
const MAX_AHEAD_OBJECTS = 10_000;

export class WriteClock {
  readonly #now: () => number;
  #last = 0;
  readonly #ahead = new RecentMap<number>(MAX_AHEAD_OBJECTS);

  constructor(now: () => number = createWallClock()) {
    this.#now = now;
  }

  /**
   * Returns a later time than all before, and than all versions of `id` that were read. Throws
   * `CONFLICT` if there is none.
   */
  next(id?: string): number {
    const time = Math.max(this.#now(), this.#last + 1);
    const ahead = id === undefined ? undefined : this.#ahead.get(id);
    if (id === undefined || ahead === undefined || ahead < time) return (this.#last = time);
    if (ahead >= Number.MAX_SAFE_INTEGER) throw createNoLaterTimestampError(id, ahead);
    this.#ahead.set(id, ahead + 1);
    return ahead + 1;
  }

  /**
   * Returns the present time, without reserving it for a write. All earlier writes of this process
   * have an earlier time, all later ones a later time.
   */
  current(): number {
    return (this.#last = Math.max(this.#now(), this.#last));
  }

  /**
   * Notes a version that was read, of the object `id` if that is known. Later writes get later
   * times.
   */
  advanceTo(version: number | undefined, id?: string): void {
    if (version === undefined || version <= this.#last) return;
    if (version <= this.#now() + MAX_AHEAD_MICROSECONDS) this.#last = version;
    else if (id !== undefined) this.#ahead.set(id, Math.max(version, this.#ahead.get(id) ?? 0));
  }
}

function createNoLaterTimestampError(id: string, version: number): CorrectableError {
  const message =
    `${id} has a version with the time ${version}, and no later time is possible. ` +
    'The write was not sent. ' +
    'Correct the clock of the client that wrote it, and write the value under another key or to another table. ' +
    'Do not delete the version with USING TIMESTAMP: Cassandra hides each write that is older than a deletion, although it acknowledges the write.';
  return new CorrectableError('CONFLICT', message, { retryable: false });
}

/**
 * The key under which all copies of the package find the clock. npm may install several copies, and
 * a bundle has one of its own.
 */
const GLOBAL_CLOCK_KEY: unique symbol = Symbol.for('correctables.cassandra.writeClock');

/**
 * One clock for the process. With two, a write could get an earlier time than a write that was
 * acknowledged before it began.
 */
export const writeClock: WriteClock = ((globalThis as { [GLOBAL_CLOCK_KEY]?: WriteClock })[
  GLOBAL_CLOCK_KEY
] ??= new WriteClock());

/**
 * Returns a wall clock with the microseconds of the monotonic clock. Whole milliseconds could be
 * lower than a time that a server has assigned.
 */
export function createWallClock(): () => number {
  let offsetMs = performance.timeOrigin;
  return () => {
    const wallMs = Date.now();
    const preciseMs = offsetMs + performance.now();
    const heldMs = Math.min(Math.max(preciseMs, wallMs), wallMs + 1 - 1 / MICROSECONDS_PER_MS);
    offsetMs += heldMs - preciseMs;
    return Math.floor(heldMs * MICROSECONDS_PER_MS);
  };
}
