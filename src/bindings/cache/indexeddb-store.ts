/** Cached views that outlive a page, in the browser's IndexedDB. */
import { deleteDB, openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from 'idb';
import { systemClock } from '../../correctable/clock.ts';
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkRecord, isNonEmptyString } from '../../correctable/validate.ts';
import type {
  CacheChange,
  CacheEntry,
  CacheStore,
  CacheSubscription,
  Transact,
  WriteOptions,
} from './cache-store.ts';

/** Options of `indexedDbStore`. */
export interface IndexedDbStoreOptions {
  /**
   * The name of the cache, one for each cache of the site. Its database is `correctables cache`
   * followed by that name, so that no other database of the page is touched.
   */
  readonly name: string;
}

interface DatabaseSchema extends DBSchema {
  views: { key: string; value: CacheEntry };
}

const CALL = "indexedDbStore({ name: 'shop' })";

const VERSION = 1;

/**
 * The time limit of a call. After it, the connection is dropped, because some browsers never
 * answer.
 */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Errors of a lost connection or transaction. Other errors are about a value, the disk space or a
 * permission.
 */
const LOST_CONNECTION_ERRORS: ReadonlySet<unknown> = new Set([
  'AbortError',
  'InvalidStateError',
  'NotReadableError',
  'TimeoutError',
  'TransactionInactiveError',
  'UnknownError',
]);

/**
 * Errors of a value that the browser has lost, for example because the browser stores large values
 * in separate files, and a file is missing.
 */
const UNREADABLE_VALUE_ERRORS: ReadonlySet<unknown> = new Set(['DataError', 'NotReadableError']);

type Database = IDBPDatabase<DatabaseSchema>;
type Mode = 'readonly' | 'readwrite';
type TransactionCallback<T, M extends Mode> = (
  transaction: IDBPTransaction<DatabaseSchema, ['views'], M>,
) => Promise<T>;
type RunArguments<T, M extends Mode> = [
  mode: M,
  act: TransactionCallback<T, M>,
  durability?: IDBTransactionDurability,
];

/**
 * Creates a store that keeps a cache in IndexedDB, unencrypted. Pages of one site may share a
 * database. Each reads it at opening, and notifies the others by a `BroadcastChannel` of its name.
 * No page replaces newer entries with older ones.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the name is missing
 * @example
 * const binding = cached(redblue(shop, { url }), {
 *   store: indexedDbStore({ name: 'shop' }),
 *   principal: user.id,
 * });
 */
export function indexedDbStore(options: IndexedDbStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { name } = options;
  check(isNonEmptyString(name), 'name', `must be the name of the cache: write ${CALL}`);
  const store = new IndexedDbStore(`correctables cache ${name}`);
  // Return a plain object of functions, so that the store still works if a program spreads it, or a
  // framework wraps it in a proxy.
  return {
    load: () => store.load(),
    write: (changes, settle, how) => store.write(changes, settle, how),
    subscribe: (onNotice) => store.subscribe(onNotice),
    close: () => store.close(),
  };
}

class IndexedDbStore {
  readonly #databaseName: string;
  #opening: Promise<Database> | undefined;

  constructor(databaseName: string) {
    this.#databaseName = databaseName;
  }

