/** A store of rows in memory, on a disk that loses what is not synced, fills up and is damaged. */
import type { Random } from '../../../server/service/collections/random.ts';
import type { Timeline } from '../timeline.ts';
import type {
  EntryKey,
  RowReader,
  RowSnapshot,
  RowStore,
} from '../../../server/node/storage/rows/row-store.ts';

/** The entries of a store by their keys, which are in the form of `toName`. */
export type RowEntries = ReadonlyMap<string, Uint8Array>;

export interface SimulatedRowDiskOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  /** The mean time until a commit is visible, and the mean time from then until it is synced. */
  readonly syncMeanMs: number;
  /** Returns why the disk takes no commits at this time, beside lack of room. */
  getRefusal?(): Error | undefined;
}

/** The new values of entries. Without one, the entry is removed. */
type Changes = Map<string, Uint8Array | undefined>;

/** A commit that is visible and not synced. */
interface UnsyncedCommit {
  readonly entries: RowEntries;
  readonly names: readonly string[];
}

type OnCommitted = (error: Error | undefined) => void;

/** What stays of a store between its starts. */
export class SimulatedRowDisk {
  /** Whether commits fail for lack of room. */
  isFull = false;
  /** The number of commits that a crash lost, and kept, although they were not synced. */
  lostCommits = 0;
  keptCommits = 0;
  readonly #options: SimulatedRowDiskOptions;
  #synced: RowEntries;
  #unsynced: UnsyncedCommit | undefined;
  /** The entries before the last synced commit. */
  #previous: RowEntries = new Map();
  /** The entries that are damaged, as they were before. */
  readonly #damaged = new Map<string, Uint8Array>();
  #mounts = 0;
  #isOpen = false;

  constructor(options: SimulatedRowDiskOptions, entries: RowEntries = new Map()) {
    this.#options = options;
    this.#synced = entries;
  }

  /** The synced entries. They never change: a commit replaces them by others. */
  get entries(): RowEntries {
    return this.#synced;
  }

