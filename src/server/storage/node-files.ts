/** The file system of this machine. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { DiskPace } from './disk-pace.ts';
import type { Files, SyncedFile, Timing } from './files.ts';

const { O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = fs.constants;
/** Windows has no O_DSYNC; there each write is followed by a sync. */
const HAS_DSYNC = typeof O_DSYNC === 'number';
const FLAGS = O_CREAT | O_EXCL | O_RDWR | (HAS_DSYNC ? O_DSYNC : 0);
const ZEROS = new Uint8Array(1024 * 1024);
/** Some seven operations: with more there is enough to do meanwhile. */
const SMALL_BYTES = 512;

/** How files are written. */
export interface NodeFilesOptions {
  /**
   * Whether small blocks are written by the thread that asks for it, while the disk is quick and nothing else is being
   * written: to hand them to another thread and be told takes nearly as long as such a write. For folders of one log,
   * since what is written so is written one after the other.
   */
  readonly writesSmallInThread?: boolean;
  /** The time in milliseconds since any moment. */
  readonly now?: () => number;
}

/** The files below one folder. */
export class NodeFiles implements Files {
  readonly #root: string;
  readonly #pace: DiskPace;
  readonly #inThreadBytes: number;

  constructor(root: string, options: NodeFilesOptions = {}) {
    const { writesSmallInThread = false, now = () => performance.now() } = options;
    this.#root = root;
    this.#pace = new DiskPace(now);
    this.#inThreadBytes = writesSmallInThread ? SMALL_BYTES : 0;
  }

  list(folder: string): readonly string[] {
    const path = join(this.#root, folder);
    return fs.existsSync(path) ? fs.readdirSync(path) : [];
  }

  read(path: string): Uint8Array {
    return fs.readFileSync(join(this.#root, path));
  }

  makeFolder(path: string): void {
    const folder = join(this.#root, path);
    fs.mkdirSync(folder, { recursive: true });
    syncFolder(dirname(folder));
  }

  createNow(path: string, sizeBytes: number): SyncedFile {
    const full = join(this.#root, path);
    const descriptor = fs.openSync(full, FLAGS & ~(HAS_DSYNC ? O_DSYNC : 0));
    try {
      for (let length = 0; length < sizeBytes;) {
        length += fs.writeSync(descriptor, ZEROS, 0, Math.min(ZEROS.length, sizeBytes - length));
      }
      fs.fsyncSync(descriptor);
      fs.closeSync(descriptor);
      syncFolder(dirname(full));
      return this.#open(full);
    } catch (error) {
      fs.rmSync(full, { force: true });
      throw error;
    }
  }

  create(path: string, sizeBytes: number, done: (error: Error | undefined, file?: SyncedFile) => void): void {
    const full = join(this.#root, path);
    createInBackground(full, sizeBytes, () => this.#open(full)).then(
      (file) => done(undefined, file),
      (error: Error) => done(error),
    );
  }

  replace(path: string, bytes: Uint8Array): void {
    const full = join(this.#root, path);
    const draft = `${full}.new`;
    fs.writeFileSync(draft, bytes, { flush: true, mode: 0o600 });
    fs.renameSync(draft, full);
    syncFolder(dirname(full));
  }

  remove(path: string): void {
    // One that cannot be removed only takes room, and is seen again at the next start.
    fs.rm(join(this.#root, path), { force: true }, ignore);
  }

  #open(path: string): SyncedFile {
    const descriptor = fs.openSync(path, FLAGS & ~(O_CREAT | O_EXCL));
    return new NodeFile(descriptor, this.#pace, this.#inThreadBytes);
  }
}

class NodeFile implements SyncedFile {
  readonly #descriptor: number;
  readonly #pace: DiskPace;
  /** Blocks of so many bytes at most may be written in the thread that asks for it. */
  readonly #inThreadBytes: number;
  #writes = 0;
  #isClosed = false;

  constructor(descriptor: number, pace: DiskPace, inThreadBytes: number) {
    this.#descriptor = descriptor;
    this.#pace = pace;
    this.#inThreadBytes = inThreadBytes;
  }

  write(bytes: Uint8Array, position: number, done: (error: Error | undefined) => void): void {
    const isInThread = bytes.length <= this.#inThreadBytes && this.#writes === 0 && this.#pace.isQuick;
    const begunAtMs = this.#pace.begin();
    if (isInThread) {
      const error = this.#writeNow(bytes, position);
      this.#pace.end(begunAtMs);
      return done(error);
    }
    this.#writes += 1;
    this.#writeFrom(bytes, 0, position, (error) => {
      this.#writes -= 1;
      this.#pace.end(begunAtMs);
      if (this.#isClosed && this.#writes === 0) fs.close(this.#descriptor, ignore);
      done(error ?? undefined);
    });
  }

  /** A descriptor that is being written is closed after that. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#writes === 0) fs.close(this.#descriptor, ignore);
  }

  #writeNow(bytes: Uint8Array, position: number): Error | undefined {
    try {
      for (let start = 0; start < bytes.length;) {
        start += fs.writeSync(this.#descriptor, bytes, start, bytes.length - start, position + start);
      }
      if (!HAS_DSYNC) fs.fdatasyncSync(this.#descriptor);
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #writeFrom(bytes: Uint8Array, start: number, position: number, done: (error: Error | null) => void): void {
    fs.write(this.#descriptor, bytes, start, bytes.length - start, position + start, (error, written) => {
      if (error !== null) done(error);
      else if (start + written < bytes.length) this.#writeFrom(bytes, start + written, position, done);
      else if (HAS_DSYNC) done(null);
      else fs.fdatasync(this.#descriptor, done);
    });
  }
}

function ignore(): void {}

async function createInBackground(path: string, sizeBytes: number, open: () => SyncedFile): Promise<SyncedFile> {
  try {
    const file = await fs.promises.open(path, O_CREAT | O_EXCL | O_RDWR);
    try {
      for (let length = 0; length < sizeBytes;) {
        // A disk that is nearly full takes a part.
        length += (await file.write(ZEROS, 0, Math.min(ZEROS.length, sizeBytes - length))).bytesWritten;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolderInBackground(dirname(path));
    return open();
  } catch (error) {
    await fs.promises.rm(path, { force: true });
    throw error;
  }
}

/** A new name is on the disk only when its folder is. Windows cannot sync folders and does not need it. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

async function syncFolderInBackground(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await fs.promises.open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The clock and the turns of this process. Waiting keeps no process alive. */
export const nodeTiming: Timing = {
  soon: queueMicrotask,
  later: (run) => void setImmediate(run),
  afterMs: (delayMs, run) => void setTimeout(run, delayMs).unref(),
};
