/**
 * Writes that may be in flight together, and count in the order in which they
 * were begun.
 */
import { isNoSpace, type SyncedFile, type Timing } from './files.ts';

/** How long after a refusal for lack of room the disk is tried again. */
export const FULL_RETRY_MS = 1000;

export interface OrderedWritesOptions {
  readonly timing: Timing;
  /**
   * There is no room for a write, although its place is there, as on some file
   * systems. It is tried again.
   */
  onNoSpace(error: Error): void;
  /** A write failed for another reason: nothing counts any more. */
  onFailed(error: Error): void;
}

export interface LogWrite {
  readonly file: SyncedFile;
  readonly bytes: Uint8Array;
  readonly position: number;
  readonly mayBlock?: boolean;
}

interface BegunWrite extends LogWrite {
  readonly done: () => void;
  isDone: boolean;
}

export class OrderedWrites {
  readonly #options: OrderedWritesOptions;
  readonly #writes: BegunWrite[] = [];
  #atDisk = 0;
  #isOver = false;

  constructor(options: OrderedWritesOptions) {
    this.#options = options;
  }

  /** Writes that do not count yet. */
  get size(): number {
    return this.#writes.length;
  }

  /**
   * Whether the disk has any of them in hand; else they wait for room on it.
   */
  get isAtDisk(): boolean {
    return this.#atDisk > 0;
  }

  /**
   * Begins a write; `done` is called once it is on the disk and so are all that
   * were begun before.
   */
  begin(write: LogWrite, done: () => void): void {
    const begun: BegunWrite = { ...write, done, isDone: false };
    this.#writes.push(begun);
    this.#write(begun);
  }

  /** Nothing counts from now on. */
  end(): void {
    this.#isOver = true;
  }

  #write(write: BegunWrite): void {
    this.#atDisk += 1;
    const ended = (error: Error | undefined): void => {
      this.#atDisk -= 1;
      if (this.#isOver) return;
      if (error === undefined) this.#onWritten(write);
      else if (isNoSpace(error)) this.#onNoSpace(write, error);
      else this.#options.onFailed(error);
    };
    write.file.write(write.bytes, write.position, ended, write.mayBlock);
  }

  #onWritten(write: BegunWrite): void {
    write.isDone = true;
    while (this.isNextSynced(this.#writes)) this.#writes.shift()?.done();
  }

  /** Whether the first of the writes that do not count yet does so now. */
  protected isNextSynced([first]: readonly {
    readonly isDone: boolean;
  }[]): boolean {
    return first?.isDone === true && !this.#isOver;
  }

  /** The same is written again at the same place. */
  #onNoSpace(write: BegunWrite, error: Error): void {
    this.#options.onNoSpace(error);
    this.#options.timing.afterMs(FULL_RETRY_MS, () => {
      if (!this.#isOver) this.#write(write);
    });
  }
}
