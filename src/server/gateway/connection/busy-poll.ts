/**
 * Keeps the thread awake while short messages follow each other closely: to wake it takes longer
 * than most operations.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { CorrectableError } from '../../../correctable/errors.ts';

/** Polling for longer than this is a mistake in the unit. */
export const MAX_BUSY_POLL_US = 100_000;

/** A client on the same network that waits for each answer sends the next message sooner. */
const DEFAULT_BUSY_POLL_US = 200;

/**
 * A client that waits for each answer sends short messages. Longer ones have many operations: the
 * thread has work enough then, and polling would read them in smaller pieces.
 */
const MAX_POLLED_BYTES = 256;
/**
 * So many in a row, since a client with many operations in flight also sends a short message now
 * and then.
 */
const MIN_PROMPT_MESSAGES = 4;

/**
 * What a container may use of the processors, by cgroup v2. Node counts those of the machine before
 * libuv 1.49.
 */
const QUOTA_FILE = '/sys/fs/cgroup/cpu.max';

/** Where the time comes from, and how to look for events once and go on. */
export interface BusyPollPorts {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls `then` after the events that have come, without waiting for more. */
  afterEvents(then: () => void): void;
}

const system: BusyPollPorts = {
  now: () => performance.now(),
  afterEvents: (then) => void setImmediate(then),
};

/**
 * Looks for events again and again for `forUs` after each message from or to a client, while short
 * ones come that soon.
 */
export class BusyPoll {
  readonly #forMs: number;
  readonly #ports: BusyPollPorts;
  #lastEventAtMs = -Infinity;
  /**
   * How many messages of clients in a row were short and came within the time after the last one or
   * its answer.
   */
  #promptMessages = 0;
  #isPolling = false;
  readonly #poll = (): void => {
    this.#isPolling = this.#isSoon(this.#ports.now());
    if (this.#isPolling) this.#ports.afterEvents(this.#poll);
  };

  /**
   * `forUs`: in microseconds, from 0 (not at all) to 100 000; throws `INVALID_ARGUMENT` for another
   * number.
   */
  constructor(forUs: number = defaultBusyPollUs(), ports: BusyPollPorts = system) {
    if (!(forUs >= 0 && forUs <= MAX_BUSY_POLL_US)) {
      const message = `busyPollUs: give microseconds from 0 to ${MAX_BUSY_POLL_US}, not ${String(forUs)}`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'busyPollUs' });
    }
    this.#forMs = forUs / 1000;
    this.#ports = ports;
  }

  /** To be called for each message that a client sends, with its length. */
  onMessage(bytes: number): void {
    if (this.#forMs === 0) return;
    const nowMs = this.#ports.now();
    const isPrompt = bytes <= MAX_POLLED_BYTES && this.#isSoon(nowMs);
    this.#promptMessages = isPrompt ? this.#promptMessages + 1 : 0;
    this.#lastEventAtMs = nowMs;
  }

  /** To be called for each message to a client. */
  onAnswer(): void {
    if (this.#forMs === 0) return;
    this.#lastEventAtMs = this.#ports.now();
    if (this.#promptMessages < MIN_PROMPT_MESSAGES || this.#isPolling) return;
    this.#isPolling = true;
    this.#ports.afterEvents(this.#poll);
  }

  #isSoon(nowMs: number): boolean {
    return nowMs - this.#lastEventAtMs < this.#forMs;
  }
}

/**
 * 0 with less than two processors: polling would take the one from other programs, or use up a
 * container's quota.
 */
export function defaultBusyPollUs(
  processors: number = availableParallelism(),
  quota: string = readQuota(),
): number {
  const [allowedUs = 'max', periodUs] = quota.split(' ');
  const allowed = allowedUs === 'max' ? Infinity : Number(allowedUs) / Number(periodUs);
  return Math.min(processors, allowed) >= 2 ? DEFAULT_BUSY_POLL_US : 0;
}

function readQuota(): string {
  try {
    return readFileSync(QUOTA_FILE, 'utf8');
  } catch {
    return 'max';
  }
}
