/**
 * Opens the store of rows of a data directory to read it, without a change there. LevelDB writes
 * whenever it opens a store: it replays the log into new tables, begins a new manifest, and removes
 * old files. So it gets a temporary folder with copies of the manifest and the logs, which are
 * small. A compaction that was due begins there too. It needs some room, and ends with the command.
 *
 * The tables may have many gigabytes, so the folder has links to the pinned ones where the system
 * has links to open files. LevelDB reads these tables and removes their names, and writes into none
 * that its manifest names: a new one has a number behind those.
 *
 * No other table may be in the folder. The server may be writing it, and has named it nowhere yet.
 * LevelDB would give its number to a new table of the copy, and would overwrite the file of the
 * server through the link.
 */
import fs from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CorrectableError } from '../../../correctable/errors.ts';
import { isNoSpace } from '../storage/disk/files.ts';
import { FILE_MODE } from '../storage/disk/node-files.ts';
import { requireLevel } from '../storage/rows/level-database.ts';
import { LevelRowStore } from '../storage/rows/level-row-store.ts';
import type { RowReader, RowStore } from '../storage/rows/row-store.ts';
import { CURRENT_FILE, isTable, readTableNumbers } from '../storage/rows/store-manifest.ts';
import type { PinnedFiles } from './pinned-files.ts';

/** What a store has, as long as its files are pinned. */
export interface CopiedRows {
  readonly reader: RowReader;
  /** Removes the temporary folder. */
  close(): Promise<void>;
}

/** A store in a temporary folder. */
export interface TemporaryStore extends CopiedRows {
  readonly reader: RowStore;
}

/**
 * The name of a temporary folder has the number of its process behind this. The processes of
 * another machine or container, which may share the directory, cannot be seen here.
 */
const PREFIX = `correctables-rows-${hostname()}-`;
const PART_BYTES = 1024 * 1024;
/** The temporary folders, until they are removed. */
const folders = new Set<string>();

/**
 * Opens the store in a folder. A folder without a store has no rows.
 *
 * @throws CorrectableError `UNAVAILABLE` if the temporary folder cannot be made or has no room; the
 * error of LevelDB if the store is damaged
 */
export async function openCopiedRows(files: PinnedFiles, folder: string): Promise<CopiedRows> {
  if (!files.list(folder).includes(CURRENT_FILE)) return NO_STORE;
  return openTemporaryStore((copy) => copyStore(files, folder, copy));
}

/**
 * Opens a store in a temporary folder.
 *
 * @param fill puts the files of the store there. Default: the store is new
 * @throws as `openCopiedRows`
 */
export async function openTemporaryStore(
  fill: (folder: string) => void = () => {},
): Promise<TemporaryStore> {
  await requireLevel();
  const folder = explainNoRoom(() => makeFolder());
  try {
    explainNoRoom(() => fill(folder));
    const store = await LevelRowStore.open(folder);
    const close = async (): Promise<void> => {
      try {
        await store.close();
      } finally {
        removeFolder(folder);
      }
    };
    return { reader: store, close };
  } catch (error) {
    removeFolder(folder);
    throw isNoSpace(error as Error) ? createNoRoomError(error as Error) : error;
  }
}

const NO_STORE: CopiedRows = { reader: { get: () => undefined }, close: async () => {} };

function makeFolder(): string {
  removeAbandonedFolders();
  // Only the owner may enter it: the rows are what clients wrote.
  const folder = fs.mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  if (folders.size === 0) process.on('exit', removeFolders);
  folders.add(folder);
  return folder;
}

function removeFolder(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) process.off('exit', removeFolders);
}

function removeFolders(): void {
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
}

/**
 * Removes the folders of processes that were killed. They have what clients wrote, and their links
 * keep tables on the disk that the server has removed.
 */
function removeAbandonedFolders(): void {
  for (const name of listTemporaryFiles()) {
    if (!name.startsWith(PREFIX)) continue;
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!Number.isInteger(pid) || isRunning(pid)) continue;
    const folder = join(tmpdir(), name);
    try {
      if (fs.lstatSync(folder).uid === process.getuid?.()) fs.rmSync(folder, { recursive: true });
    } catch {
      // Another command is removing it too.
    }
  }
}

function listTemporaryFiles(): readonly string[] {
  try {
    return fs.readdirSync(tmpdir());
  } catch {
    // The error of making a folder there explains it.
    return [];
  }
}

/** Also `true` for the process of another user. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function copyStore(files: PinnedFiles, folder: string, copy: string): void {
  const numbers = findTables(files, folder);
  for (const name of files.list(folder)) {
    const path = `${folder}/${name}`;
    const target = join(copy, name);
    if (!isTable(name)) copyFile(files, path, target);
    else if (numbers.has(Number.parseInt(name, 10))) linkFile(files, path, target);
  }
}

/** Returns the numbers of the tables that count. Without a whole manifest, the open fails. */
function findTables(files: PinnedFiles, folder: string): ReadonlySet<number> {
  try {
    const name = Buffer.from(files.read(`${folder}/${CURRENT_FILE}`))
      .toString()
      .trim();
    return readTableNumbers(files.read(`${folder}/${name}`));
  } catch {
    return new Set();
  }
}

function linkFile(files: PinnedFiles, path: string, target: string): void {
  const source = files.getLinkTarget(path);
  if (source === undefined) copyFile(files, path, target);
  else fs.symlinkSync(source, target);
}

function copyFile(files: PinnedFiles, path: string, target: string): void {
  const descriptor = fs.openSync(target, 'wx', FILE_MODE);
  try {
    const size = files.getWrittenBytes(path);
    for (let position = 0; position < size; position += PART_BYTES)
      fs.writeFileSync(
        descriptor,
        files.readPart(path, position, Math.min(PART_BYTES, size - position)),
      );
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Runs what writes into the temporary folder. */
function explainNoRoom<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw createNoRoomError(error);
    throw error;
  }
}

function createNoRoomError(cause: Error): CorrectableError {
  const problem = isNoSpace(cause) ? 'there is no room' : cause.message;
  const message = `The rows cannot be read: they are opened in the temporary directory ${tmpdir()}, and that failed: ${problem}. Nothing was changed. Set TMPDIR to another directory, and run this again.`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false, cause });
}
