/**
 * The interface to a disk. It uses callbacks, so that a simulation can decide what happens when.
 */

/** A file in which each write is on the disk when it is done (`O_DSYNC`). */
export interface SyncedFile {
  /**
   * Writes at `position`. Several writes may be in flight and end in any order, also before this
   * returns.
   * @param mayBlock whether this thread may wait for a fast disk, since it has nothing else to do
   */
  write(
    bytes: Uint8Array,
    position: number,
    done: (error: Error | undefined) => void,
    mayBlock?: boolean,
  ): void;
  close(): void;
}

/** The part of `Files` that replaces whole files. */
export interface ReplacingFiles {
  /**
   * Creates or replaces a small file. On return it is on the disk. A crash leaves it whole or not
   * there.
   */
  replace(path: string, bytes: Uint8Array): void;
  /** Removes a file, or a directory with its contents, if it exists. A crash may bring it back. */
  removeNow(path: string): void;
}

/** The part of `Files` that changes nothing. */
export interface ReadableFiles {
  /** Returns the names in a directory in any order, or none if it does not exist. */
  list(folder: string): readonly string[];
  read(path: string): Uint8Array;
  /** Returns up to `length` bytes from `position` on, fewer at the end of the file. */
  readPart(path: string, position: number, length: number): Uint8Array;
}

/** A disk as the storage uses it. Paths are relative to its root, with `/` between names. */
export interface Files extends ReadableFiles, ReplacingFiles {
  makeDirectory(path: string): void;
  /** Creates a file of `sizeBytes` zeros. The file and its name are on the disk on return. */
  createNow(path: string, sizeBytes: number): SyncedFile;
  /** The same in the background. If it fails, no file is left. */
  create(
    path: string,
    sizeBytes: number,
    done: (error: Error | undefined, file?: SyncedFile) => void,
  ): void;
  /**
   * Moves a directory to a path where there is none, or an empty one. On return it is on the disk.
   * A crash leaves it moved or not.
   */
  moveDirectory(from: string, to: string): void;
  /** Begins to remove a file, after the removals before. A crash may bring any of them back. */
  remove(path: string): void;
}

/** Schedules what is not done at once. */
export interface Timing {
  /** Runs after the input that is being handled. */
  soon(run: () => void): void;
  /** Runs after other waiting work. */
  later(run: () => void): void;
  afterMs(delayMs: number, run: () => void): void;
}

export function isNoSpace(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Marks an error as fenced: another process has taken over the directory, so nothing in flight will
 * count.
 */
export function markFenced<E extends Error>(error: E): E {
  return Object.assign(error, { isFenced: true });
}

export function isFenced(error: Error): boolean {
  return 'isFenced' in error && error.isFenced === true;
}
