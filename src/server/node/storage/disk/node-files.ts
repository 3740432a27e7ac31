import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Files, SyncedFile, Timing } from './files.ts';
import { move } from './network-volume.ts';

const { O_CREAT, O_DSYNC, O_EXCL, O_RDWR } = fs.constants;
/** Windows has no O_DSYNC. There, each write is followed by a sync. */
const HAS_DSYNC = typeof O_DSYNC === 'number';
const FLAGS = O_CREAT | O_EXCL | O_RDWR | (HAS_DSYNC ? O_DSYNC : 0);
/** Only the owner may read the files, since entries contain what clients wrote. */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;
/**
 * If the last write took no longer, this thread may do the next one: a switch to another thread
 * takes as long.
 */
const MAX_BLOCKING_MS = 1;
const ZEROS = new Uint8Array(1024 * 1024);

export class NodeFiles implements Files {
  readonly #root: string;
  /** Files that are being created or removed. */
  readonly #pending = new Set<Promise<void>>();
  /** Settles with the last removal. */
  #removals = Promise.resolve();

  constructor(root: string) {
    this.#root = root;
  }

  list(folder: string): readonly string[] {
    const path = join(this.#root, folder);
    return fs.existsSync(path) ? fs.readdirSync(path) : [];
  }

  read(path: string): Uint8Array {
    return fs.readFileSync(join(this.#root, path));
  }

  readPart(path: string, position: number, length: number): Uint8Array {
    const descriptor = fs.openSync(join(this.#root, path), 'r');
    try {
      const bytes = Buffer.allocUnsafe(length);
      let count = 0;
      for (let read = -1; read !== 0 && count < length; count += read) {
        read = fs.readSync(descriptor, bytes, count, length - count, position + count);
      }
      return bytes.subarray(0, count);
    } finally {
      fs.closeSync(descriptor);
    }
  }

  makeDirectory(path: string): void {
    const folder = join(this.#root, path);
    fs.mkdirSync(folder, { recursive: true, mode: DIRECTORY_MODE });
    syncDirectory(dirname(folder));
  }

  createNow(path: string, sizeBytes: number): SyncedFile {
    const full = join(this.#root, path);
    const descriptor = fs.openSync(full, FLAGS & ~(HAS_DSYNC ? O_DSYNC : 0), FILE_MODE);
    try {
      try {
        for (let length = 0; length < sizeBytes;) {
          length += fs.writeSync(descriptor, ZEROS, 0, Math.min(ZEROS.length, sizeBytes - length));
        }
        fs.fsyncSync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
      syncDirectory(dirname(full));
      return this.#open(full);
    } catch (error) {
      fs.rmSync(full, { force: true });
      throw error;
    }
  }

  create(
    path: string,
    sizeBytes: number,
    done: (error: Error | undefined, file?: SyncedFile) => void,
  ): void {
    const full = join(this.#root, path);
    this.#track(
      createInBackground(full, sizeBytes, () => this.#open(full)).then(
        (file) => done(undefined, file),
        (error: Error) => done(error),
      ),
    );
  }

  replace(path: string, bytes: Uint8Array): void {
    const full = join(this.#root, path);
    const draft = `${full}.new`;
    try {
      fs.writeFileSync(draft, bytes, { flush: true, mode: FILE_MODE });
      move(draft, full);
    } catch (error) {
      fs.rmSync(draft, { force: true });
      throw error;
    }
    syncDirectory(dirname(full));
  }

  moveDirectory(from: string, to: string): void {
    const [source, target] = [join(this.#root, from), join(this.#root, to)];
    fs.accessSync(source);
    fs.mkdirSync(dirname(target), { recursive: true, mode: DIRECTORY_MODE });
    move(source, target);
    syncDirectory(dirname(target));
    syncDirectory(dirname(source));
  }

  remove(path: string): void {
    // One after the other, so that a killed process leaves the newest files. A file that cannot be
    // removed only takes room, and the next start finds it.
    this.#removals = this.#removals.then(() =>
      fs.promises.rm(join(this.#root, path), { force: true }).catch(ignore),
    );
    this.#track(this.#removals);
  }

  removeNow(path: string): void {
    try {
      fs.rmSync(join(this.#root, path), { force: true, recursive: true });
    } catch {
      // It only takes room, like a file that `remove` cannot remove.
    }
  }

  /** Whether a file is being created or removed. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /**
   * Resolves when no file is being created or removed. Before that, no other process should use the
   * directory.
   */
  async whenIdle(): Promise<void> {
    while (this.isBusy) await Promise.all(this.#pending);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  #open(path: string): SyncedFile {
    return new NodeFile(path);
  }
}

/**
 * A file with a descriptor for each write in flight: the system reports a disk error only once to
 * each descriptor.
 */
class NodeFile implements SyncedFile {
  readonly #path: string;
  readonly #idle: number[];
  /** Writes for which no descriptor could be opened. */
  readonly #waiting: ((descriptor: number) => void)[] = [];
  #isClosed = false;
  #lastWriteMs = Infinity;

  constructor(path: string) {
    this.#path = path;
    this.#idle = [openToWrite(path)];
  }

  write(
    bytes: Uint8Array,
    position: number,
    done: (error: Error | undefined) => void,
    mayBlock = false,
  ): void {
    const write =
      mayBlock && HAS_DSYNC && this.#lastWriteMs <= MAX_BLOCKING_MS ? writeNow : writeAll;
    const beganAtMs = performance.now();
    this.#take((descriptor) =>
      write(descriptor, bytes, position, (error) => {
        this.#lastWriteMs = performance.now() - beganAtMs;
        this.#release(descriptor);
        done(error ?? undefined);
      }),
    );
  }

  /** A descriptor with a write in flight is closed after that. */
  close(): void {
    this.#isClosed = true;
    for (const descriptor of this.#idle.splice(0)) fs.close(descriptor, ignore);
  }

  #take(use: (descriptor: number) => void): void {
    let descriptor = this.#idle.pop();
    try {
      descriptor ??= openToWrite(this.#path);
    } catch {
      this.#waiting.push(use);
      return;
    }
    use(descriptor);
  }

  #release(descriptor: number): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next(descriptor);
    else if (this.#isClosed) fs.close(descriptor, ignore);
    else this.#idle.push(descriptor);
  }
}

function openToWrite(path: string): number {
  return fs.openSync(path, FLAGS & ~(O_CREAT | O_EXCL));
}

function writeAll(
  descriptor: number,
  bytes: Uint8Array,
  position: number,
  done: (error: Error | null) => void,
): void {
  fs.write(descriptor, bytes, 0, bytes.length, position, (error, written) => {
    if (error !== null) done(error);
    else if (written < bytes.length)
      writeAll(descriptor, bytes.subarray(written), position + written, done);
    else if (HAS_DSYNC) done(null);
    else fs.fdatasync(descriptor, done);
  });
}

/** The same in this thread: it calls `done` before it returns. */
function writeNow(
  descriptor: number,
  bytes: Uint8Array,
  position: number,
  done: (error: Error | null) => void,
): void {
  let problem: Error | null = null;
  try {
    for (let written = 0; written < bytes.length;) {
      written += fs.writeSync(
        descriptor,
        bytes,
        written,
        bytes.length - written,
        position + written,
      );
    }
  } catch (error) {
    problem = error as Error;
  }
  done(problem);
}

function ignore(): void {}

async function createInBackground(
  path: string,
  sizeBytes: number,
  open: () => SyncedFile,
): Promise<SyncedFile> {
  const file = await fs.promises.open(path, O_CREAT | O_EXCL | O_RDWR, FILE_MODE);
  try {
    try {
      for (let length = 0; length < sizeBytes;) {
        // A disk that is nearly full may accept a part only.
        length += (await file.write(ZEROS, 0, Math.min(ZEROS.length, sizeBytes - length)))
          .bytesWritten;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await syncDirectoryInBackground(dirname(path));
    return open();
  } catch (error) {
    await fs.promises.rm(path, { force: true });
    throw error;
  }
}

/**
 * Syncs a directory: a new name is on the disk only after that. Windows cannot do it and does not
 * need it.
 */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

async function syncDirectoryInBackground(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await fs.promises.open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The clock and the event loop of this process. Waiting keeps no process alive. */
export const nodeTiming: Timing = {
  soon: queueMicrotask,
  later: (run) => void setImmediate(run),
  afterMs: (delayMs, run) => void setTimeout(run, delayMs).unref(),
};
