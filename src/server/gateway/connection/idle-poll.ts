/**
 * Keeps the thread awake for a moment after it has answered: what clients ask next, and the end of a write to the log,
 * are then taken at once, where a thread that sleeps has to be woken, which takes longer than most operations.
 */
import { CorrectableError } from '../../../correctable/errors.ts';

/** Polling for longer than this is a mistake in the unit. */
export const IDLE_POLL_US_MAX = 100_000;

/** Where the time comes from, and how to look for events once and go on. */
export interface IdlePollPorts {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls `then` after the events that have come, without waiting for more. */
  afterEvents(then: () => void): void;
}

const system: IdlePollPorts = { now: () => performance.now(), afterEvents: (then) => void setImmediate(then) };

/** Looks for events again and again, as long as it was asked to not so long ago. */
export class IdlePoll {
  readonly #forMs: number;
  readonly #ports: IdlePollPorts;
  #untilMs = 0;
  #isPolling = false;
  readonly #poll = (): void => {
    this.#isPolling = this.#ports.now() < this.#untilMs;
    if (this.#isPolling) this.#ports.afterEvents(this.#poll);
  };

  /**
   * @param forUs how long to poll, in microseconds, from 0 (not at all) to 100 000
   * @throws CorrectableError `INVALID_ARGUMENT` for another number
   */
  constructor(forUs: number, ports: IdlePollPorts = system) {
    if (!(forUs >= 0 && forUs <= IDLE_POLL_US_MAX)) {
      const message = `idlePollUs: give microseconds from 0 to ${IDLE_POLL_US_MAX}, not ${String(forUs)}`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'idlePollUs' });
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
