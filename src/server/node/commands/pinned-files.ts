/**
 * Holds the files of a data directory open, so that a reader finds them as they were at one moment.
 * A process may change them meanwhile. What a reader finds is what the process would have left if
 * it had been killed at that moment, and a start goes on from that.
 *
 * Files are only removed, replaced and appended to. So each is opened, and the end of each is
 * found, again and again, until none has grown. At the beginning of that last round all files were
 * as they are shown. If a file came, went or was replaced since, all files are opened again.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { CorrectableError } from '../../../correctable/errors.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { NodeFiles } from '../storage/disk/node-files.ts';
import { formatSegmentName, parseFileNumbers } from '../storage/format/file-names.ts';
import { LogEnd } from './log-end.ts';
import { CURRENT_FILE, isTable } from '../storage/rows/store-manifest.ts';
import {
  openFile,
  readFrom,
  readInto,
  updateSize,
  watchEnd,
  watchSize,
  type GrowingFile,
  type PinnedFile,
} from './pinned-file.ts';
import { listFolders, ROOT, type FolderKind } from './pinned-folders.ts';

interface PinnedFolder {
  readonly kind: FolderKind;
  /** Its path on the disk. */
  readonly path: string;
  readonly files: Map<string, PinnedFile>;
}

/** The maximum number of attempts to open all files while some come and go. */
const MAX_ATTEMPTS = 100;
/** Where Linux has a link to each open file. */
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTOR_LINKS = process.platform === 'linux' && fs.existsSync(DESCRIPTORS);

export class PinnedFiles implements ReadableFiles {
  readonly #root: string;
  readonly #files: NodeFiles;
  readonly #folders = new Map<string, PinnedFolder>();
  /** The ends that earlier attempts have found. No two files of a site have the same name. */
  readonly #ends = new Map<string, LogEnd>();

  /**
   * @param sites the folders of the sites. The stores of their rows and the small files of the root
   * are pinned too
   * @throws CorrectableError `UNAVAILABLE` if files come and go too quickly, or are too many
   */
  constructor(root: string, sites: readonly string[]) {
    this.#root = root;
    this.#files = new NodeFiles(root);
    const folders = listFolders(sites);
    try {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1)
        if (this.#tryPin(folders)) return;
    } catch (error) {
      this.close();
      throw describeFailure(error as Error, root);
    }
    this.close();
    const message = `The files in ${root} come and go as fast as they are opened. Nothing was changed. Run this again.`;
    throw new CorrectableError('UNAVAILABLE', message, { field: 'dataDir' });
  }

  list(folder: string): readonly string[] {
    const pinned = this.#folders.get(folder);
    return pinned === undefined ? this.#files.list(folder) : [...pinned.files.keys()];
  }

