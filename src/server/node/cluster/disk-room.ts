/**
 * Runs writes of a node other than those to its logs. If the disk is full, it raises an alarm and
 * retries.
 */
import type { OnAlarm } from '../alarms/site-alarm.ts';
import { isNoSpace } from '../storage/disk/files.ts';

export interface DiskRoomOptions {
  readonly site: string;
  readonly onAlarm: OnAlarm;
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** Default: 1000 */
  readonly retryAfterMs?: number;
}

const RETRY_AFTER_MS = 1000;

export class DiskRoom {
  readonly #options: DiskRoomOptions;
  #problem: string | undefined;

  constructor(options: DiskRoomOptions) {
    this.#options = options;
  }

  /**
   * The error of the last write that failed because the disk is full; `undefined` if there is
   * space.
   */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Runs a step that writes, and raises an alarm if the disk is full. Rethrows its error. */
  write<T>(step: () => T): T {
    try {
      const result = step();
      this.#onRoom();
      return result;
    } catch (error) {
      if (isFullDisk(error)) this.#onFull(error);
      throw error;
    }
  }

  /**
   * Repeats a step until it succeeds, as long as it fails because the disk is full. Rejects with
   * any other error.
   */
  async repeat<T>(step: () => T | Promise<T>): Promise<T> {
    const { signal, retryAfterMs = RETRY_AFTER_MS } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const result = await step();
        this.#onRoom();
        return result;
      } catch (error) {
        if (!isFullDisk(error)) throw error;
        this.#onFull(error);
      }
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  }

  #onFull({ message: cause }: Error): void {
    const isKnown = this.#problem !== undefined;
    this.#problem = `waiting for room on the disk: ${cause}`;
    if (isKnown) return;
    const { site, onAlarm } = this.#options;
    const message = `Site ${site}: there is no room on the disk for what it has to write down: ${cause} Nothing is lost. It goes on once there is room.`;
    onAlarm({ kind: 'disk-full', site, message });
  }

  #onRoom(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    const { site, onAlarm } = this.#options;
    const message = `Site ${site}: there is room on the disk again, and it has written down what it had to.`;
    onAlarm({ kind: 'disk-has-room', site, message });
  }
}

/** Returns whether the error or its cause reports a full disk. */
function isFullDisk(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return isNoSpace(error) || (error.cause instanceof Error && isNoSpace(error.cause));
}
