/**
 * Sends commands to the cache. No operation waits for it longer than `timeoutMs`. A cache that
 * fails or does not answer is left alone for a while, so that it delays nothing.
 */
import type { Clock, Timer } from '../../../correctable/clock.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { ServerSelection } from '../../shared/server-selection.ts';

type CacheAction = CacheAsideFailure['action'];

/** The command that failed, for `onError`. */
export interface CacheAsideFailure {
  readonly action: 'get' | 'set' | 'delete';
  readonly key: string;
}

export interface CacheLinkOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Called with the first failure of each pause. */
  readonly onError: (error: unknown, failure: CacheAsideFailure) => void;
}

const NAME = 'cache';

/** The maximum number of commands that wait for an answer of the cache. */
const MAX_UNANSWERED = 1_000;

export class CacheLink {
  readonly #options: CacheLinkOptions;
  readonly #selection: ServerSelection;
  #unanswered = 0;

  constructor(options: CacheLinkOptions) {
    this.#options = options;
    this.#selection = new ServerSelection({
      names: [NAME],
      clock: options.clock,
    });
  }

  /** Whether the cache did not fail lately. */
  get isUsable(): boolean {
    return this.hasRoom && this.#selection.getCandidates().length > 0;
  }

  /** Whether the cache has failed and not answered since. No operation waits for it then. */
  get isOnTrial(): boolean {
    return this.#selection.latestError !== undefined;
  }

  /** Whether another command may be sent: not too many wait for an answer. */
  get hasRoom(): boolean {
    return this.#unanswered < MAX_UNANSWERED;
  }

  /**
   * Sends a command at once. Resolves with its answer; with `undefined` if it fails, or after
   * `timeoutMs`. Never rejects.
   */
  async ask<T>(
    action: CacheAction,
    key: string,
    command: () => T | PromiseLike<T>,
  ): Promise<T | undefined> {
    const { clock, timeoutMs } = this.#options;
    let timer: Timer | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const giveUp = (): void => reject(this.#createLateError());
      // After a pause of this process, the answer may be here but not read yet.
      const readOnce = (): void => void (timer = clock.setTimer(giveUp, 0));
      timer = clock.setTimer(readOnce, timeoutMs);
    });
    try {
      const answer = await Promise.race([this.#count(command), late]);
      this.#selection.noteSuccess(NAME);
      return answer;
    } catch (error) {
      this.#noteFailure(error, action, key);
      return undefined;
    } finally {
      timer?.cancel();
    }
  }

  async #count<T>(command: () => T | PromiseLike<T>): Promise<T> {
    this.#unanswered += 1;
    try {
      return await command();
    } finally {
      this.#unanswered -= 1;
    }
  }

  /** Commands that were in flight together fail together. */
  #noteFailure(error: unknown, action: CacheAction, key: string): void {
    const isFirst = this.#selection.getCandidates().length > 0;
    this.#selection.noteFailure(NAME, error);
    if (isFirst) this.#options.onError(error, { action, key });
  }

  #createLateError(): CorrectableError {
    const { timeoutMs } = this.#options;
    const message = `cacheAside: the cache has not answered within ${timeoutMs} ms. It is left alone for a while.`;
    return new CorrectableError('TIMEOUT', message);
  }
}
