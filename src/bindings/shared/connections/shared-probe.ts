/** A question to a server on a connection of its own, shared by all that need it. */
import { systemClock, type Clock } from '../../../correctable/clock.ts';
import { limitTime } from './time-limit.ts';

/** A server that does not answer a trivial question in this time is gone. */
export const PROBE_TIMEOUT_MS = 2_000;

export class SharedProbe<T> {
  readonly #ask: () => Promise<T>;
  readonly #clock: Clock;
  #asking: Promise<T> | undefined;

  /**
   * @param ask opens a connection, looking its name up again, and closes it
   *   after the answer
   */
  constructor(ask: () => Promise<T>, clock: Clock = systemClock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** Rejects if the server does not answer in time. One question at a time. */
  run(): Promise<T> {
    this.#asking ??= this.#askInTime().finally(
      () => (this.#asking = undefined),
    );
    return this.#asking;
  }

  #askInTime(): Promise<T> {
    const createError = (): Error =>
      new Error(`no answer within ${PROBE_TIMEOUT_MS} ms`);
    return limitTime(this.#ask(), PROBE_TIMEOUT_MS, createError, this.#clock);
  }
}
