/**
 * A directory with cached views in a LevelDB database. LevelDB opens a log without its lost end and
 * reports no error, and its repair may restore replaced or removed entries. Then a client could be
 * shown views from before its own updates. So a damaged database is emptied: a missing view is
 * harmless, a replaced one is not.
 */
import { constants } from 'node:fs';
import { mkdir, open, readFile, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { ClassicLevel } from 'classic-level';
import { CorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import type { CacheChange, CacheEntry } from '../cache-store.ts';

type Database = ClassicLevel<string, Uint8Array>;

/**
 * The name of a file beside the database. It contains the number of durable writes that have ended.
 * If the count in the database is lower, the database has lost writes. The file also shows that the
 * database belongs to a cache.
 */
const COUNT_FILE = 'correctables-cache';
const COUNT_TEXT = /^correctables cache (\d{16})\n$/;

/** The prefix of all keys of a cache. A database with other keys belongs to another program. */
const FIRST_KEY = 'cache ';
const AFTER_LAST_KEY = 'cache!';

/** The key of the same count in the database. */
const COUNT_KEY = `${FIRST_KEY}count`;
const VIEW_PREFIX = `${FIRST_KEY}view `;

/**
 * The first byte of a stored entry, which names its format. The checksum follows, then the entry.
 */
const FORMAT = 1;
const CHECKSUM_END = 5;

/** Error codes of a file that is missing or truncated. */
const DAMAGED_FILE = /no such file|invalid argument|cannot find the file|end of the file/i;

type OpenDirectory = readonly [database: Database, countFile: FileHandle, count: number];

export class CacheDirectory {
  readonly #database: Database;
  readonly #countFile: FileHandle;
  #count: number;
  #isBroken = false;

  private constructor(...[database, countFile, count]: OpenDirectory) {
    this.#database = database;
    this.#countFile = countFile;
    this.#count = count;
  }

  /**
   * Opens a directory, and creates it if it is missing. Empties it if it is damaged, and warns.
   *
   * @throws CorrectableError `UNAVAILABLE` if the directory is in use or cannot be opened,
   * `INVALID_ARGUMENT` if another program keeps its data there
   */
  static async open(directory: string): Promise<CacheDirectory> {
    try {
      await mkdir(directory, { recursive: true });
      // A process may open a directory twice by different names, and then both would write.
      const location = await realpath(directory);
      return new CacheDirectory(...(await openLocation(location)));
    } catch (error) {
      throw toDirectoryError(directory, error);
    }
  }

  /**
   * Whether a call of the database has failed. From then on it may acknowledge writes that it
   * loses.
   */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Closes the directory, removes its content, and opens it again. */
  async empty(cause: unknown): Promise<CacheDirectory> {
    const { location } = this.#database;
    await this.close().catch(() => {});
    try {
      const database = await emptyDatabase(location, cause, this.#count);
      return new CacheDirectory(database, await openCountFile(location, this.#count), this.#count);
    } catch (error) {
      throw toDirectoryError(location, error);
    }
  }

  /** Returns all readable entries. Unreadable ones are misses, and are removed. */
  async readEntries(): Promise<[string, CacheEntry][]> {
    const entries: [string, CacheEntry][] = [];
    const unreadable: string[] = [];
    for (const [key, bytes] of await this.#watch(this.#database.iterator().all())) {
      if (key === COUNT_KEY) continue;
      const entry = decodeEntry(key, bytes);
      if (entry === undefined) unreadable.push(key);
      else entries.push([key.slice(VIEW_PREFIX.length), entry]);
    }
    if (unreadable.length > 0) this.#warnOfUnreadable(unreadable.length);
    const removals = unreadable.map((key) => ({ type: 'del' as const, key }));
    await this.#watch(this.#database.batch(removals));
    return entries;
  }

  async find(ids: readonly string[]): Promise<Map<string, CacheEntry>> {
    const stored = await this.#watch(this.#database.getMany(ids.map(toKey)));
    const found = new Map<string, CacheEntry>();
    for (const [at, id] of ids.entries()) {
      const bytes = stored[at];
      if (bytes === undefined) continue;
      const entry = decodeEntry(toKey(id), bytes);
      // The count was readable when the directory was opened. If it is missing now, the database
      // has lost it, and lost writes could not be detected.
      if (entry === undefined) throw createDamageError(`what it has of ${id} cannot be read`);
      found.set(id, entry);
    }
    return found;
  }

  /** Writes all changes or none. Throws what `serialize` throws for a value that it cannot copy. */
  async write(changes: readonly CacheChange[], isDurable: boolean): Promise<void> {
    const operations = changes.map(([id, entry]) => {
      const key = toKey(id);
      return entry === undefined
        ? { type: 'del' as const, key }
        : { type: 'put' as const, key, value: encodeEntry(key, entry) };
    });
    if (!isDurable) return this.#watch(this.#database.batch(operations));

    const count = this.#count + 1;
    const counted = [...operations, toCountOperation(count)];
    await this.#watch(this.#database.batch(counted, { sync: true }));
    // Write the file after the database. If the process dies in between, the count in the file is
    // too low, which can only hide a loss.
    await this.#watch(this.#countFile.write(formatCount(count), 0));
    this.#count = count;
  }

  async close(): Promise<void> {
    try {
      await this.#countFile.close();
    } finally {
      await this.#database.close();
    }
  }

  async #watch<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  #warnOfUnreadable(count: number): void {
    const { location } = this.#database;
    process.emitWarning(`cache: dropped what cannot be read in ${location}: ${count} views`);
  }
}

/**
 * Returns whether an error of LevelDB is about damage, rather than about disk space or permissions.
 */
export function isDamage(error: unknown): boolean {
  const { code, message } = findDatabaseError(error);
  if (code === 'LEVEL_CORRUPTION') return true;
  return code === 'LEVEL_IO_ERROR' && DAMAGED_FILE.test(String(message));
}

/** Adds the directory and the fix to an error of the system or of the database. */
export function toDirectoryError(directory: string, error: unknown): unknown {
  if (error instanceof CorrectableError) return error;
  const { code, message } = findDatabaseError(error);
  const isLocked = code === 'LEVEL_LOCKED';
  const explanation = isLocked
    ? `another store, of this process or another, has ${directory} open: close that one first, or give its caches and this one the same store`
    : `cannot use ${directory}: ${String(message)}. The cache continues in memory. ${chooseFix(error)}`;
  const details = { field: 'directory', cause: error };
  return new CorrectableError('UNAVAILABLE', `cache: ${explanation}`, details);
}

const chooseFix = (error: unknown): string =>
  isDamage(error)
    ? 'If a cache alone uses the directory, delete it.'
    : 'Give a directory with room that this process can write.';

interface DatabaseError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/**
 * Returns the error of the database itself. It may be the cause of an error that names the
 * directory, or of an error of opening.
 */
function findDatabaseError(error: unknown): DatabaseError {
  const { code, cause } = error as DatabaseError;
  const isOuter = error instanceof CorrectableError || code === 'LEVEL_DATABASE_NOT_OPEN';
  return isOuter && isRecord(cause) ? findDatabaseError(cause) : (error as DatabaseError);
}

async function openLocation(location: string): Promise<OpenDirectory> {
  const expected = await readCountFile(location);
  let database: Database | undefined;
  let count = expected ?? 0;
  try {
    database = await openDatabase(location);
    await checkOwner(database);
    const counted = await readCount(database);
    if (counted < count)
      throw createDamageError(`it has ${counted} of ${count} writes that were on disk`);
    count = counted;
  } catch (error) {
    await database?.close();
    // Without the file, the database may belong to another program.
    if (expected === undefined || !isDamage(error)) throw error;
    database = await emptyDatabase(location, error, count);
  }
  try {
    return [database, await openCountFile(location, expected), count];
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openDatabase(location: string): Promise<Database> {
  const database: Database = new ClassicLevel(location, {
    valueEncoding: 'view',
  });
  await database.open();
  return database;
}

/** Removes only the files of the database, while no other process has it open. */
async function emptyDatabase(location: string, cause: unknown, count: number): Promise<Database> {
  await ClassicLevel.destroy(location);
  await mkdir(location, { recursive: true });
  const database = await openDatabase(location);
  await database.batch([toCountOperation(count)], { sync: true });
  const { message } = findDatabaseError(cause);
  process.emitWarning(`cache: ${location} is damaged, and was emptied: ${String(message)}`);
  return database;
}

/** Throws if the database has keys that no cache writes: a cache would remove them. */
async function checkOwner(database: Database): Promise<void> {
  const before = await database.keys({ lt: FIRST_KEY, limit: 1 }).all();
  const after = await database.keys({ gte: AFTER_LAST_KEY, limit: 1 }).all();
  if (before.length + after.length === 0) return;
  const explanation = `${database.location} has the database of another program. It was not changed. Give a directory that only caches use.`;
  throw new CorrectableError('INVALID_ARGUMENT', `cache: ${explanation}`, {
    field: 'directory',
  });
}

function createDamageError(message: string): Error {
  return Object.assign(new Error(message), { code: 'LEVEL_CORRUPTION' });
}

async function readCount(database: Database): Promise<number> {
  const bytes = await database.get(COUNT_KEY);
  const count = Number(Buffer.from(bytes ?? []).toString());
  return Number.isSafeInteger(count) ? count : 0;
}

function toCountOperation(count: number): {
  type: 'put';
  key: string;
  value: Uint8Array;
} {
  return { type: 'put', key: COUNT_KEY, value: Buffer.from(String(count)) };
}

/** Returns the count in the file, `undefined` if there is no file, or 0 if it is unreadable. */
async function readCountFile(location: string): Promise<number | undefined> {
  try {
    return Number(COUNT_TEXT.exec(await readFile(join(location, COUNT_FILE), 'utf8'))?.[1] ?? 0);
  } catch (error) {
    if (isRecord(error) && error['code'] === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Opens the file to overwrite it in place. Overwriting needs no additional space, so it works even
 * if the disk is full.
 */
async function openCountFile(location: string, found?: number): Promise<FileHandle> {
  const file = await open(join(location, COUNT_FILE), constants.O_RDWR | constants.O_CREAT);
  if (found === undefined) await file.write(formatCount(0), 0);
  return file;
}

function formatCount(count: number): string {
  return `correctables cache ${String(count).padStart(16, '0')}\n`;
}

function toKey(id: string): string {
  return VIEW_PREFIX + id;
}

/**
 * Encodes a view with a checksum that includes its key, because LevelDB does not verify what it
 * reads from a table.
 */
function encodeEntry(key: string, entry: CacheEntry): Uint8Array {
  const value = serialize(entry);
  const head = Buffer.alloc(CHECKSUM_END);
  head.writeUInt8(FORMAT);
  head.writeUInt32LE(crc32(value, crc32(key)), 1);
  return Buffer.concat([head, value]);
}

/** Returns `undefined` for an unreadable entry: it is damaged, or of another format. */
function decodeEntry(key: string, bytes: Uint8Array): CacheEntry | undefined {
  if (bytes[0] !== FORMAT || bytes.length < CHECKSUM_END) return undefined;
  const checksum = Buffer.from(bytes.buffer, bytes.byteOffset, CHECKSUM_END).readUInt32LE(1);
  const value = bytes.subarray(CHECKSUM_END);
  if (crc32(value, crc32(key)) !== checksum) return undefined;
  try {
    return deserialize(value) as CacheEntry;
  } catch {
    return undefined;
  }
}