  /** The synced entries without damage. */
  get wholeEntries(): RowEntries {
    return this.isDamaged ? new Map([...this.#synced, ...this.#damaged]) : this.#synced;
  }

  /** Reads the synced entries. */
  get reader(): RowReader {
    const entries = this.#synced;
    return { get: (key) => copy(entries.get(toName(key))) };
  }

  /** Whether a store was opened and is not closed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether an entry is damaged, so that a read may find that. */
  get isDamaged(): boolean {
    return this.#damaged.size > 0;
  }

  /** Opens the store. A store that was opened before has no effect any more. */
  open(): RowStore {
    this.crash();
    const mount = this.#mounts;
    this.#isOpen = true;
    let isClosed = false;
    // A process that has ended has no effect any more.
    const isOpen = (): boolean => !isClosed && mount === this.#mounts;
    const check = (): void => {
      if (isClosed) throw new Error('the store is closed');
    };
    return {
      get: (key) => {
        check();
        return copy(this.#visible.get(toName(key)));
      },
      createBatch: () => {
        check();
        const changes: Changes = new Map();
        return {
          put: (key, value) => void changes.set(toName(key), Uint8Array.from(value)),
          remove: (key) => void changes.set(toName(key), undefined),
          commit: (done) => {
            check();
            if (!isOpen()) return;
            this.#commit(changes, isOpen, (error) => {
              if (isOpen()) done(error);
            });
          },
          discard: () => {},
        };
      },
      openSnapshot: () => {
        check();
        return createSnapshot(this.#visible);
      },
      close: () => {
        if (isOpen()) this.crash();
        isClosed = true;
        return CLOSED;
      },
    };
  }

  /** Ends the process. Of a commit that is visible and not synced all is lost, or nothing. */
  crash(): void {
    this.#mounts += 1;
    this.#isOpen = false;
    this.endCommit();
  }

  /** Keeps or loses the commit that is not synced. */
  endCommit(): void {
    const commit = this.#unsynced;
    if (commit === undefined) return;
    this.#sync({ ...commit, entries: this.chooseEntries(this.#synced, commit.entries) });
  }

  /** Returns what a crash leaves of a commit: the entries before it, or those after it. */
  chooseEntries(before: RowEntries, after: RowEntries): RowEntries {
    const isKept = this.#options.random.chance(0.5);
    if (isKept) this.keptCommits += 1;
    else this.lostCommits += 1;
    return isKept ? after : before;
  }

  /** Damages an entry, so that it is not there. Says nothing, as engines do. */
  lose(key: EntryKey): void {
    this.loseEntry(toName(key));
  }

  loseEntry(name: string): void {
    const entries = new Map(this.#synced);
    this.#noteDamage(name);
    entries.delete(name);
    this.#synced = entries;
  }

  /** Damages one bit of an entry that exists. */
  flip(key: EntryKey, bit: number): void {
    this.flipEntry(toName(key), bit);
  }

  flipEntry(name: string, bit: number): void {
    const bytes = Uint8Array.from(this.#synced.get(name) ?? []);
    const place = (bit >>> 3) % bytes.length;
    bytes[place] = (bytes[place] ?? 0) ^ (1 << (bit & 7));
    this.#noteDamage(name);
    this.#synced = new Map(this.#synced).set(name, bytes);
  }

  /** Brings back the entries from before the last commit, as of an old copy of the disk. */
  restoreOld(): void {
    this.#synced = this.#previous;
  }

  /** Restores the damaged entries that were not written since, as a healed disk would. */
  repair(): void {
    this.crash();
    this.#synced = this.wholeEntries;
    this.#damaged.clear();
  }

  /** Called when a commit is visible that is not synced yet. */
  onVisible(_done: OnCommitted): void {}

  onSynced(error: Error | undefined, done: OnCommitted): void {
    done(error);
  }

  get #visible(): RowEntries {
    return this.#unsynced?.entries ?? this.#synced;
  }

  #noteDamage(name: string): void {
    const bytes = this.#synced.get(name);
    if (bytes !== undefined && !this.#damaged.has(name)) this.#damaged.set(name, bytes);
  }

  #commit(changes: Changes, isOpen: () => boolean, done: OnCommitted): void {
    const { timeline, random, syncMeanMs, getRefusal } = this.#options;
    const after = (run: () => void): void =>
      timeline.schedule(random.exponential(syncMeanMs), () => {
        if (isOpen()) run();
      });
    after(() => {
      const refusal = this.isFull ? createNoSpaceError() : getRefusal?.();
      if (refusal !== undefined) return this.onSynced(refusal, done);
      const entries = new Map(this.#synced);
      for (const [name, value] of changes)
        if (value === undefined) entries.delete(name);
        else entries.set(name, value);
      const commit = { entries, names: [...changes.keys()] };
      this.#unsynced = commit;
      this.onVisible(done);
      after(() => {
        // The disk may have ended it meanwhile, because another process has taken it over.
        if (this.#unsynced !== commit) return this.onSynced(getRefusal?.(), done);
        this.#sync(commit);
        this.onSynced(undefined, done);
      });
    });
  }

  #sync({ entries, names }: UnsyncedCommit): void {
    this.#unsynced = undefined;
    if (entries === this.#synced) return;
    for (const name of names) this.#damaged.delete(name);
    this.#previous = this.#synced;
    this.#synced = entries;
  }
}

export function createNoSpaceError(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}

/**
 * Calls back at once: a timeline runs on while a promise waits. Only what simulated parts use of a
 * promise is there.
 */
const CLOSED = Object.assign(Promise.resolve(), {
  // oxlint-disable-next-line unicorn/no-thenable
  then: (onResolved?: (() => unknown) | null) => Promise.resolve(onResolved?.()),
}) as Promise<void>;

function createSnapshot(entries: RowEntries): RowSnapshot {
  let opened: RowEntries | undefined = entries;
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
