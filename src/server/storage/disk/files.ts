/**
 * The port to a disk, by callbacks, so that a simulation decides what happens
 * when.
 */

/** A file in which each write is on the disk when it is done (`O_DSYNC`). */
export interface SyncedFile {
  /**
   * Writes at `position`. Several writes may be in flight and end in any order,
   * also before this returns.
   * @param mayBlock whether this thread may wait for a fast disk, since it has
   * nothing else to do
   */
  write(
    bytes: Uint8Array,
    position: number,
    done: (error: Error | undefined) => void,
    mayBlock?: boolean,
  ): void;
  close(): void;
}

/**
 * A disk, as far as storage needs one. Paths are relative to its root, with `/`
 * between names.
 */
export interface Files {
  /**
   * The names in a directory, in any order; none where there is no such
   * directory.
   */
  list(folder: string): readonly string[];
  read(path: string): Uint8Array;
  /**
   * Up to `length` bytes from `position` on: fewer where the file ends before.
   */
  readPart(path: string, position: number, length: number): Uint8Array;
  makeDirectory(path: string): void;
  /**
   * Makes a file of `sizeBytes` zeros; it and its name are on the disk on
   * return.
   */
  createNow(path: string, sizeBytes: number): SyncedFile;
  /** The same, in the background. When it fails no file is left. */
  create(
    path: string,
    sizeBytes: number,
    done: (error: Error | undefined, file?: SyncedFile) => void,
  ): void;
  /**
   * Puts a small file in place of another or of none: on the disk on return,
   * whole or not at all.
   */
  replace(path: string, bytes: Uint8Array): void;
  /**
   * Moves a directory to where there is none, or an empty one: on the disk on
   * return, whole or not at all.
   */
  moveDirectory(from: string, to: string): void;
  /**
   * Begins to remove a file, after those begun before. A crash may bring any of
   * them back.
   */
  remove(path: string): void;
  /**
   * Removes a file, or a directory with its contents, if it exists. A crash may
   * bring it back.
   */
  removeNow(path: string): void;
}

/** When to do what is not done at once. */
export interface Timing {
  /** After the input that is being handled. */
  soon(run: () => void): void;
  /** After other work that waits. */
  later(run: () => void): void;
  afterMs(delayMs: number, run: () => void): void;
}

export function isNoSpace(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Marks an error as fenced: another process has taken the directory over, so
 * nothing in flight will ever count.
 */
export function markFenced<E extends Error>(error: E): E {
  return Object.assign(error, { isFenced: true });
}

export function isFenced(error: Error): boolean {
  return 'isFenced' in error && error.isFenced === true;
}
