/**
 * Makes a copy of a data directory, also while a server runs on it. The copy has all files as they
 * were at one moment, so it is what a server would have left if it had been killed then. It counts
 * only under its own name: until a start would accept it, and all of it is on the disk, it has
 * another one.
 */
import fs from 'node:fs';
import { setImmediate as pause } from 'node:timers/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { check, CorrectableError } from '../../../correctable/errors.ts';
import { getSiteMemoryBytes } from '../memory/memory-size.ts';
import { checkFormat, type Manifest } from '../storage/directory/manifest.ts';
import { NODE_FILE, parseIdentity } from '../storage/directory/node-identity.ts';
import { isNoSpace } from '../storage/disk/files.ts';
import { DIRECTORY_MODE, FILE_MODE, NodeFiles, syncDirectory } from '../storage/disk/node-files.ts';
import { checkBackup, listSiteFiles, type BackupCheck, type SavedSite } from './check-backup.ts';
import type { PinnedFiles } from './pinned-files.ts';
import { ROOT } from './pinned-folders.ts';
import {
  checkMemory,
  type OpenedDirectory,
  getStoredSites,
  openToRead,
} from './stored-directory.ts';

export interface Backup {
  readonly dataDir: string;
  readonly target: string;
  readonly service: string;
  /** When the files were as they are in it, as an ISO string. */
  readonly at: string;
  readonly bytes: number;
  readonly sites: readonly SavedSite[];
}

export interface BackupOptions extends BackupCheck {
  /** The directory to make. Its parent must exist. */
  readonly target: string;
  /** Stops the backup, and removes what it has made. */
  readonly signal?: AbortSignal | undefined;
  /** Called while files are copied. */
  onProgress?(copiedBytes: number, allBytes: number): void;
}

const PART_BYTES = 1024 * 1024;

/**
 * Makes a backup. If it fails, nothing is left of it.
 *
 * @param memoryBytes the memory that the check of the copy may take
 * @throws CorrectableError `INVALID_ARGUMENT` if there is no data directory, or no place for the
 * target, `UNAVAILABLE` if a start would refuse the data, or the disk of the target has no room;
 * the reason of the signal
 */
export async function backUpDataDirectory(
  options: BackupOptions,
  memoryBytes: number = getSiteMemoryBytes(),
): Promise<Backup> {
  const { dataDir, target } = options;
  checkTarget(dataDir, target);
  const source = await openToRead(dataDir);
  const { files, manifest, at } = source;
  try {
    checkFormat(manifest, dataDir);
    rejectWaitingNode(files, manifest);
    for (const name of getStoredSites(manifest)) checkMemory(source, name, memoryBytes);
    const sites = await withDraft(target, (draft) => saveFiles(source, draft, options));
    const bytes = sum(listFiles(source).map((path) => files.getWrittenBytes(path)));
    return { dataDir, target, service: manifest.service.name, at, bytes, sites };
  } finally {
    await source.close();
  }
}

/** @throws CorrectableError `INVALID_ARGUMENT` if the target exists, or is no place for a backup */
function checkTarget(dataDir: string, target: string): void {
  const parent = dirname(target);
  check(!fs.existsSync(target), 'target', `is ${target}, which exists: name a new directory`);
  const isParent = fs.statSync(parent, { throwIfNoEntry: false })?.isDirectory() ?? false;
  check(isParent, 'target', `is in ${parent}, which is no directory: make that first`);
  if (!fs.existsSync(dataDir)) return;
  const path = join(fs.realpathSync(parent), basename(target));
  const isInside = !relative(fs.realpathSync(dataDir), path).startsWith(`..${sep}`);
  check(!isInside, 'target', `is in the data directory ${dataDir}: name a place outside of it`);
}

/** Throws `UNAVAILABLE` if the site of the directory has no state yet. */
function rejectWaitingNode(files: PinnedFiles, { site }: Manifest): void {
  if (site === undefined || !files.list(ROOT).includes(NODE_FILE)) return;
  if (parseIdentity(files.read(NODE_FILE)).origin !== null) return;
  const message = `No backup was made: ${site} waits for the state of another site, and has no data yet. Back up another site.`;
  throw new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'dataDir' });
}

