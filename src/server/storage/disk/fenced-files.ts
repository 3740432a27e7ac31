/** Files of a directory: once another process has taken it over, nothing is made or removed, or counts as written. */
import type { Files, SyncedFile } from './files.ts';
import { lockLostError, type DirectoryLock } from './directory-lock.ts';

export class FencedFiles implements Files {
  readonly #files: Files;
  readonly #lock: Pick<DirectoryLock, 'isHeld'>;

  constructor(files: Files, lock: Pick<DirectoryLock, 'isHeld'>) {
    this.#files = files;
    this.#lock = lock;
  }

  list(folder: string): readonly string[] {
    return this.#files.list(folder);
  }

  read(path: string): Uint8Array {
    return this.#files.read(path);
  }

  readPart(path: string, position: number, length: number): Uint8Array {
    return this.#files.readPart(path, position, length);
  }

  makeDirectory(path: string): void {
    this.#files.makeDirectory(path);
  }

  createNow(path: string, sizeBytes: number): SyncedFile {
    this.#check();
    return this.#guard(this.#files.createNow(path, sizeBytes));
  }

  create(path: string, sizeBytes: number, done: (error: Error | undefined, file?: SyncedFile) => void): void {
    if (!this.#lock.isHeld()) return done(lockLostError());
    this.#files.create(path, sizeBytes, (error, file) => done(error, file && this.#guard(file)));
  }

  replace(path: string, bytes: Uint8Array): void {
    this.#check();
    this.#files.replace(path, bytes);
  }

  moveDirectory(from: string, to: string): void {
    this.#check();
    this.#files.moveDirectory(from, to);
  }

  remove(path: string): void {
    if (this.#lock.isHeld()) this.#files.remove(path);
  }

  removeNow(path: string): void {
    if (this.#lock.isHeld()) this.#files.removeNow(path);
  }

  #check(): void {
    if (!this.#lock.isHeld()) throw lockLostError();
  }

  #guard(file: SyncedFile): SyncedFile {
    const lock = this.#lock;
    return {
      write: (bytes, position, done) => {
        const ended = (error: Error | undefined): void => done(error ?? (lock.isHeld() ? undefined : lockLostError()));
        if (lock.isHeld()) file.write(bytes, position, ended);
        else done(lockLostError());
      },
      close: () => file.close(),
    };
  }
}
