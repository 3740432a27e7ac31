/**
 * `correctables/bindings/cache/node`: cached views in a directory. Needs the package
 * `classic-level`.
 */
import { mkdir, realpath } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { ClassicLevel } from 'classic-level';
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkRecord, isNonEmptyString, isRecord } from '../../correctable/validate.ts';
import {
  StoreSubscribers,
  type CacheChange,
  type CacheEntry,
  type CacheStore,
  type Transact,
} from './cache-store.ts';

/** Options of `directoryStore`. */
export interface DirectoryStoreOptions {
  /**
   * The directory, created if missing. Only one store on the machine can have it open at a time.
   */
  readonly directory: string;
}

const CALL = "directoryStore({ directory: './cache' })";

/**
 * Creates a store that keeps a cache in a directory, unencrypted. Writes are not synced to disk:
 * views that a power failure loses become misses. If several caches use the directory at a time,
 * pass the same store object to all. While one of them is open, any other store on the directory
 * fails with `UNAVAILABLE`, also in another process. Its cache then continues in memory. The
 * operating system releases the lock of a killed process. A directory that a power failure has
 * damaged is repaired, with a warning.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the directory is missing
 * @example const binding = cached(remote({ url, levels }), { store: directoryStore({ directory:
 * './cache' }) });
 */
export function directoryStore(options: DirectoryStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { directory } = options;
  check(isNonEmptyString(directory), 'directory', `must be the path of a directory: write ${CALL}`);
  const neighbors = new StoreSubscribers();
  let opened: Database | undefined;
  let isBroken = false;
  const close = async (): Promise<void> => {
    await opened?.close();
    opened = undefined;
    isBroken = false;
  };
  // A transaction is to find what the one before has written.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = turn.then(act);
    turn = done.catch(() => {});
    return done;
  };
  const run = <T>(act: (database: Database, watch: CallWatcher) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      // After a failed write LevelDB acknowledges writes that it cannot read again
      // (google/leveldb#924).
      if (isBroken) await close();
      opened ??= await openDatabase(directory);
      return act(opened, async (call) => {
        try {
          return await call;
        } catch (error) {
          isBroken = true;
          throw error;
        }
      });
    });
  return {
    load: () => run(readEntries),
    write: (changes, settle) =>
      run((database, watch) => writeChanges(database, watch, changes, settle)),
    subscribe: (hear) => neighbors.subscribe(hear),
    // If another cache still used it, the directory might belong to another process before that
    // cache needs it again.
    close: () => inTurn(async () => (neighbors.count > 0 ? undefined : close())),
  };
}

/** Takes note if a call of the database fails. */
type CallWatcher = <T>(call: Promise<T>) => Promise<T>;
type Database = ClassicLevel<string, Uint8Array>;

async function openDatabase(directory: string): Promise<Database> {
  await mkdir(directory, { recursive: true });
  // One process may open what it has open already by another name for it, and then both write.
  const location = await realpath(directory);
  try {
    return await openAt(location);
  } catch (error) {
    const cause = error instanceof Error && isRecord(error.cause) ? error.cause : {};
    if (cause['code'] === 'LEVEL_CORRUPTION') return repairAt(location, cause);
    if (cause['code'] !== 'LEVEL_LOCKED') throw error;
    const fix = 'close that one first, or give its caches and this one the same store';
    const message = `cache: another store, of this process or another, has ${directory} open: ${fix}`;
    throw new CorrectableError('UNAVAILABLE', message, { field: 'directory', cause: error });
  }
}

async function openAt(location: string): Promise<Database> {
  const database: Database = new ClassicLevel(location, { valueEncoding: 'view' });
  await database.open();
  return database;
}

/**
 * A power failure may damage the files that say what is in the others. What can still be read is
 * kept.
 */
async function repairAt(location: string, cause: object): Promise<Database> {
  process.emitWarning(`cache: repairs ${location}: ${String(cause)}`);
  await ClassicLevel.repair(location);
  return openAt(location);
}

/**
 * A value that cannot be written, such as a Blob, keeps all others from being written: the caller
 * leaves it out.
 */
async function writeChanges(
  database: Database,
  watch: CallWatcher,
  changes: readonly CacheChange[],
  settle: Transact | undefined,
): Promise<void> {
  const ids = changes.map(([id]) => id);
  const written =
    settle === undefined
      ? changes
      : settle(decodeFound(database, ids, await watch(database.getMany(ids))));
  const toOperation = ([key, entry]: CacheChange) =>
    entry === undefined
      ? { type: 'del' as const, key }
      : { type: 'put' as const, key, value: serialize(entry) };
  await watch(database.batch(written.map(toOperation)));
}

function decodeFound(
  database: Database,
  ids: readonly string[],
  stored: readonly (Uint8Array | undefined)[],
): Map<string, CacheEntry> {
  const found = new Map<string, CacheEntry>();
  for (const [at, bytes] of stored.entries()) {
    const entry = bytes && decodeEntry(bytes, database);
    if (entry !== undefined) found.set(ids[at] as string, entry);
  }
  return found;
}

/** Everything that can be read; what cannot is a miss and leaves the directory. */
async function readEntries(
  database: Database,
  watch: CallWatcher,
): Promise<[string, CacheEntry][]> {
  const entries: [string, CacheEntry][] = [];
  const unreadable: string[] = [];
  for (const [id, bytes] of await watch(database.iterator().all())) {
    const entry = decodeEntry(bytes, database);
    if (entry === undefined) unreadable.push(id);
    else entries.push([id, entry]);
  }
  await watch(database.batch(unreadable.map((key) => ({ type: 'del' as const, key }))));
  return entries;
}

/** `undefined` for what cannot be read, damaged or of a newer format. */
function decodeEntry(bytes: Uint8Array, { location }: Database): CacheEntry | undefined {
  try {
    return deserialize(bytes) as CacheEntry;
  } catch (error) {
    process.emitWarning(
      `cache: dropped a view that cannot be read in ${location}: ${String(error)}`,
    );
    return undefined;
  }
}
