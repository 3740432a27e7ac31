/**
 * Notices that a connection leads to a server that is gone, long before TCP does.
 *
 * TCP reports a peer that has disappeared without a word after 15 minutes. Until then such a
 * connection looks like one with a slow statement. Only a question on another connection, whose
 * name is looked up again, tells them apart.
 */
import { systemClock, type Clock } from '../../../correctable/clock.ts';
import { startTimer } from './time-limit.ts';

/** A connection was lost, although its server works: a new one leads to it. */
export class LostConnectionError extends Error {}

export interface AnswerWatchOptions {
  /** How long the call may be unanswered until it is checked. */
  readonly silenceMs: number;
  /**
   * Returns how much the connection has received, so that a long answer does not count as silence.
   * Default: unknown
   */
  readonly countReceived?: (() => number | undefined) | undefined;
  /**
   * Asks on another connection whether the answer may still come. Rejects if the server does not
   * answer there either.
   */
  readonly mayStillAnswer: () => Promise<boolean>;
  /** Closes the connection of the call, which then fails. */
  readonly giveUp: (reason: Error) => void;
  readonly clock?: Clock | undefined;
}

/** A statement that is known to be slow is checked again at least as often. */
const MAX_INTERVAL_MS = 10_000;

/**
 * Watches a call until the returned function is called. If the call is silent and `mayStillAnswer`
 * denies or rejects, `giveUp` is called once.
 */
export function watchAnswer(options: AnswerWatchOptions): () => void {
  const watch = new AnswerWatch(options);
  return () => watch.stop();
}

class AnswerWatch {
  readonly #options: AnswerWatchOptions;
  readonly #clock: Clock;
  #stopTimer: () => void = () => {};
  #isStopped = false;
  #received: number | undefined;

  constructor(options: AnswerWatchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#received = options.countReceived?.();
    this.#checkIn(options.silenceMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  #checkIn(delayMs: number): void {
    const check = (): void => void this.#check(delayMs);
    this.#stopTimer = startTimer(this.#clock, delayMs, check);
  }

  async #check(silenceMs: number): Promise<void> {
    if (this.#notesProgress()) return this.#checkIn(silenceMs);
    const verdict = await this.#judge();
    if (this.#isStopped) return;
    // The answer has come meanwhile, or a part of it.
    if (this.#notesProgress()) return this.#checkIn(silenceMs);
    if (verdict === undefined) return this.#checkIn(Math.min(MAX_INTERVAL_MS, 2 * silenceMs));
    this.stop();
    this.#options.giveUp(verdict);
  }

  /** Returns whether something was received since the last call. */
  #notesProgress(): boolean {
    const before = this.#received;
    this.#received = this.#options.countReceived?.();
    return this.#received !== before;
  }

  /** @returns why the answer will not come; `undefined` if it still may */
  async #judge(): Promise<Error | undefined> {
    const { mayStillAnswer, silenceMs } = this.#options;
    try {
      if (await mayStillAnswer()) return undefined;
      return new LostConnectionError(
        `the connection has given no answer for more than ${silenceMs} ms, and a new one works: it was lost`,
      );
    } catch (cause) {
      return new Error(`no answer for more than ${silenceMs} ms, nor on a new connection`, {
        cause,
      });
    }
  }
}
