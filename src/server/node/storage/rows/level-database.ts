/**
 * A database of LevelDB that is opened again once it refuses all writes: it does so after an error
 * in its log, or in the background when the disk was full for a moment.
 *
 * It cannot be read while it is opened, and reads must not wait. So they go to a copy meanwhile,
 * which has links to the tables and copies of the small files. Nothing changes the database then,
 * since it refuses all writes.
 */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { CorrectableError } from '../../../../correctable/errors.ts';
import { DIRECTORY_MODE, syncDirectory } from '../disk/node-files.ts';
import type { EntryKey, RowSnapshot } from './row-store.ts';
import { CURRENT_FILE, isTable, readTableNumbers } from './store-manifest.ts';

type Level = ClassicLevel<Uint8Array, Uint8Array>;
type LevelSnapshot = ReturnType<Level['snapshot']>;

const BYTES = { keyEncoding: 'view', valueEncoding: 'view' } as const;
/** Handing over so many entries takes about a millisecond. */
const ENTRIES_PER_TURN = 500;

/** A change of one entry. Without a value, the entry goes. */
type Change = readonly [key: EntryKey, value: Uint8Array | undefined];

/** Takes the changes of one batch. */
export interface LevelBatch {
  put(key: EntryKey, value: Uint8Array): void;
  del(key: EntryKey): void;
  /** Rejects with the error of the engine. Then nothing of the batch is there. */
  write(): Promise<void>;
  close(): void;
}

export class LevelDatabase {
  readonly #folder: string;
  #level: Level;
  /** What is read while the database is closed. */
  #copy: Level | undefined;
  readonly #snapshots = new Set<Snapshot>();
  /** The number of batches that were written. */
  #written = 0;
  /** The last change of the batch that has failed. Since then all writes are refused. */
  #refused: Change | undefined;
  /** Ends once the database is opened again, or that has failed. */
  #opening: Promise<void> = Promise.resolve();

  private constructor(folder: string, level: Level) {
    this.#folder = folder;
    this.#level = level;
  }

  /** Rejects with the error of the engine. */
  static async open(folder: string): Promise<LevelDatabase> {
    // A process that was ended may have left it there.
    removeFolder(getCopyFolder(folder));
    return new LevelDatabase(folder, await openLevel(folder));
  }

