/** Keeps the thread awake for a moment after an answer: to wake it takes longer than most operations. */
import { CorrectableError } from '../../../correctable/errors.ts';

/** Polling for longer than this is a mistake in the unit. */
export const MAX_BUSY_POLL_US = 100_000;

/** Where the time comes from, and how to look for events once and go on. */
export interface BusyPollPorts {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls `then` after the events that have come, without waiting for more. */
  afterEvents(then: () => void): void;
}

const system: BusyPollPorts = { now: () => performance.now(), afterEvents: (then) => void setImmediate(then) };

/** Looks for events again and again, as long as it was asked to not so long ago. */
export class BusyPoll {
  readonly #forMs: number;
  readonly #ports: BusyPollPorts;
  #untilMs = 0;
  #isPolling = false;
  readonly #poll = (): void => {
    this.#isPolling = this.#ports.now() < this.#untilMs;
    if (this.#isPolling) this.#ports.afterEvents(this.#poll);
  };

  /** `forUs`: in microseconds, from 0 (not at all) to 100 000; throws `INVALID_ARGUMENT` for another number. */
  constructor(forUs: number, ports: BusyPollPorts = system) {
    if (!(forUs >= 0 && forUs <= MAX_BUSY_POLL_US)) {
      const message = `busyPollUs: give microseconds from 0 to ${MAX_BUSY_POLL_US}, not ${String(forUs)}`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'busyPollUs' });
    }
    this.#forMs = forUs / 1000;
    this.#ports = ports;
  }

  /** Polls from now on for the whole time. */
  extend(): void {
    if (this.#forMs === 0) return;
    this.#untilMs = this.#ports.now() + this.#forMs;
    if (this.#isPolling) return;
    this.#isPolling = true;
    this.#ports.afterEvents(this.#poll);
  }
}
