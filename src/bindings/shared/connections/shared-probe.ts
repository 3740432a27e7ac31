/** A question to a server on a connection of its own, shared by all that need it. */
import { systemClock, type Clock } from '../../../correctable/clock.ts';
import { limitTime } from './time-limit.ts';

/** A server that does not answer a trivial question in this time is gone. */
export const PROBE_TIMEOUT_MS = 2_000;

export class SharedProbe<T> {
  readonly #ask: (ended: AbortSignal) => Promise<T>;
  readonly #clock: Clock;
  #asking: Promise<T> | undefined;

  /**
   * @param ask opens a connection, looking its name up again, and closes it
   *   after the answer, or when its signal aborts
   */
  constructor(ask: (ended: AbortSignal) => Promise<T>, clock: Clock = systemClock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** Rejects if the server does not answer in time. One question at a time. */
  run(): Promise<T> {
    this.#asking ??= this.#askInTime().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #askInTime(): Promise<T> {
    const ended = new AbortController();
    const createError = (): Error => new Error(`no answer within ${PROBE_TIMEOUT_MS} ms`);
    try {
      const answer = this.#ask(ended.signal);
      return await limitTime(answer, PROBE_TIMEOUT_MS, createError, this.#clock);
    } finally {
      ended.abort();
    }
  }
}
