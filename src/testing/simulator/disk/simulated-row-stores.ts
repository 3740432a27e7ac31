/**
 * The stores of rows of a simulated disk, by folder. They crash, fill up, move and are damaged with
 * the files beside them.
 */
import type {
  RowReader,
  RowStore,
  RowStores,
} from '../../../server/node/storage/rows/row-store.ts';
import type { Random } from '../../../server/service/collections/random.ts';
import type { Timeline } from '../timeline.ts';
import type { Damage } from './disk-damage.ts';
import { SimulatedRowDisk, type RowEntries } from './simulated-row-disk.ts';

/** The entries of stores by their folders. */
export type RowContents = ReadonlyMap<string, RowEntries>;

export interface SimulatedRowStoresOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  /** The mean of each of the two times of a commit. */
  readonly commitMeanMs: number;
  /** Returns why the disk takes no changes at this time. */
  getRefusal(): Error | undefined;
  createDisk: typeof createRowDisk;
}

export function createRowDisk(
  ...args: ConstructorParameters<typeof SimulatedRowDisk>
): SimulatedRowDisk {
  return new SimulatedRowDisk(...args);
}

export class SimulatedRowStores implements RowStores {
  readonly #options: SimulatedRowStoresOptions;
  readonly #disks = new Map<string, SimulatedRowDisk>();
  /** Stores whose removal is not durable yet. */
  readonly #removing = new Map<string, RowEntries>();
  /** The commits of stores that are gone. */
  #lostCommits = 0;
  #keptCommits = 0;
  #mounts = 0;

  constructor(options: SimulatedRowStoresOptions) {
    this.#options = options;
  }

  /** The commits that crashes lost, and kept, although they were not synced. */
  get lostCommits(): number {
    return this.#sum(this.#lostCommits, ({ lostCommits }) => lostCommits);
  }

  get keptCommits(): number {
    return this.#sum(this.#keptCommits, ({ keptCommits }) => keptCommits);
  }