/** Makes the directory under another name, and gives it its own once `fill` has ended. */
async function withDraft<T>(target: string, fill: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${target}.partial`;
  try {
    makeDraft(draft);
    try {
      const result = await fill(draft);
      new NodeFiles(dirname(target)).moveDirectory(basename(draft), basename(target));
      return result;
    } catch (error) {
      fs.rmSync(draft, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    throw describeFailure(error, target);
  }
}

function makeDraft(draft: string): void {
  try {
    fs.mkdirSync(draft, { mode: DIRECTORY_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const advice = 'If no other backup is being made there, one was killed: remove it';
    throw createTargetError(`${draft} exists. Nothing was changed. ${advice}.`);
  }
}

function describeFailure(error: unknown, target: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const problem = isNoSpace(error) ? 'there is no room on the disk' : error.message;
  const advice = isNoSpace(error)
    ? 'Free some, or name a place on another disk'
    : 'Name another place';
  return createTargetError(
    `The backup ${target} cannot be made: ${problem}. Nothing is left of it, and the data is unchanged. ${advice}.`,
    error,
  );
}

function createTargetError(message: string, cause?: Error): CorrectableError {
  return new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'target', cause });
}

function listFiles({ files, manifest }: OpenedDirectory): readonly string[] {
  const ofSites = getStoredSites(manifest).flatMap((site) => listSiteFiles(files, site));
  return [...files.list(ROOT), ...ofSites];
}

/** Copies all files, and recovers the sites from the copy. */
async function saveFiles(
  source: OpenedDirectory,
  draft: string,
  options: BackupOptions,
): Promise<readonly SavedSite[]> {
  await copyFiles(source.files, listFiles(source), draft, options);
  const sites = await checkBackup(draft, options);
  // Signals of the process arrive between turns.
  await pause();
  options.signal?.throwIfAborted();
  return sites;
}

async function copyFiles(
  files: PinnedFiles,
  paths: readonly string[],
  draft: string,
  { signal, onProgress }: BackupOptions,
): Promise<void> {
  const all = sum(paths.map((path) => files.getWrittenBytes(path)));
  const folders = new Set(['sites', ...paths.map(dirname)].map((folder) => join(draft, folder)));
  for (const folder of folders) fs.mkdirSync(folder, { recursive: true, mode: DIRECTORY_MODE });
  let copied = 0;
  for (const path of paths) {
    const file = await fs.promises.open(join(draft, path), 'wx+', FILE_MODE);
    try {
      for (const part of readParts(files, path)) {
        signal?.throwIfAborted();
        await file.writeFile(part.bytes);
        copied += part.bytes.length;
        onProgress?.(copied, all);
      }
      await file.sync();
      for (const part of readParts(files, path)) {
        signal?.throwIfAborted();
        await checkPart(file, path, part);
      }
    } finally {
      await file.close();
    }
  }
  for (const folder of folders) syncDirectory(folder);
}

interface Part {
  readonly position: number;
  readonly bytes: Uint8Array;
}

function* readParts(files: PinnedFiles, path: string): Generator<Part, void, void> {
  const end = files.getWrittenBytes(path);
  for (let position = 0; position < end; position += PART_BYTES) {
    const length = Math.min(PART_BYTES, end - position);
    yield { position, bytes: files.readPart(path, position, length) };
  }
}

/** Throws if the copy of a part has other bytes. */
async function checkPart(
  file: fs.promises.FileHandle,
  path: string,
  { position, bytes }: Part,
): Promise<void> {
  const copy = Buffer.alloc(bytes.length);
  await file.read(copy, 0, copy.length, position);
  if (Buffer.compare(copy, bytes) !== 0)
    throw createTargetError(
      `The backup was not made: the copy of ${path} has other bytes than the file, from byte ${position} on. Nothing is left of it. Check the disk.`,
    );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
