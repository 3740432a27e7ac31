/** A store of rows in memory, on a disk that loses what is not synced, fills up and is damaged. */
import type { Random } from '../../../src/server/service/collections/random.ts';
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import type { EntryKey, RowBatch, RowSnapshot, RowStore } from './row-store.ts';

type Entries = ReadonlyMap<string, Uint8Array>;

export interface SimulatedRowDiskOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  /** The mean time until a commit is visible, and the mean time from then until it is synced. */
  readonly syncMeanMs: number;
}

/** What stays of a store between its starts. */
export class SimulatedRowDisk {
  /** Whether commits fail for lack of room. */
  isFull = false;
  readonly #options: SimulatedRowDiskOptions;
  #synced: Entries = new Map();
  /** The visible entries of a commit that is not synced. */
  #unsynced: Entries | undefined;
  /** The entries before the last synced commit. */
  #previous: Entries = new Map();
  #mounts = 0;

  constructor(options: SimulatedRowDiskOptions) {
    this.#options = options;
  }

  /** Opens the store. A store that was opened before has no effect any more. */
  open(): RowStore {
    this.#mounts += 1;
    const mount = this.#mounts;
    let isClosed = false;
    const isOpen = (): boolean => !isClosed && mount === this.#mounts;
    const check = (): void => {
      if (!isOpen()) throw new Error('the store is closed');
    };
    return {
      get: (key) => {
        check();
        return copy(this.#visible.get(toName(key)));
      },
      commit: (batch, done) => {
        check();
        this.#commit(batch, isOpen, done);
      },
      openSnapshot: () => {
        check();
        return createSnapshot(this.#visible);
      },
      close: () => {
        isClosed = true;
        return Promise.resolve();
      },
    };
  }

  /** Ends the process. Of a commit that is visible and not synced all is lost, or nothing. */
  crash(): void {
    this.#mounts += 1;
    if (this.#unsynced !== undefined && this.#options.random.chance(0.5)) this.#sync();
    this.#unsynced = undefined;
  }

  /** Damages an entry, so that it is not there. Says nothing, as engines do. */
  lose(key: EntryKey): void {
    const entries = new Map(this.#synced);
    entries.delete(toName(key));
    this.#synced = entries;
  }

  /** Damages one bit of an entry that exists. */
  flip(key: EntryKey, bit: number): void {
    const bytes = Uint8Array.from(this.#synced.get(toName(key)) ?? []);
    const place = (bit >>> 3) % bytes.length;
    bytes[place] = (bytes[place] ?? 0) ^ (1 << (bit & 7));
    this.#synced = new Map(this.#synced).set(toName(key), bytes);
  }

  /** Brings back the entries from before the last commit, as of an old copy of the disk. */
  restoreOld(): void {
    this.#synced = this.#previous;
  }

  get #visible(): Entries {
    return this.#unsynced ?? this.#synced;
  }

  #commit(
    { puts, removals }: RowBatch,
    isOpen: () => boolean,
    done: (error: Error | undefined) => void,
  ): void {
    const { timeline, random, syncMeanMs } = this.#options;
    const after = (run: () => void): void =>
      timeline.schedule(random.exponential(syncMeanMs), () => {
        if (isOpen()) run();
      });
    after(() => {
      if (this.isFull)
        return done(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
      const entries = new Map(this.#synced);
      for (const key of removals) entries.delete(toName(key));
      for (const [key, value] of puts) entries.set(toName(key), Uint8Array.from(value));
      this.#unsynced = entries;
      after(() => {
        this.#sync();
        done(undefined);
      });
    });
  }

  #sync(): void {
    this.#previous = this.#synced;
    this.#synced = this.#visible;
    this.#unsynced = undefined;
  }
}

function createSnapshot(entries: Entries): RowSnapshot {
  let opened: Entries | undefined = entries;
  return {
    get: (key) => {
      if (opened === undefined) throw new Error('the snapshot is closed');
      return copy(opened.get(toName(key)));
    },
    close: () => {
      opened = undefined;
    },
  };
}

function toName(key: EntryKey): string {
  return Buffer.from(key).toString('latin1');
}

/** A reader may change what it gets. */
function copy(value: Uint8Array | undefined): Uint8Array | undefined {
  return value && Uint8Array.from(value);
}
