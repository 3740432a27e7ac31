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
import { KEY_FILE } from '../storage/directory/data-directory.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { NodeFiles } from '../storage/disk/node-files.ts';
import { formatSegmentName, parseFileNumbers } from '../storage/format/file-names.ts';
import { locateSite } from '../transfer/install-site.ts';
import { LogEnd } from './log-end.ts';

interface PinnedFile {
  readonly descriptor: number;
  readonly inode: number;
  size: number;
  /** The number of bytes that count. Those behind them are shown as zeros. */
  written: number;
}

interface PinnedFolder {
  /** Its path on the disk. */
  readonly path: string;
  readonly files: ReadonlyMap<string, PinnedFile>;
}

/** A file that may grow. */
interface GrowingFile {
  /** Returns whether it has grown since the last call. */
  hasGrown(): boolean;
}

/** The maximum number of attempts to open all files while some come and go. */
const MAX_ATTEMPTS = 100;
/** The folder of the small files. */
export const ROOT = '.';

export class PinnedFiles implements ReadableFiles {
  readonly #root: string;
  readonly #files: NodeFiles;
  readonly #folders = new Map<string, PinnedFolder>();
  /** The ends that earlier attempts have found. No two files of a site have the same name. */
  readonly #ends = new Map<string, LogEnd>();

  /**
   * @param folders those of the sites. The small files of the root are pinned too
   * @throws CorrectableError `UNAVAILABLE` if files come and go too quickly
   */
  constructor(root: string, folders: readonly string[]) {
    this.#root = root;
    this.#files = new NodeFiles(root);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) if (this.#tryPin(folders)) return;
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

  close(): void {
    for (const { files } of this.#folders.values())
      for (const { descriptor } of files.values()) fs.closeSync(descriptor);
    this.#folders.clear();
  }

  #find(path: string): PinnedFile {
    const end = path.lastIndexOf('/');
    const folder = this.#folders.get(end < 0 ? ROOT : path.slice(0, end));
    const file = folder?.files.get(path.slice(end + 1));
    if (file !== undefined) return file;
    throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
  }

  #tryPin(folders: readonly string[]): boolean {
    let isPinned = false;
    try {
      for (const folder of [ROOT, ...folders]) this.#open(folder);
      this.#measure();
      isPinned = [...this.#folders].every(([folder, pinned]) => this.#isSame(folder, pinned));
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isGone) throw error;
    } finally {
      if (!isPinned) this.close();
    }
    return isPinned;
  }

  #locate(folder: string): string {
    return folder === ROOT ? ROOT : locateSite(this.#files, folder);
  }

  #list(path: string): readonly string[] {
    const names = this.#files.list(path);
    return path === ROOT ? names.filter(isSmallFile) : names;
  }

  #open(folder: string): void {
    const path = this.#locate(folder);
    const files = new Map<string, PinnedFile>();
    this.#folders.set(folder, { path, files });
    for (const name of this.#list(path)) {
      const descriptor = fs.openSync(join(this.#root, path, name), 'r');
      const { ino, size } = fs.fstatSync(descriptor);
      files.set(name, { descriptor, inode: ino, size, written: size });
    }
  }

  /** Returns whether the folder has still the files that are open, and no other. */
  #isSame(folder: string, { path, files }: PinnedFolder): boolean {
    const names = this.#list(path);
    if (this.#locate(folder) !== path || names.length !== files.size) return false;
    return names.every((name) => {
      const inode = files.get(name)?.inode;
      return fs.statSync(join(this.#root, path, name)).ino === inode;
    });
  }

  /** Finds the ends of all files at one moment. */
  #measure(): void {
    const growing = [...this.#folders].flatMap(([folder, { files }]) => {
      const names = [...files.keys()];
      const logs = new Set(parseFileNumbers(names, 'log').map(formatSegmentName));
      const others = names.filter((name) => !logs.has(name));
      return [
        ...others.map((name) => watchSize(files.get(name) as PinnedFile)),
        ...this.#watchLogs(folder, files),
      ];
    });
    // Each round asks all of them, also after one has grown.
    while (growing.filter((file) => file.hasGrown()).length > 0);
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

/** Whether it describes the deployment, or is what a site has saved for its operator. */
function isSmallFile(name: string): boolean {
  return name === KEY_FILE || name.endsWith('.json');
}

/** Watches a file that gets longer when it is written to. */
function watchSize(file: PinnedFile): GrowingFile {
  return {
    hasGrown: () => {
      const { size } = fs.fstatSync(file.descriptor);
      const hasGrown = size > file.size;
      file.size = size;
      file.written = size;
      return hasGrown;
    },
  };
}

/** Watches a log file, which has its full size before it is written to. */
function watchEnd(file: PinnedFile, end: LogEnd): GrowingFile {
  file.written = end.position;
  return {
    hasGrown: () => {
      const hasGrown = end.advance();
      file.written = end.position;
      return hasGrown;
    },
  };
}

function readFrom({ descriptor, size }: PinnedFile) {
  return (position: number, length: number): Uint8Array => {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
    return bytes.subarray(0, readInto(descriptor, bytes, position));
  };
}

/** Fills the bytes, up to the end of the file. Returns how many there were. */
function readInto(descriptor: number, bytes: Uint8Array, position: number): number {
  let count = 0;
  for (let read = -1; read !== 0 && count < bytes.length; count += read)
    read = fs.readSync(descriptor, bytes, count, bytes.length - count, position + count);
  return count;
}
