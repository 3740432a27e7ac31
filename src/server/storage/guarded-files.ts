/**
 * Files of a folder that somebody else may have taken over while this process was held up: nothing counts as written, and
 * nothing is removed, once that has happened.
 */
import type { Files, SyncedFile } from './files.ts';
import type { FolderLock } from './folder-lock.ts';

/** Files below a folder whose lock is asked first. */
export class GuardedFiles implements Files {
  readonly #files: Files;
  readonly #lock: Pick<FolderLock, 'isHeld'>;

  constructor(files: Files, lock: Pick<FolderLock, 'isHeld'>) {
    this.#files = files;
    this.#lock = lock;
  }

  list(folder: string): readonly string[] {
    return this.#files.list(folder);
  }

  read(path: string): Uint8Array {
    return this.#files.read(path);
  }

  makeFolder(path: string): void {
    this.#files.makeFolder(path);
  }

  createNow(path: string, sizeBytes: number): SyncedFile {
    return this.#guard(this.#files.createNow(path, sizeBytes));
  }

  create(path: string, sizeBytes: number, done: (error: Error | undefined, file?: SyncedFile) => void): void {
    this.#files.create(path, sizeBytes, (error, file) => done(error, file && this.#guard(file)));
  }

  replace(path: string, bytes: Uint8Array): void {
    this.#files.replace(path, bytes);
  }

  remove(path: string): void {
    if (this.#lock.isHeld()) this.#files.remove(path);
  }

  #guard(file: SyncedFile): SyncedFile {
    const lock = this.#lock;
    return {
      write: (bytes, position, done, mayBlock) => {
        const ended = (error: Error | undefined): void => done(error ?? (lock.isHeld() ? undefined : takenOver()));
        if (lock.isHeld()) file.write(bytes, position, ended, mayBlock);
        else done(takenOver());
      },
      close: () => file.close(),
    };
  }
}

function takenOver(): Error {
  return new Error('another process has taken the data folder over');
}
