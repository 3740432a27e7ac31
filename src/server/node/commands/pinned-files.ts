/**
 * Holds the files of folders open, so that a reader finds them as a running process had them at
 * one moment. A file that the process removes can still be read. What it appends to a checkpoint
 * does not count, since the log files that belong to it may not be open.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import type { ReadableFiles } from '../storage/disk/files.ts';

interface PinnedFile {
  readonly descriptor: number;
  readonly length: number;
}

/** The maximum number of attempts to open a folder while its files change. */
const MAX_ATTEMPTS = 20;
const LOG = '.log';

export class PinnedFiles implements ReadableFiles {
  readonly #root: string;
  readonly #files: ReadableFiles;
  readonly #folders = new Map<string, ReadonlyMap<string, PinnedFile>>();

  /**
   * @param files reads all other folders
   * @throws Error with the code `ENOENT` if files come and go too quickly
   */
  constructor(root: string, files: ReadableFiles, folders: readonly string[]) {
    this.#root = root;
    this.#files = files;
    try {
      for (const folder of folders) this.#folders.set(folder, this.#pin(folder));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  list(folder: string): readonly string[] {
    const pinned = this.#folders.get(folder);
    return pinned === undefined ? this.#files.list(folder) : [...pinned.keys()];
  }

  read(path: string): Uint8Array {
    const file = this.#find(path);
    return file === undefined ? this.#files.read(path) : readAt(file, 0, file.length);
  }

  readPart(path: string, position: number, length: number): Uint8Array {
    const file = this.#find(path);
    if (file === undefined) return this.#files.readPart(path, position, length);
    return readAt(file, position, Math.max(0, Math.min(length, file.length - position)));
  }

  close(): void {
    for (const files of this.#folders.values()) closeAll(files);
    this.#folders.clear();
  }

  #find(path: string): PinnedFile | undefined {
    const end = path.lastIndexOf('/');
    return this.#folders.get(path.slice(0, end))?.get(path.slice(end + 1));
  }

  /** Opens a folder again if a file has come or gone meanwhile. */
  #pin(folder: string): ReadonlyMap<string, PinnedFile> {
    for (let attempt = 1; ; attempt += 1) {
      const names = this.#files.list(folder);
      const opened = new Map<string, PinnedFile>();
      try {
        // A log file is removed only after a checkpoint contains it. So if all logs are still
        // there, they belong to the checkpoints that were opened before.
        for (const name of sortLogsLast(names)) opened.set(name, this.#open(`${folder}/${name}`));
        if (isSame(names, this.#files.list(folder))) return opened;
        throw Object.assign(new Error(`files of ${folder} come and go`), { code: 'ENOENT' });
      } catch (error) {
        closeAll(opened);
        const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
        if (!isGone || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  #open(path: string): PinnedFile {
    const descriptor = fs.openSync(join(this.#root, path), 'r');
    return { descriptor, length: fs.fstatSync(descriptor).size };
  }
}

function sortLogsLast(names: readonly string[]): readonly string[] {
  return names.toSorted((a, b) => Number(a.endsWith(LOG)) - Number(b.endsWith(LOG)));
}

function isSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((name) => after.includes(name));
}

function closeAll(files: ReadonlyMap<string, PinnedFile>): void {
  for (const { descriptor } of files.values()) fs.closeSync(descriptor);
}

function readAt({ descriptor }: PinnedFile, position: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  let count = 0;
  for (let read = -1; read !== 0 && count < length; count += read)
    read = fs.readSync(descriptor, bytes, count, length - count, position + count);
  return bytes.subarray(0, count);
}
