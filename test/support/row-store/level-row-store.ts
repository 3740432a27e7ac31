/** A store of rows on a disk, in LevelDB. */
import { ClassicLevel } from 'classic-level';
import type { EntryKey, RowBatch, RowSnapshot, RowStore } from './row-store.ts';

type Database = ClassicLevel<Uint8Array, Uint8Array>;
type ChainedBatch = ReturnType<Database['batch']>;

const BYTES = { keyEncoding: 'view', valueEncoding: 'view' } as const;
/** Handing over so many entries takes about a millisecond. */
const ENTRIES_PER_TURN = 500;

export class LevelRowStore implements RowStore {
  readonly #folder: string;
  #database: Database;
  #isClosed = false;
  /**
   * After an error in its log, LevelDB refuses all writes until it is opened again, and goes on with
   * reads. It cannot be opened on a full disk, so the next commit does that.
   */
  #hasFailed = false;

  private constructor(folder: string, database: Database) {
    this.#folder = folder;
    this.#database = database;
  }

  /** Opens the store in the folder, which is created if it does not exist. */
  static async open(folder: string): Promise<LevelRowStore> {
    return new LevelRowStore(folder, await openDatabase(folder));
  }

  get(key: EntryKey): Uint8Array | undefined {
    return this.#database.getSync(key);
  }

  commit(batch: RowBatch, done: (error: Error | undefined) => void): void {
    this.#write(batch).then(
      () => {
        if (!this.#isClosed) done(undefined);
      },
      (error: Error) => {
        this.#hasFailed = true;
        if (!this.#isClosed) done(error);
      },
    );
  }

  openSnapshot(): RowSnapshot {
    const database = this.#database;
    const snapshot = database.snapshot();
    return {
      get: (key) => database.getSync(key, { ...BYTES, snapshot }),
      close: () => void snapshot.close(),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#database.close();
  }

  /** Hands the batch over in several turns, since each entry is copied. */
  async #write({ puts, removals }: RowBatch): Promise<void> {
    if (this.#hasFailed) await this.#reopen();
    const batch = this.#database.batch();
    await inTurns(puts, ([key, value]) => batch.put(key, value));
    await inTurns(removals, (key) => batch.del(key));
    await batch.write({ sync: true });
  }

  async #reopen(): Promise<void> {
    await this.#database.close();
    this.#database = await openDatabase(this.#folder);
    this.#hasFailed = false;
  }
}

async function openDatabase(folder: string): Promise<Database> {
  const database = new ClassicLevel<Uint8Array, Uint8Array>(folder, BYTES);
  await database.open();
  return database;
}

async function inTurns<T>(items: readonly T[], run: (item: T) => ChainedBatch): Promise<void> {
  for (const [at, item] of items.entries()) {
    run(item);
    if (at % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await new Promise(setImmediate);
  }
}
