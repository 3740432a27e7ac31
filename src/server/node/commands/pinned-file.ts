/** A file that is held open, up to an end that is found while a process writes to it. */
import fs from 'node:fs';
import type { LogEnd } from './log-end.ts';

export interface PinnedFile {
  readonly descriptor: number;
  readonly inode: number;
  size: number;
  /** The number of bytes that count. Those behind them are shown as zeros. */
  written: number;
}

/** A file that may grow. */
export interface GrowingFile {
  /** Returns whether it has grown since the last call. */
  hasGrown(): boolean;
}

/** Throws the error of the system if there is no such file. */
export function openFile(path: string): PinnedFile {
  const descriptor = fs.openSync(path, 'r');
  const { ino, size } = fs.fstatSync(descriptor);
  return { descriptor, inode: ino, size, written: size };
}

/** Takes all that the file has now. */
export function updateSize(file: PinnedFile): void {
  const { size } = fs.fstatSync(file.descriptor);
  file.size = size;
  file.written = size;
}

/** Watches a file that gets longer when it is written to. */
export function watchSize(file: PinnedFile): GrowingFile {
  return {
    hasGrown: () => {
      const before = file.size;
      updateSize(file);
      return file.size > before;
    },
  };
}

/** Watches a log file, which has its full size before it is written to. */
export function watchEnd(file: PinnedFile, end: LogEnd): GrowingFile {
  file.written = end.position;
  return {
    hasGrown: () => {
      const hasGrown = end.advance();
      file.written = end.position;
      return hasGrown;
    },
  };
}

export function readFrom({ descriptor, size }: PinnedFile) {
  return (position: number, length: number): Uint8Array => {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
    return bytes.subarray(0, readInto(descriptor, bytes, position));
  };
}

/** Fills the bytes, up to the end of the file. Returns how many there were. */
export function readInto(descriptor: number, bytes: Uint8Array, position: number): number {
  let count = 0;
  for (let read = -1; read !== 0 && count < bytes.length; count += read)
    read = fs.readSync(descriptor, bytes, count, bytes.length - count, position + count);
  return count;
}