  get(key: EntryKey): Uint8Array | undefined {
    return (this.#copy ?? this.#level).getSync(key);
  }

  openSnapshot(): RowSnapshot {
    const snapshot = new Snapshot(this.#copy ?? this.#level, this.#written);
    this.#snapshots.add(snapshot);
    return {
      get: (key) => snapshot.get(key),
      close: () => {
        this.#snapshots.delete(snapshot);
        snapshot.close();
      },
    };
  }

  createBatch(): LevelBatch {
    return this.#refused === undefined ? this.#createBatch() : this.#createLateBatch();
  }

  async close(): Promise<void> {
    await this.#opening.catch(() => {});
    await this.#level.close();
    await this.#removeCopy();
  }

  #createBatch(): LevelBatch {
    const batch = this.#level.batch();
    let last: Change | undefined;
    return {
      put: (key, value) => {
        last = [key, value];
        batch.put(key, value);
      },
      del: (key) => {
        last = [key, undefined];
        batch.del(key);
      },
      write: async () => {
        try {
          await batch.write({ sync: true });
        } catch (error) {
          this.#refused = last;
          throw error;
        }
        this.#written += 1;
      },
      close: () => void batch.close(),
    };
  }

  /** A batch that opens the database again before it is written. */
  #createLateBatch(): LevelBatch {
    const changes: Change[] = [];
    return {
      put: (key, value) => changes.push([key, value]),
      del: (key) => changes.push([key, undefined]),
      write: async () => {
        await (this.#opening = this.#openAgain());
        const batch = this.#createBatch();
        for (const [at, [key, value]] of changes.entries()) {
          if (value === undefined) batch.del(key);
          else batch.put(key, value);
          if (at % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await new Promise(setImmediate);
        }
        await batch.write();
      },
      close: () => {},
    };
  }

  /** If it rejects, everything can still be read, and it may be tried again. */
  async #openAgain(): Promise<void> {
    if (this.#copy === undefined) await this.#readFromCopy();
    const level = await openLevel(this.#folder);
    if (this.#hasRefused(level)) {
      await level.close();
      throw new Error('a commit that was reported as failed is there after all');
    }
    this.#level = level;
    this.#refused = undefined;
    for (const snapshot of this.#snapshots) snapshot.readFrom(level);
    await this.#removeCopy();
  }

  async #readFromCopy(): Promise<void> {
    // The copy has the last commit alone.
    if ([...this.#snapshots].some(({ written }) => written < this.#written))
      throw createBusyError();
    const folder = getCopyFolder(this.#folder);
    removeFolder(folder);
    linkFiles(this.#folder, folder);
    const copy = await openLevel(folder);
    this.#copy = copy;
    for (const snapshot of this.#snapshots) snapshot.readFrom(copy);
    await this.#level.close();
  }

  async #removeCopy(): Promise<void> {
    const copy = this.#copy;
    if (copy === undefined) return;
    this.#copy = undefined;
    await copy.close();
    removeFolder(getCopyFolder(this.#folder));
  }

  /** Whether the failed batch is there: the engine may have written it before its error. */
  #hasRefused(level: Level): boolean {
    const [key, value] = this.#refused as Change;
    if (value === undefined) return false;
    const found = level.getSync(key);
    return found !== undefined && Buffer.compare(found, value) === 0;
  }
}

/** Shows one commit, also while the database is opened again. */
class Snapshot {
  /** How many batches were written before. */
  readonly written: number;
  #level: Level;
  #snapshot: LevelSnapshot;

  constructor(level: Level, written: number) {
    this.written = written;
    this.#level = level;
    this.#snapshot = level.snapshot();
  }

  get(key: EntryKey): Uint8Array | undefined {
    return this.#level.getSync(key, { ...BYTES, snapshot: this.#snapshot });
  }

  /** Reads the same commit from there. */
  readFrom(level: Level): void {
    this.close();
    this.#level = level;
    this.#snapshot = level.snapshot();
  }

  close(): void {
    void this.#snapshot.close();
  }
}

async function openLevel(folder: string): Promise<Level> {
  const { ClassicLevel } = await loadLevel();
  makeFolder(folder);
  const level = new ClassicLevel<Uint8Array, Uint8Array>(folder, BYTES);
  await level.open();
  return level;
}

/**
 * Rejects with `INVALID_ARGUMENT` if the package of the engine is not installed. Its error reports
 * that nothing was changed, so call this before anything is written.
 */
export async function requireLevel(load: LoadLevel = importLevel): Promise<void> {
  await loadLevel(load);
}

type LoadLevel = () => Promise<{ readonly ClassicLevel: typeof ClassicLevel }>;

const importLevel: LoadLevel = () => import('classic-level');

/**
 * Loads the engine. Only a deployment with a directory needs its package.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if it is not installed
 */
async function loadLevel(load = importLevel): ReturnType<LoadLevel> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message =
      'The data directory needs the package classic-level, which is not installed. Nothing was changed. Run npm install classic-level@3. Without a data directory you do not need it: serve with --ephemeral, or use createEmbedded in a program.';
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'dataDir', cause: error });
  }
}

function getCopyFolder(folder: string): string {
  return `${folder}.copy`;
}

/**
 * Makes the folder for the owner alone. The engine would let all read it, and its files, which get
 * the mode of the process.
 */
function makeFolder(folder: string): void {
  const made = fs.mkdirSync(folder, { recursive: true, mode: DIRECTORY_MODE });
  if (made !== undefined) syncDirectory(dirname(made));
}

function removeFolder(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
}

/**
 * Links the tables that the manifest names, and copies the small files. A table that it does not
 * name must not be there: both databases would write a table with its number into the same file.
 */
function linkFiles(from: string, to: string): void {
  makeFolder(to);
  const current = fs.readFileSync(join(from, CURRENT_FILE), 'utf8').trim();
  const numbers = readTableNumbers(fs.readFileSync(join(from, current)));
  for (const name of fs.readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (!isTable(name)) {
      if (name !== 'LOCK') fs.copyFileSync(source, target);
    } else if (numbers.has(Number.parseInt(name, 10))) fs.linkSync(source, target);
  }
}

/** Commits go on once the readers of an earlier one have ended, as when there is room again. */
function createBusyError(): Error {
  const message = 'the rows are opened again after a full disk, once a transfer or a backup ends';
  return Object.assign(new Error(message), { code: 'ENOSPC' });
}
