/**
 * Times of writing, in microseconds since the epoch. Of two writes Cassandra
 * keeps the one with the later time, whichever was answered last. So a write
 * after an answer must have a later time than the answered write.
 *
 * A hybrid logical clock (Kulkarni et al., OPODIS 2014): the wall clock's time,
 * above every time that it gave before and above those that were read. It does
 * not follow a time far ahead, since then all later writes of the servers would
 * be lost. Only writes to that object come after that time.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { RecentMap } from '../../shared/recent-map.ts';

const MICROSECONDS_PER_MS = 1_000;
/** Clocks that are looked after are not further apart. */
const MAX_AHEAD_MICROSECONDS = 1_000_000;
/**
 * Objects whose version was further ahead; of more those that were seen longest
 * ago are forgotten.
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
   * A later time than all before, and than all that was read of `id`. Throws
   * `CONFLICT` if there is none.
   */
  next(id?: string): number {
    const time = Math.max(this.#now(), this.#last + 1);
    const ahead = id === undefined ? undefined : this.#ahead.get(id);
    if (id === undefined || ahead === undefined || ahead < time)
      return (this.#last = time);
    if (ahead >= Number.MAX_SAFE_INTEGER)
      throw createNoLaterTimestampError(id, ahead);
    this.#ahead.set(id, ahead + 1);
    return ahead + 1;
  }

  /**
   * The time as it is: what was written before, here or by whom one has heard
   * from, is not later; what is to come is.
   */
  current(): number {
    return (this.#last = Math.max(this.#now(), this.#last));
  }

  /**
   * A version was read, of the object `id` where that is known: what is written
   * from now on comes after it.
   */
  advanceTo(version: number | undefined, id?: string): void {
    if (version === undefined || version <= this.#last) return;
    if (version <= this.#now() + MAX_AHEAD_MICROSECONDS) this.#last = version;
    else if (id !== undefined)
      this.#ahead.set(id, Math.max(version, this.#ahead.get(id) ?? 0));
  }
}

function createNoLaterTimestampError(
  id: string,
  version: number,
): CorrectableError {
  const message =
    `${id} was written with the time ${version}, after which nothing can be written: ` +
    'delete it with USING TIMESTAMP, and see to the clock of who wrote it';
  return new CorrectableError('CONFLICT', message, { retryable: false });
}

/**
 * All copies of the package find it under this name: npm may install several,
 * and a bundle has one of its own.
 */
const GLOBAL_CLOCK_KEY: unique symbol = Symbol.for(
  'correctables.cassandra.writeClock',
);

/**
 * One for the process: with two, a write could get an earlier time than one
 * that was answered before it began.
 */
export const writeClock: WriteClock = ((
  globalThis as { [GLOBAL_CLOCK_KEY]?: WriteClock }
)[GLOBAL_CLOCK_KEY] ??= new WriteClock());

/**
 * The wall clock with the monotonic clock's microseconds: whole milliseconds
 * could be below what a server has given.
 */
export function createWallClock(): () => number {
  let offsetMs = performance.timeOrigin;
  return () => {
    const wallMs = Date.now();
    const preciseMs = offsetMs + performance.now();
    const heldMs = Math.min(
      Math.max(preciseMs, wallMs),
      wallMs + 1 - 1 / MICROSECONDS_PER_MS,
    );
    offsetMs += heldMs - preciseMs;
    return Math.floor(heldMs * MICROSECONDS_PER_MS);
  };
}
