/** A store of rows on a disk, in LevelDB. */
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { CorrectableError } from '../../../../correctable/errors.ts';
import { formatMegabytes } from '../../memory/memory-size.ts';
import { lockLostError, type Ownership } from '../disk/directory-lock.ts';
import { LevelDatabase, type LevelBatch } from './level-database.ts';
import type { EntryKey, RowBatch, RowSnapshot, RowStore, RowStores } from './row-store.ts';

/** What LevelDB may need to write its entries in order, beside those of a commit. */
const RESERVE_BYTES = 48 * 2 ** 20;

export class LevelRowStore implements RowStore {
  readonly #folder: string;
  readonly #database: LevelDatabase;
  #isClosed = false;

  private constructor(folder: string, database: LevelDatabase) {
    this.#folder = folder;
    this.#database = database;
  }

  /**
   * Opens the store in the folder, which is created if it does not exist. Rejects with the error of
   * the engine if that fails.
   */
  static async open(folder: string): Promise<LevelRowStore> {
    try {
      return new LevelRowStore(folder, await LevelDatabase.open(folder));
    } catch (error) {
      throw toRowStoreError(error as Error);
    }
  }

  get(key: EntryKey): Uint8Array | undefined {
    return this.#database.get(key);
  }

  /** Each change is copied out of the heap. */
  createBatch(): RowBatch {
    const batch = this.#database.createBatch();
    let bytes = 0;
    return {
      put: (key, value) => {
        bytes += key.length + value.length;
        batch.put(key, value);
      },
      remove: (key) => {
        bytes += key.length;
        batch.del(key);
      },
      commit: (done) => this.#end(this.#write(batch, bytes), done),
      discard: () => batch.close(),
    };
  }

  openSnapshot(): RowSnapshot {
    return this.#database.openSnapshot();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#database.close();
  }

  #end(written: Promise<void>, done: (error: Error | undefined) => void): void {
    written.then(
      () => {
        if (!this.#isClosed) done(undefined);
      },
      (error: Error) => {
        if (!this.#isClosed) done(toRowStoreError(error));
      },
    );
  }

  async #write(batch: LevelBatch, bytes: number): Promise<void> {
    try {
      await this.#checkRoom(bytes);
    } catch (error) {
      batch.close();
      throw error;
    }
    await batch.write();
  }

  /**
   * After an error in its log, LevelDB refuses all writes until it is opened again, and on a full
   * disk it cannot be opened. So room is checked before it writes.
   */
  async #checkRoom(batchBytes: number): Promise<void> {
    const neededBytes = RESERVE_BYTES + batchBytes;
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize >= neededBytes) return;
    const message = `ENOSPC: the rows need ${formatMegabytes(neededBytes)} of free space on the disk`;
    throw Object.assign(new Error(message), { code: 'ENOSPC' });
  }
}

/** Errors of the engine have what the system said in their text. */
function toRowStoreError(error: Error): Error {
  if (error instanceof CorrectableError) return error;
  const reason = error.cause instanceof Error ? error.cause : error;
  if (!NO_SPACE.test(reason.message)) return reason;
  return Object.assign(new Error(reason.message, { cause: error }), { code: 'ENOSPC' });
}

const NO_SPACE = /No space left on device|Disk quota exceeded/;

/** The stores in the folders of a directory that this process owns. */
export class LevelRowStores implements RowStores {
  readonly #root: string;
  readonly #lock: Ownership;

  constructor(root: string, lock: Ownership) {
    this.#root = root;
    this.#lock = lock;
  }

  open(folder: string, done: (error: Error | undefined, store?: RowStore) => void): void {
    LevelRowStore.open(join(this.#root, folder)).then(
      (store) => done(undefined, fenceRows(store, this.#lock)),
      (error: Error) => done(error),
    );
  }

  remove(folder: string, done: (error: Error | undefined) => void): void {
    rm(join(this.#root, folder), { recursive: true, force: true }).then(
      () => done(undefined),
      (error: Error) => done(error),
    );
  }
}

/** Commits nothing once another process has the directory. */
function fenceRows(store: RowStore, lock: Ownership): RowStore {
  return {
    get: (key) => store.get(key),
    createBatch: () => fenceBatch(store.createBatch(), lock),
    openSnapshot: () => store.openSnapshot(),
    close: () => store.close(),
  };
}

function fenceBatch(batch: RowBatch, lock: Ownership): RowBatch {
  return {
    put: (key, value) => batch.put(key, value),
    remove: (key) => batch.remove(key),
    commit: (done) => {
      const check = (error: Error | undefined): void =>
        done(error ?? (lock.isHeld() ? undefined : lockLostError()));
      if (lock.isHeld()) return batch.commit(check);
      batch.discard();
      setImmediate(() => check(undefined));
    },
    discard: () => batch.discard(),
  };
}
