/**
 * A disk that loses unsynced writes at a crash, or some sectors of them. The storage of production
 * runs on it.
 */
import {
  markFenced,
  type Files,
  type SyncedFile,
} from '../../../server/node/storage/disk/files.ts';
import { drawDamage, type Damage } from './disk-damage.ts';
import type { Random } from '../../../server/service/collections/random.ts';
import type { Timeline } from '../timeline.ts';

export interface SimulatedDiskOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly syncMeanMs: number;
  /**
   * The share of small writes that are durable, and are reported so, before the call returns.
   * Default: 0
   */
  readonly instantShare?: number;
  /** The chance that a crash is followed by damage to files. Default: 0 */
  readonly damageChance?: number;
}

interface PendingWrite {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly position: number;
}

type OnWriteDone = (error: Error | undefined) => void;

const SECTOR_BYTES = 512;
const MAX_SMALL_WRITE_BYTES = SECTOR_BYTES;

export class SimulatedDisk {
  isFull = false;
  /** The number of writes of which a crash kept some sectors and lost others. */
  tornWrites = 0;
  /** The damages to files beside crashes, by kind. */
  readonly damages: Record<Damage['kind'], number> = {
    lost: 0,
    flipped: 0,
    old: 0,
  };
  readonly options: SimulatedDiskOptions;
  readonly #files = new Map<string, Uint8Array>();
  readonly #unsynced = new Set<PendingWrite>();
  /** Files whose removal is not durable yet. */
  readonly #removing = new Map<string, Uint8Array>();
  #mounts = 0;
  /** Whether another process has taken over the files of the present mount. */
  isDeposed = false;
  #undamagedFiles: Map<string, Uint8Array> | undefined;
  /** The files at the previous crash. */
  #previousFiles: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(options: SimulatedDiskOptions) {
    this.options = options;
  }

  /**
   * Returns the disk for one start of the site. After the next crash this mount has no effect any
   * more.
   */
  mount(): Files {
    this.#mounts += 1;
    this.isDeposed = false;
    const mount = this.#mounts;
    const isMounted = (): boolean => mount === this.#mounts;
    const make = (path: string, sizeBytes: number): SyncedFile => {
      if (this.isDeposed) throw markFenced(new Error('taken over'));
      this.make(path, sizeBytes);
      return {
        write: (bytes, position, done) => {
          if (isMounted()) this.write({ path, bytes: bytes.slice(), position }, isMounted, done);
        },
        close: () => {},
      };
    };
    const remove = (path: string): void => {
      if (isMounted() && !this.isDeposed) this.beginToRemove(path);
    };
    return {
      list: (folder) => this.list(folder),
      read: (path) => this.read(path),
      readPart: (path, position, length) => this.read(path).subarray(position, position + length),
      makeDirectory: () => {},
      createNow: make,
      create: (path, sizeBytes, done) =>
        this.afterSync(() => {
          if (!isMounted()) return;
          let file: SyncedFile;
          try {
            file = make(path, sizeBytes);
          } catch (error) {
            return done(error as Error);
          }
          done(undefined, file);
        }),
      replace: (path, bytes) => {
        make(path, bytes.length);
        this.write({ path, bytes, position: 0 }, isMounted, () => {});
      },
      moveDirectory: (from, to) => {
        if (!isMounted()) return;
        if (this.isDeposed) throw markFenced(new Error('taken over'));
        this.move(from, to);
      },
      remove,
      removeNow: remove,
    };
  }

  /**
   * Another process takes the disk over. Calls through the present mount have no effect, and report
   * that.
   */
  depose(): void {
    this.isDeposed = true;
    this.#unsynced.clear();
  }

  /** Loses unsynced data, completely or in part. */
  crash(): void {
    this.#mounts += 1;
    for (const [path, bytes] of this.#removing) {
      if (this.options.random.chance(0.5)) this.#files.set(path, bytes);
    }
    this.#removing.clear();
    if (!this.isDeposed) for (const write of this.#unsynced) this.#tear(write);
    this.#unsynced.clear();
    const { damageChance = 0, random } = this.options;
    if (damageChance > 0 && random.chance(damageChance)) this.#damage();
    if (damageChance > 0) this.#previousFiles = copyFiles(this.#undamagedFiles ?? this.#files);
  }

  /** The disk before it was damaged, read-only. `undefined` if it is not damaged. */
  get openUndamaged(): Files | undefined {
    const whole = this.#undamagedFiles;
    if (whole === undefined) return undefined;
    const disk = new SimulatedDisk(this.options);
    for (const [path, bytes] of whole) disk.put(path, bytes);
    return disk.mount();
  }

  /** Restores the files from before the damage, as from a backup. */
  restoreBackup(): void {
    if (this.#undamagedFiles !== undefined) this.putFiles(this.#undamagedFiles);
    this.#undamagedFiles = undefined;
  }

  /** Returns the present files, as a backup of the running site would have them. */
  copyFiles(): ReadonlyMap<string, Uint8Array> {
    return copyFiles(this.#files);
  }

  /** Replaces all files by such a copy while no site runs on the disk. */
  putFiles(files: ReadonlyMap<string, Uint8Array>): void {
    this.#files.clear();
    this.#removing.clear();
    for (const [path, bytes] of copyFiles(files)) this.#files.set(path, bytes);
  }

  /** Continues with the damaged files. Returns those from before, if there are such. */
  acceptDamage(): Files | undefined {
    const undamaged = this.openUndamaged;
    this.#undamagedFiles = undefined;
    return undamaged;
  }

  #damage(): void {
    const damaged = drawDamage(
      toFileNames(this.#files),
      toFileNames(this.#previousFiles),
      this.options.random,
    );
    if (damaged === undefined) return;
    this.#undamagedFiles = copyFiles(this.#files);
    this.damages[damaged.kind] += 1;
    for (const path of this.#undamagedFiles.keys()) {
      const name = getFileName(path);
      if (!damaged.changed.has(name)) continue;
      const bytes = damaged.changed.get(name);
      if (bytes === undefined) this.#files.delete(path);
      else this.#files.set(path, bytes);
    }
  }

  list(folder: string): readonly string[] {
    return [...this.#files.keys()].flatMap((path) =>
      path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [],
    );
  }

  read(path: string): Uint8Array {
    return (this.#files.get(path) ?? new Uint8Array()).slice();
  }

  make(path: string, sizeBytes: number): void {
    if (this.isFull) throw createNoSpaceError();
    this.#removing.delete(path);
    this.#files.set(path, new Uint8Array(sizeBytes));
  }

  /** Replaces the bytes of a file, for tests of damage. */
  put(path: string, bytes: Uint8Array): void {
    this.#files.set(path, bytes);
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  /** Moves all files of a directory to another one. */
  move(from: string, to: string): void {
    if (this.isFull) throw createNoSpaceError();
    for (const path of this.#findBelow(from)) {
      this.#files.set(`${to}${path.slice(from.length)}`, this.#files.get(path) as Uint8Array);
      this.#files.delete(path);
    }
  }

  /** Returns the files with this name or in this directory. */
  #findBelow(path: string): string[] {
    return [...this.#files.keys()].filter((file) => file === path || file.startsWith(`${path}/`));
  }

  /** Removes the file from view. Until the removal is durable, a crash may restore it. */
  beginToRemove(path: string): void {
    for (const file of this.#findBelow(path)) this.#beginToRemoveFile(file);
  }

  #beginToRemoveFile(path: string): void {
    const bytes = this.#files.get(path) as Uint8Array;
    this.#files.delete(path);
    this.#removing.set(path, bytes);
    this.afterSync(() => {
      if (this.#removing.get(path) === bytes) this.#removing.delete(path);
    });
  }

  /** Calls `run` after a time of the disk. */
  afterSync(run: () => void): void {
    this.options.timeline.schedule(this.options.random.exponential(this.options.syncMeanMs), run);
  }

  write(write: PendingWrite, isMounted: () => boolean, done: OnWriteDone): void {
    const { instantShare = 0, random } = this.options;
    if (
      instantShare > 0 &&
      write.bytes.length <= MAX_SMALL_WRITE_BYTES &&
      random.chance(instantShare)
    ) {
      return this.#sync(write, isMounted, done);
    }
    this.#unsynced.add(write);
    this.afterSync(() => {
      const wasDeposed = this.isDeposed && isMounted();
      if (this.#unsynced.delete(write) || wasDeposed) this.#sync(write, isMounted, done);
    });
    this.onWritten(done);
  }

  /** Called when data was written that is not synced yet. */
  onWritten(_done: OnWriteDone): void {}

  synced(error: Error | undefined, done: OnWriteDone): void {
    done(error);
  }

  #sync(write: PendingWrite, isMounted: () => boolean, done: OnWriteDone): void {
    const isLonger =
      write.position + write.bytes.length > (this.#files.get(write.path)?.length ?? 0);
    const isDeposed = this.isDeposed && isMounted();
    const error = isDeposed
      ? markFenced(new Error('taken over'))
      : isLonger && this.isFull
        ? createNoSpaceError()
        : undefined;
    if (error === undefined) this.#store(write, 0, write.bytes.length);
    if (isMounted()) this.synced(error, done);
  }

  #tear(write: PendingWrite): void {
    const { random } = this.options;
    const keepChance = random.pick([0, 0, 0.5, 1]);
    if (keepChance === 0.5) this.tornWrites += 1;
    for (let start = 0; start < write.bytes.length;) {
      const sector = Math.floor((write.position + start) / SECTOR_BYTES) + 1;
      const end = Math.min(write.bytes.length, sector * SECTOR_BYTES - write.position);
      if (random.chance(keepChance)) this.#store(write, start, end);
      start = end;
    }
  }

  #store({ path, bytes, position }: PendingWrite, start: number, end: number): void {
    const old = this.#files.get(path);
    if (old === undefined) return;
    let file = old;
    if (position + end > old.length) {
      file = new Uint8Array(position + end);
      file.set(old);
      this.#files.set(path, file);
    }
    file.set(bytes.subarray(start, end), position + start);
  }
}

function copyFiles(files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
  return new Map([...files].map(([path, bytes]) => [path, bytes.slice()]));
}

/** The disk of a site has one directory. */
function toFileNames(files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
  return new Map([...files].map(([path, bytes]) => [getFileName(path), bytes]));
}

function getFileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function createNoSpaceError(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), {
    code: 'ENOSPC',
  });
}
