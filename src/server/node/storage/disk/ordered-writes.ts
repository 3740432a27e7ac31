/** Writes that may be in flight together. They count in the order in which they began. */
import { isNoSpace, type SyncedFile, type Timing } from './files.ts';

/** How long to wait after a write failed for want of room, before it is retried. */
export const FULL_RETRY_MS = 1000;

export interface OrderedWritesOptions {
  readonly timing: Timing;
  /**
   * A write found no room, although its part of the file exists, as on some file systems. It is
   * retried.
   */
  onNoSpace(error: Error): void;
  /** A write failed for another reason. No later write counts. */
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

  /** The number of writes that do not count yet. */
  get size(): number {
    return this.#writes.length;
  }

  /** Whether the disk is working on any of them. Otherwise they wait for room. */
  get isAtDisk(): boolean {
    return this.#atDisk > 0;
  }

  /** Begins a write. Calls `done` once it and all earlier writes are on the disk. */
  begin(write: LogWrite, done: () => void): void {
    const begun: BegunWrite = { ...write, done, isDone: false };
    this.#writes.push(begun);
    this.#write(begun);
  }

  /** From now on no write counts. */
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

  /** Whether the first write that does not count yet counts now. */
  isNextSynced([first]: readonly {
    readonly isDone: boolean;
  }[]): boolean {
    return first?.isDone === true && !this.#isOver;
  }

  /** Repeats the same write at the same position. */
  #onNoSpace(write: BegunWrite, error: Error): void {
    this.#options.onNoSpace(error);
    this.#options.timing.afterMs(FULL_RETRY_MS, () => {
      if (!this.#isOver) this.#write(write);
    });
  }
}
