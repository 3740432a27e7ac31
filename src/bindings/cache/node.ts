/**
 * `correctables/bindings/cache/node`: cached views that outlive a Node process, in a directory. Needs the package
 * `classic-level`.
 */
import { mkdir, realpath } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { ClassicLevel } from 'classic-level';
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkRecord, isName, isRecord } from '../../correctable/given.ts';
import { Neighbours, type CacheChange, type CacheEntry, type CacheStore, type Settle } from './store.ts';

/** What `directoryStore` is made from. */
export interface DirectoryStoreOptions {
  /** The directory, made where it is missing. One store at a time can have it open, of all on the machine. */
  readonly directory: string;
}

const CALL = "directoryStore({ directory: './cache' })";

/**
 * Keeps a cache in a directory, unencrypted. Writes are not synced: what a power cut takes is a miss. Several caches may use
 * it at a time: give each the one object. As long as one of them is open, another store on the directory, in this process or
 * in another, is refused: its cache is told `UNAVAILABLE`, and goes on in memory. The operating system keeps the lock: that
 * of a process that was killed is gone with it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where the directory is missing
 * @example
 * const binding = cached(remote({ url, levels }), { store: directoryStore({ directory: './cache' }) });
 */
export function directoryStore(options: DirectoryStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { directory } = options;
  check(isName(directory), 'directory', `must be the path of a directory: write ${CALL}`);
  const neighbours = new Neighbours();
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
  const run: Run = (act) =>
    inTurn(async () => {
      // After a failed write LevelDB acknowledges writes that it cannot read again (google/leveldb#924).
      if (isBroken) await close();
      opened ??= await open(directory);
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
    load: () => run(loadAll),
    write: (changes, settle) => run((database, watch) => write(database, watch, changes, settle)),
    connect: (hear) => neighbours.connect(hear),
    // Closed under another cache, the directory might be somebody else's before that needs it again.
    close: () => inTurn(async () => (neighbours.count > 0 ? undefined : close())),
  };
}

/** Takes note if a call of the database fails. */
type Watch = <T>(call: Promise<T>) => Promise<T>;
type Run = <T>(act: (database: Database, watch: Watch) => Promise<T>) => Promise<T>;
type Database = ClassicLevel<string, Uint8Array>;
type Put = { readonly type: 'put'; readonly key: string; readonly value: Uint8Array };
type Operation = Put | { readonly type: 'del'; readonly key: string };

async function open(directory: string): Promise<Database> {
  await mkdir(directory, { recursive: true });
  // One process may open what it has open already by another name for it, and then both write.
  const database: Database = new ClassicLevel(await realpath(directory), { valueEncoding: 'view' });
  try {
    await database.open();
    return database;
  } catch (error) {
    throw isLocked(error) ? inUse(directory, error) : error;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && isRecord(error.cause) && error.cause['code'] === 'LEVEL_LOCKED';
}

function inUse(directory: string, cause: unknown): CorrectableError {
  const fix = 'close that one first, or give its caches and this one the same store';
  const message = `cache: another store, of this process or another, has ${directory} open: ${fix}`;
  return new CorrectableError('UNAVAILABLE', message, { field: 'directory', cause });
}

/** What cannot be written, a Blob for example, keeps all else from being written: whoever calls leaves it out. */
async function write(
  database: Database,
  watch: Watch,
  changes: readonly CacheChange[],
  settle: Settle | undefined,
): Promise<void> {
  const ids = changes.map(([id]) => id);
  const written = settle === undefined ? changes : settle(findAll(database, ids, await watch(database.getMany(ids))));
  await watch(database.batch(written.map(operationOf)));
}

function operationOf([key, entry]: CacheChange): Operation {
  return entry === undefined ? { type: 'del', key } : { type: 'put', key, value: serialize(entry) };
}

function findAll(
  database: Database,
  ids: readonly string[],
  stored: readonly (Uint8Array | undefined)[],
): Map<string, CacheEntry> {
  const found = new Map<string, CacheEntry>();
  for (const [at, bytes] of stored.entries()) {
    const entry = bytes && entryOf(bytes, database);
    if (entry !== undefined) found.set(ids[at] as string, entry);
  }
  return found;
}

/** Everything that can be read; what cannot is a miss and leaves the directory. */
async function loadAll(database: Database, watch: Watch): Promise<[string, CacheEntry][]> {
  const entries: [string, CacheEntry][] = [];
  const unreadable: string[] = [];
  for (const [id, bytes] of await watch(database.iterator().all())) {
    const entry = entryOf(bytes, database);
    if (entry === undefined) unreadable.push(id);
    else entries.push([id, entry]);
  }
  await watch(database.batch(unreadable.map((key) => ({ type: 'del' as const, key }))));
  return entries;
}

/** `undefined` for what cannot be read, damaged or of a newer format. */
function entryOf(bytes: Uint8Array, { location }: Database): CacheEntry | undefined {
  try {
    return deserialize(bytes) as CacheEntry;
  } catch (error) {
    process.emitWarning(`cache: dropped a view that cannot be read in ${location}: ${String(error)}`);
    return undefined;
  }
}