  read(path: string): Uint8Array {
    return this.readPart(path, 0, this.#find(path).size);
  }

  readPart(path: string, position: number, length: number): Uint8Array {
    const { descriptor, size, written } = this.#find(path);
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - position)));
    const count = Math.max(0, Math.min(bytes.length, written - position));
    readInto(descriptor, bytes.subarray(0, count), position);
    return bytes;
  }

  /** Returns the number of bytes of a file that count. Zeros are behind them. */
  getWrittenBytes(path: string): number {
    return this.#find(path).written;
  }

  /**
   * Returns a path by which the file can be opened once more, as long as it is pinned, also if it
   * has no name any more; `undefined` if the system has no such paths.
   */
  getLinkTarget(path: string): string | undefined {
    return HAS_DESCRIPTOR_LINKS ? `${DESCRIPTORS}/${this.#find(path).descriptor}` : undefined;
  }

  close(): void {
    for (const { files } of this.#folders.values()) closeFiles(files.values());
    this.#folders.clear();
  }

  #find(path: string): PinnedFile {
    const end = path.lastIndexOf('/');
    const folder = this.#folders.get(end < 0 ? ROOT : path.slice(0, end));
    const file = folder?.files.get(path.slice(end + 1));
    if (file !== undefined) return file;
    throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
  }

  #tryPin(folders: readonly FolderKind[]): boolean {
    try {
      for (const kind of folders) this.#open(kind);
      this.#measure();
      if (![...this.#folders.values()].every((folder) => this.#isSame(folder))) return false;
      this.#measureTables();
      return true;
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isGone) throw error;
      return false;
    }
  }

  #list({ kind, path }: Pick<PinnedFolder, 'kind' | 'path'>): readonly string[] {
    return this.#files.list(path).filter((name) => kind.has(name));
  }

  /** Opens the files of a folder. An attempt before may have opened some of them. */
  #open(kind: FolderKind): void {
    const path = kind.locate(this.#files);
    const earlier = this.#folders.get(kind.name);
    const files = new Map<string, PinnedFile>();
    const folder = { kind, path, files };
    this.#folders.set(kind.name, folder);
    const names = new Set(this.#list(folder));
    const isKept = earlier !== undefined && this.#isStillOpen(earlier, path);
    const gone: PinnedFile[] = [];
    for (const [name, file] of earlier?.files ?? [])
      if (isKept && names.has(name)) files.set(name, file);
      else gone.push(file);
    closeFiles(gone);
    for (const name of names)
      if (!files.has(name)) files.set(name, openFile(join(this.#root, path, name)));
  }

  /**
   * Whether the open files of a store are still those of their names. A large store has thousands
   * of files, so a further attempt opens only those that came meanwhile.
   */
  #isStillOpen({ kind, files }: PinnedFolder, path: string): boolean {
    const current = kind.isStore ? files.get(CURRENT_FILE) : undefined;
    if (current === undefined) return false;
    const found = fs.statSync(join(this.#root, path, CURRENT_FILE), { throwIfNoEntry: false });
    return found?.ino === current.inode;
  }

  /** Returns whether the folder has still the files that are open, and no other. */
  #isSame(folder: PinnedFolder): boolean {
    const { kind, path, files } = folder;
    const names = this.#list(folder);
    if (kind.locate(this.#files) !== path || names.length !== files.size) return false;
    return names.every((name) => {
      const file = files.get(name);
      // A store that has the same `CURRENT` gives no second file the name of a table.
      if (file !== undefined && kind.isStore && isTable(name)) return true;
      return fs.statSync(join(this.#root, path, name)).ino === file?.inode;
    });
  }

  /** Finds the ends of all files at one moment. */
  #measure(): void {
    const growing = [...this.#folders.values()].flatMap(({ kind, files }) => {
      const names = [...files.keys()];
      if (kind.isStore) return names.filter((name) => !isTable(name)).map(watch(files));
      const logs = new Set(parseFileNumbers(names, 'log').map(formatSegmentName));
      const others = names.filter((name) => !logs.has(name));
      return [...others.map(watch(files)), ...this.#watchLogs(kind.name, files)];
    });
    // Each round asks all of them, also after one has grown.
    while (growing.filter((file) => file.hasGrown()).length > 0);
  }

  /**
   * Finds the ends of the tables. Those that the manifest names were complete before. The others do
   * not count, wherever they end.
   */
  #measureTables(): void {
    for (const { kind, files } of this.#folders.values())
      for (const [name, file] of files) if (kind.isStore && isTable(name)) updateSize(file);
  }

  /**
   * Watches the last log file that has a frame, and those behind it, which the process has made
   * before it needs them. It never writes into an earlier one again.
   */
  #watchLogs(folder: string, files: ReadonlyMap<string, PinnedFile>): readonly GrowingFile[] {
    const watched: GrowingFile[] = [];
    for (const number of parseFileNumbers([...files.keys()], 'log').toReversed()) {
      const name = formatSegmentName(number);
      const file = files.get(name) as PinnedFile;
      const path = `${folder}/${name}`;
      const end = new LogEnd(number, readFrom(file), this.#ends.get(path));
      this.#ends.set(path, end);
      end.advance();
      if (!end.isDamaged()) watched.push(watchEnd(file, end));
      if (end.frames > 0) break;
    }
    return watched;
  }
}

/** Returns a function that watches the file of a name, which gets longer when it is written to. */
function watch(files: ReadonlyMap<string, PinnedFile>): (name: string) => GrowingFile {
  return (name) => watchSize(files.get(name) as PinnedFile);
}

function closeFiles(files: Iterable<PinnedFile>): void {
  for (const { descriptor } of files) fs.closeSync(descriptor);
}

function describeFailure(error: Error, root: string): Error {
  if (!('code' in error) || error.code !== 'EMFILE') return error;
  const message = `The files in ${root} are too many to be opened at one time. Nothing was changed. Raise the limit of open files (ulimit -n), and run this again.`;
  return new CorrectableError('UNAVAILABLE', message, { field: 'dataDir', cause: error });
}
