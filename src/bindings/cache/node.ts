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
  const database = async (): Promise<Database> => (opened ??= await open(directory));
  // A transaction is to find what the one before has written.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = turn.then(act);
    turn = done.catch(() => {});
    return done;
  };
  return {
    load: () => inTurn(async () => loadAll(await database())),
    write: (changes, settle) => inTurn(async () => write(await database(), changes, settle)),
    connect: (hear) => neighbours.connect(hear),
    close: () =>
      inTurn(async () => {
        // Closed under another cache, the directory might be somebody else's before that needs it again.
        if (neighbours.count > 0) return;
        const closing = opened;
        opened = undefined;
        await closing?.close();
      }),
  };
}

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
async function write(database: Database, changes: readonly CacheChange[], settle: Settle | undefined): Promise<void> {
  const ids = changes.map(([id]) => id);
  const written = settle === undefined ? changes : settle(await find(database, ids));
  await database.batch(written.map(operationOf));
}

function operationOf([key, entry]: CacheChange): Operation {
  return entry === undefined ? { type: 'del', key } : { type: 'put', key, value: serialize(entry) };
}

async function find(database: Database, ids: string[]): Promise<Map<string, CacheEntry>> {
  const found = new Map<string, CacheEntry>();
  for (const [at, bytes] of (await database.getMany(ids)).entries()) {
    const entry = bytes && entryOf(bytes, database);
    if (entry !== undefined) found.set(ids[at] as string, entry);
  }
  return found;
}

/** Everything that can be read; what cannot is a miss and leaves the directory. */
async function loadAll(database: Database): Promise<[string, CacheEntry][]> {
  const entries: [string, CacheEntry][] = [];
  const unreadable: string[] = [];
  for await (const [id, bytes] of database.iterator()) {
    const entry = entryOf(bytes, database);
    if (entry === undefined) unreadable.push(id);
    else entries.push([id, entry]);
  }
  await database.batch(unreadable.map((key) => ({ type: 'del' as const, key })));
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