  /** Whether a read may find a damaged entry. */
  get isDamaged(): boolean {
    return [...this.#disks.values()].some(({ isDamaged }) => isDamaged);
  }

  get folders(): readonly string[] {
    return [...this.#disks.keys()];
  }

  /** Stores that were opened before have no effect any more. */
  mount(): void {
    this.#mounts += 1;
    for (const disk of this.#disks.values()) disk.crash();
  }

  open(folder: string, done: (error: Error | undefined, store?: RowStore) => void): void {
    this.#later(() => {
      const refusal = this.#options.getRefusal();
      if (refusal !== undefined) done(refusal);
      else done(undefined, this.openNow(folder));
    });
  }

  remove(folder: string, done: (error: Error | undefined) => void): void {
    this.#later(() => {
      const refusal = this.#options.getRefusal();
      if (refusal === undefined) this.beginToRemove(folder);
      done(refusal);
    });
  }

  /** Opens the store in a folder, which is created if it does not exist. */
  openNow(folder: string): RowStore {
    this.#removing.delete(folder);
    let disk = this.#disks.get(folder);
    if (disk === undefined) {
      disk = this.#create();
      this.#disks.set(folder, disk);
    }
    checkClosed(folder, disk);
    return disk.open();
  }

  /** Reads what is synced of the store in a folder, if there is one. */
  getReader(folder: string): RowReader | undefined {
    return this.#disks.get(folder)?.reader;
  }

  /** Moves the stores in a folder and below it. */
  move(from: string, to: string): void {
    for (const folder of this.#findBelow(from)) {
      const disk = this.#disks.get(folder) as SimulatedRowDisk;
      checkClosed(folder, disk);
      this.#disks.delete(folder);
      this.#disks.set(`${to}${folder.slice(from.length)}`, disk);
    }
  }

  /**
   * Removes the stores in a folder and below it from view. Until the removal is durable, a crash
   * may restore them, or a part of their entries.
   */
  beginToRemove(path: string): void {
    const { timeline, random, commitMeanMs } = this.#options;
    for (const folder of this.#findBelow(path)) {
      const disk = this.#disks.get(folder) as SimulatedRowDisk;
      checkClosed(folder, disk);
      const { entries } = disk;
      this.#forget(folder);
      this.#removing.set(folder, entries);
      timeline.schedule(random.exponential(commitMeanMs), () => {
        if (this.#removing.get(folder) === entries) this.#removing.delete(folder);
      });
    }
  }

  crash(): void {
    const { random } = this.#options;
    this.mount();
    for (const [folder, entries] of this.#removing)
      if (random.chance(0.5)) this.#disks.set(folder, this.#create(this.#drawPart(entries)));
    this.#removing.clear();
  }

  /** Another process has taken the disk over, which has refused all changes since. */
  depose(): void {
    for (const disk of this.#disks.values()) disk.endCommit();
  }

  /** Copies all stores, as before a damage that no read has found yet. */
  copy(): RowContents {
    return new Map([...this.#disks].map(([folder, { wholeEntries }]) => [folder, wholeEntries]));
  }

  /** Replaces all stores while none is open. */
  put(contents: RowContents): void {
    for (const folder of this.#disks.keys()) this.#forget(folder);
    this.#removing.clear();
    for (const [folder, entries] of contents) this.#disks.set(folder, this.#create(entries));
  }

  /** Restores the damaged entries that were not written since. */
  repair(): void {
    for (const disk of this.#disks.values()) disk.repair();
  }

  /**
   * Damages one store. Returns `undefined` if that is not possible.
   *
   * @param old an earlier version of the stores
   */
  damage(old: RowContents): Damage['kind'] | undefined {
    const { random } = this.#options;
    const [first, ...others] = this.folders.filter(
      (folder) => (this.#disks.get(folder)?.entries.size ?? 0) > 0,
    );
    if (first === undefined) return undefined;
    const folder = random.pick([first, ...others]);
    const disk = this.#disks.get(folder) as SimulatedRowDisk;
    const names = [...disk.entries.keys()];
    const name = names[random.between(0, names.length - 1)] as string;
    const kind = random.pick(['lost', 'flipped', 'old'] as const);
    if (kind === 'flipped') disk.flipEntry(name, random.between(0, MAX_BIT));
    else if (kind === 'old') return this.#bringBack(folder, old.get(folder));
    else if (random.chance(0.1)) this.#forget(folder);
    else disk.loseEntry(name);
    return kind;
  }

  #bringBack(folder: string, old: RowEntries | undefined): 'old' | undefined {
    if (old === undefined || old === this.#disks.get(folder)?.entries) return undefined;
    this.#forget(folder);
    this.#disks.set(folder, this.#create(old));
    return 'old';
  }

  #create(entries?: RowEntries): SimulatedRowDisk {
    const { timeline, random, commitMeanMs, getRefusal, createDisk } = this.#options;
    return createDisk({ timeline, random, syncMeanMs: commitMeanMs, getRefusal }, entries);
  }

  #forget(folder: string): void {
    const { lostCommits = 0, keptCommits = 0 } = this.#disks.get(folder) ?? {};
    this.#lostCommits += lostCommits;
    this.#keptCommits += keptCommits;
    this.#disks.delete(folder);
  }

  /** Returns all entries, or some of them. */
  #drawPart(entries: RowEntries): RowEntries {
    const { random } = this.#options;
    if (random.chance(0.5)) return entries;
    return new Map([...entries].filter(() => random.chance(0.5)));
  }

  /** Returns the folders of the stores in a folder or below it. */
  #findBelow(path: string): string[] {
    return this.folders.filter((folder) => folder === path || folder.startsWith(`${path}/`));
  }

  #sum(gone: number, count: (disk: SimulatedRowDisk) => number): number {
    return [...this.#disks.values()].reduce((total, disk) => total + count(disk), gone);
  }

  /** Calls `run` after a time of the disk, unless it is mounted again before. */
  #later(run: () => void): void {
    const { timeline, random, commitMeanMs } = this.#options;
    const mount = this.#mounts;
    timeline.schedule(random.exponential(commitMeanMs), () => {
      if (mount === this.#mounts) run();
    });
  }
}

/** Values are shorter. */
const MAX_BIT = 2 ** 20;

/** An engine locks its folder, and does not expect that its files move. */
function checkClosed(folder: string, { isOpen }: SimulatedRowDisk): void {
  if (isOpen) throw new Error(`the store in ${folder} is still open`);
}