  load(): Promise<(readonly [id: string, entry: CacheEntry])[]> {
    return this.#run('readonly', async ({ store }) => {
      // The functions are asynchronous: if one throws, the rejection of the other must still be
      // handled.
      const getEntries = async (): Promise<CacheEntry[]> => store.getAll();
      const [entries, ids] = await Promise.all([getEntries(), store.getAllKeys()]);
      return ids.map((id, index) => [id, entries[index] as CacheEntry] as const);
    });
  }

  write(
    changes: readonly CacheChange[],
    settle?: Transact,
    { isDurable = false }: WriteOptions = {},
  ): Promise<void> {
    const act: TransactionCallback<void, 'readwrite'> = async ({ store, done }) => {
      const found = new Map<string, CacheEntry>();
      const find = async (id: string): Promise<void> => {
        const entry = await store.get(id);
        if (entry !== undefined) found.set(id, entry);
      };
      await Promise.all(changes.map(([id]) => find(id)));
      // Call `settle` in the same turn of the event loop as the last reply. After that turn, the
      // transaction would end.
      const written = settle?.(found) ?? changes;
      // The function is asynchronous: if one request throws, the others must still be awaited and
      // their rejections handled.
      const request = async ([id, entry]: CacheChange): Promise<unknown> =>
        entry === undefined ? store.delete(id) : store.put(entry, id);
      await Promise.all([...written.map(request), done]);
    };
    return this.#run('readwrite', act, isDurable ? 'strict' : 'relaxed');
  }

  subscribe(onNotice: (notice: unknown) => void): CacheSubscription {
    if (typeof BroadcastChannel === 'undefined') return { publish: () => {}, close: () => {} };
    const channel = new BroadcastChannel(this.#databaseName);
    channel.addEventListener('message', ({ data }) => onNotice(data));
    return {
      // A BroadcastChannel stays within one origin, and its `postMessage` takes no other.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      publish: (notice) => channel.postMessage(notice),
      close: () => channel.close(),
    };
  }

  async close(): Promise<void> {
    await this.#drop(this.#opening);
  }

  async #run<T, M extends Mode>(...call: RunArguments<T, M>): Promise<T> {
    try {
      return await this.#runTwice(...call);
    } catch (error) {
      // Skip a lost value. Otherwise one such value would make every read of the store fail.
      if (hasName(error, UNREADABLE_VALUE_ERRORS)) await this.#runTwice('readwrite', emptyStore);
      throw error;
    }
  }

  async #runTwice<T, M extends Mode>(...call: RunArguments<T, M>): Promise<T> {
    try {
      return await this.#runOnce(...call);
    } catch (error) {
      // Some browsers close a connection without an event.
      if (isConnectionLost(error)) return this.#runOnce(...call);
      throw error;
    }
  }

  async #runOnce<T, M extends Mode>(
    ...[mode, act, durability = 'relaxed']: RunArguments<T, M>
  ): Promise<T> {
    const connection: Promise<Database> = (this.#opening ??= openDatabase(
      this.#databaseName,
      () => void this.#drop(connection),
    ));
    // Some platforms have no `AbortSignal.timeout`.
    const limit = new AbortController();
    const timer = systemClock.setTimer(() => limit.abort(), REQUEST_TIMEOUT_MS);
    let transaction: Parameters<TransactionCallback<T, M>>[0] | undefined;
    const begin = async (): Promise<T> => {
      const database = await connection;
      // A transaction that begins late could replace entries that were written meanwhile.
      if (limit.signal.aborted) throw createTimeoutError();
      transaction = database.transaction(['views'], mode, { durability });
      transaction.done.catch(() => {});
      return act(transaction);
    };
    try {
      return await Promise.race([begin(), rejectOnAbort(limit.signal)]);
    } catch (error) {
      // If the browser aborts a transaction, each of its requests fails with AbortError, whatever
      // the cause.
      const cause = transaction?.error ?? error;
      // The transaction writes all or nothing. If a value cannot be copied, it would otherwise go
      // on without that value.
      abortTransaction(transaction);
      if (transaction === undefined || isConnectionLost(cause)) void this.#drop(connection);
      throw cause;
    } finally {
      timer.cancel();
    }
  }

  /** Closes a connection that is open or being opened. The next call opens a new connection. */
  #drop(connection: Promise<Database> | undefined): Promise<void> | undefined {
    if (this.#opening === connection) this.#opening = undefined;
    return connection?.then(
      (database) => database.close(),
      () => {},
    );
  }
}

function abortTransaction(transaction: { abort(): void } | undefined): void {
  try {
    transaction?.abort();
  } catch {
    // `abort` throws if the transaction has been aborted already.
  }
}

function isConnectionLost(error: unknown): boolean {
  // An error while opening has been wrapped already.
  const isOpening = error instanceof CorrectableError;
  return hasName(isOpening ? error.cause : error, LOST_CONNECTION_ERRORS);
}

function hasName(error: unknown, names: ReadonlySet<unknown>): boolean {
  return names.has((error as Partial<DOMException> | null)?.name);
}

function rejectOnAbort(limit: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    limit.addEventListener('abort', () => reject(createTimeoutError())),
  );
}

function createTimeoutError(): Error {
  return Object.assign(new Error(`no end within ${REQUEST_TIMEOUT_MS} ms`), {
    name: 'TimeoutError',
  });
}

const emptyStore: TransactionCallback<void, 'readwrite'> = async ({ store, done }) => {
  await Promise.all([store.clear(), done]);
};

async function openDatabase(name: string, onGone: () => void): Promise<Database> {
  const open = (): Promise<Database> =>
    openDB<DatabaseSchema>(name, VERSION, {
      upgrade: (database) => void database.createObjectStore('views'),
      // Another page deletes or upgrades the database, so this one closes its connection.
      blocking: onGone,
      terminated: onGone,
    });
  try {
    const database = await open();
    if (database.objectStoreNames.contains('views')) return database;
    // A browser that was closed while it created the database may leave it without its table.
    database.close();
    await deleteDB(name);
    return await open();
  } catch (cause) {
    const { name: code, message } = cause as Error;
    const explanation = `cannot open the database '${name}': ${code}: ${message}`;
    const advice = 'The cache continues in memory. Allow the page to store data, and reload it.';
    const details = { field: 'name', cause };
    throw new CorrectableError('UNAVAILABLE', `cache: ${explanation}. ${advice}`, details);
  }
}
