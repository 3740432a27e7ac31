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
import { recoverDisk } from './site-directory.ts';
import { createNoSpaceError } from './simulated-row-disk.ts';
import { createRowDisk, SimulatedRowStores, type RowContents } from './simulated-row-stores.ts';
import { Random } from '../../../server/service/collections/random.ts';
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
  /** What the stores of rows draw. Default: a sequence that is always the same */
  readonly rowRandom?: Random;
  /** The mean of each of the two times of a commit of rows. Default: `syncMeanMs` */
  readonly commitMeanMs?: number;
}

/** A copy of the files and the stores of rows. */
export interface DiskContent {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly rows: RowContents;
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
  /** The damages beside crashes to files, and to stores of rows, by kind. */
  readonly damages = createDamageCounts();
  readonly rowDamages = createDamageCounts();
  readonly rows: SimulatedRowStores;
  readonly options: SimulatedDiskOptions;
  readonly #files = new Map<string, Uint8Array>();
  readonly #unsynced = new Set<PendingWrite>();
  /** Files whose removal is not durable yet. */
  readonly #removing = new Map<string, Uint8Array>();
  #mounts = 0;
  /** Whether another process has taken over the files of the present mount. */
  isDeposed = false;
  #undamaged: DiskContent | undefined;
  /** The content at the previous crash. */
  #previous: DiskContent = { files: new Map(), rows: new Map() };
  readonly #rowRandom: Random;

  constructor(options: SimulatedDiskOptions) {
    this.options = options;
    const { timeline, rowRandom = new Random(0), syncMeanMs, commitMeanMs = syncMeanMs } = options;
    this.#rowRandom = rowRandom;
    this.rows = new SimulatedRowStores({
      timeline,
      random: rowRandom,
      commitMeanMs,
      getRefusal: () => this.#getRefusal(),
      createDisk: (...args) => this.createRowDisk(...args),
    });
  }

  /** Creates what stays of a store of rows. */
  createRowDisk(...args: Parameters<typeof createRowDisk>): ReturnType<typeof createRowDisk> {
    return createRowDisk(...args);
  }

  /**
   * Returns the disk for one start of the site. After the next crash this mount has no effect any
   * more.
   */
  mount(): Files {
    this.#mounts += 1;
    this.rows.mount();
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
    this.rows.depose();
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
    this.rows.crash();
    const { damageChance = 0, random } = this.options;
    if (damageChance > 0 && random.chance(damageChance)) this.#damage();
    if (damageChance > 0) this.#previous = this.#undamaged ?? this.copyContent();
  }

  /** A copy of the disk before it was damaged. `undefined` if it is not damaged. */
  get undamaged(): SimulatedDisk | undefined {
    if (this.#undamaged === undefined) return undefined;
    const disk = new SimulatedDisk(this.options);
    disk.putContent(this.#undamaged);
    return disk;
  }

  /** Restores the content from before the damage, as from a backup. */
  restoreBackup(): void {
    if (this.#undamaged !== undefined) this.putContent(this.#undamaged);
    this.#undamaged = undefined;
  }

  /** Returns the present content, as a backup of the running site would have it. */
  copyContent(): DiskContent {
    return { files: copyFiles(this.#files), rows: this.rows.copy() };
  }

  /** Replaces all content by such a copy while no site runs on the disk. */
  putContent({ files, rows }: DiskContent): void {
    this.#files.clear();
    this.#removing.clear();
    for (const [path, bytes] of copyFiles(files)) this.#files.set(path, bytes);
    this.rows.put(rows);
  }

  /** Continues with the damaged content. Returns a disk from before, if there is one. */
  acceptDamage(): SimulatedDisk | undefined {
    const { undamaged } = this;
    this.#undamaged = undefined;
    return undamaged;
  }

  /** Damages the stores of rows, or else a file. */
  #damage(): void {
    // No start has found the damage before, and nothing else did.
    this.rows.repair();
    const before = this.copyContent();
    const damage = this.#rowRandom.pick([
      () => this.#damageRows(),
      () => this.#damageRows(),
      () => this.#damageFile(),
      () => this.#bringLogsBack(),
    ]);
    if (damage()) this.#undamaged = before;
  }

  #damageRows(): boolean {
    const kind = this.rows.damage(this.#previous.rows);
    if (kind !== undefined) this.rowDamages[kind] += 1;
    return kind !== undefined;
  }

  /**
   * Brings all files back as they were at the previous crash, below newer rows. Only the rows show
   * that, so it is done only if they have entries that these logs lack.
   */
  #bringLogsBack(): boolean {
    const { files } = this.#previous;
    const disk = new SimulatedDisk(this.options);
    disk.putContent({ files, rows: this.rows.copy() });
    if (isAccepted(disk)) return false;
    this.#files.clear();
    for (const [path, bytes] of copyFiles(files)) this.#files.set(path, bytes);
    this.damages.old += 1;
    return true;
  }

  #damageFile(): boolean {
    const damaged = drawDamage(
      toFileNames(this.#files),
      toFileNames(this.#previous.files),
      this.options.random,
    );
    if (damaged === undefined) return false;
    this.damages[damaged.kind] += 1;
    for (const path of this.#files.keys()) {
      if (getFileName(path) !== damaged.name) continue;
      if (damaged.bytes === undefined) this.#files.delete(path);
      else this.#files.set(path, damaged.bytes);
    }
    return true;
  }

  list(folder: string): readonly string[] {
    return [...this.#files.keys(), ...this.rows.folders].flatMap((path) =>
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

  /** Moves all files and stores of a directory to another one. */
  move(from: string, to: string): void {
    if (this.isFull) throw createNoSpaceError();
    this.rows.move(from, to);
    for (const path of this.#findBelow(from)) {
      this.#files.set(`${to}${path.slice(from.length)}`, this.#files.get(path) as Uint8Array);
      this.#files.delete(path);
    }
  }

  /** Returns the files with this name or in this directory. */
  #findBelow(path: string): string[] {
    return [...this.#files.keys()].filter((file) => file === path || file.startsWith(`${path}/`));
  }

  /**
   * Removes a file or a directory from view. Until the removal is durable, a crash may restore
   * parts of it.
   */
  beginToRemove(path: string): void {
    this.rows.beginToRemove(path);
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

  /** Returns why commits of rows fail. */
  #getRefusal(): Error | undefined {
    if (this.isDeposed) return markFenced(new Error('taken over'));
    return this.isFull ? createNoSpaceError() : undefined;
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

function isAccepted(disk: SimulatedDisk): boolean {
  try {
    recoverDisk(disk);
    return true;
  } catch {
    return false;
  }
}

function createDamageCounts(): Record<Damage['kind'], number> {
  return { lost: 0, flipped: 0, old: 0 };
}
