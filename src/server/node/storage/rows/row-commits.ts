/**
 * Commits the state of a running site to its store of rows. All of a commit is as it was at one
 * moment, when it was cut: the changed rows of all sections, the small parts, and the positions in
 * the logs.
 */
import { isStored, type Section } from '../../../service/records/checkpoint.ts';
import { getEarlier, type LogPositions } from '../../../log/log-positions.ts';
import type { CheckpointSource } from '../../../log/site-storage.ts';
import type { StoredOrder } from '../../../service/state/stored-order.ts';
import { isNoSpace, type Timing } from '../disk/files.ts';
import { encodeValue } from '../format/value-text.ts';
import { DEFAULT_STORAGE_SIZES, type StorageSizes } from '../storage-sizes.ts';
import { takeListed, takeRows, type DraftRow } from './draft-rows.ts';
import type { RowBatch, RowReader, RowSnapshot, RowStore } from './row-store.ts';
import {
  createCutEntry,
  createEntry,
  createSmallPartsEntry,
  getSavedRows,
  openNames,
  ROWS_FORMAT,
  type SavedCut,
} from './saved-state.ts';

/**
 * The positions of a commit in the logs: it has the entries before `contained`. The logs keep their
 * entries from `retainedFrom` on.
 */
export interface CommitPositions {
  readonly contained: LogPositions;
  readonly retainedFrom: LogPositions;
}

export interface RowCommitsOptions {
  readonly store: RowStore;
  /** The last commit, as the sections read it. It is closed after the next one. */
  readonly snapshot: RowSnapshot;
  readonly timing: Timing;
  readonly source: CheckpointSource;
  /** Default: `DEFAULT_STORAGE_SIZES` */
  readonly sizes?: StorageSizes | undefined;
  /** No commit has had a larger number. 0 before the first one. */
  readonly number: number;
  /** A commit is on the disk. */
  onDone(positions: CommitPositions, number: number): void;
  /** The commit could not be written. No data is lost, but the logs stay longer. */
  onFailed(error: Error): void;
  /** The store takes no commits any more. Called after `onFailed`. */
  onBroken(error: Error): void;
}

/** What a commit has, for a reader that goes on while others are made. */
export interface HeldCommit {
  readonly cut: SavedCut;
  readonly reader: RowReader;
  release(): void;
}

/** Called once, with a commit that began after it was requested. */
export type OnCommit = (error: Error | undefined, commit?: HeldCommit) => void;

/** Each row takes about as long as so many characters of one. */
const ROW_CHARACTERS = 128;

/** What a commit writes, until all of it is in the batch. */
interface Draft {
  readonly cut: Omit<SavedCut, 'retainedFrom' | 'listed'>;
  /** The numbers of rows of the listed sections that were taken as a whole. */
  readonly listed: Record<string, number>;
  readonly batch: RowBatch;
  /** The rows that are not in it yet. */
  readonly rows: Iterator<DraftRow, void>;
}

export class RowCommits {
  readonly #options: RowCommitsOptions;
  readonly #sizes: StorageSizes;
  /** Shows the last commit. */
  #snapshot: RowSnapshot;
  #number: number;
  #isRunning = false;
  #isClosed = false;
  /** Whether sections give all their rows, and not only those that have changed. */
  #isWhole = true;
  /** The batch of the commit in flight, until all of it is there. */
  #batch: RowBatch | undefined;
  /** The numbers of rows of the listed sections in the last commit. */
  #listed: SavedCut['listed'] = {};
  /** Callbacks that wait for the next commit, and for the one in flight. */
  #requests: OnCommit[] = [];
  #inFlight: OnCommit[] = [];
  /** How many readers each snapshot has that is not the last one any more. */
  readonly #held = new Map<RowSnapshot, number>();

  constructor(options: RowCommitsOptions) {
    this.#options = options;
    this.#sizes = options.sizes ?? DEFAULT_STORAGE_SIZES;
    this.#number = options.number;
    this.#snapshot = options.snapshot;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Begins a commit, unless one is in flight. */
  start(): void {
    if (this.#isRunning || this.#isClosed) return;
    const { cutProblem } = this.#options.source;
    if (cutProblem !== undefined) return this.#end(this.#requests.splice(0), new Error(cutProblem));
    this.#isRunning = true;
    this.#inFlight = this.#requests.splice(0);
    this.#try(() => this.#slice(this.#cut()));
  }

  /** Makes a commit, and keeps what it shows until it is released. */
  take(done: OnCommit): void {
    if (this.#isClosed) return done(new Error('the storage was closed'));
    this.#requests.push(done);
    this.start();
  }

  /** What is not committed by now never will be. */
  close(): void {
    this.#isClosed = true;
    this.#discard();
    const waiting = [...this.#inFlight.splice(0), ...this.#requests.splice(0)];
    for (const done of waiting) done(new Error('the storage was closed'));
  }

  /** Saves the small parts, and closes the set of changed rows, which are taken in slices. */
  #cut(): Draft {
    const { source } = this.#options;
    const { smallParts, contained } = source.createCut();
    const all = Object.entries(source.sections);
    for (const [, section] of all) section.closeChanges();
    const { savedTables: tables = {} } = all.map(([, section]) => section).find(isStored) ?? {};
    const listed = {};
    const batch = this.#options.store.createBatch();
    this.#batch = batch;
    // The state goes on changing, so they are encoded at once.
    batch.put(...createSmallPartsEntry(smallParts));
    return {
      cut: { format: ROWS_FORMAT, number: this.#number + 1, contained, tables },
      listed,
      batch,
      rows: this.#takeAll(all, listed),
    };
  }

  #slice(draft: Draft): void {
    const { maxTurnCharacters, onExceeded } = this.#sizes;
    for (let characters = 0; characters < maxTurnCharacters;) {
      const next = draft.rows.next();
      if (next.done === true) return this.#commit(draft);
      const { key, value } = next.value;
      characters += ROW_CHARACTERS;
      if (value === undefined) draft.batch.remove(key);
      else {
        const text = encodeValue(value);
        characters += text.length;
        draft.batch.put(...createEntry(key, text));
      }
    }
    onExceeded?.('maxTurnCharacters');
    this.#options.timing.later(() => {
      if (!this.#isClosed) this.#try(() => this.#slice(draft));
    });
  }

  *#takeAll(
    sections: readonly (readonly [string, Section])[],
    listed: Record<string, number>,
  ): Generator<DraftRow, void> {
    for (const [name, section] of sections) {
      if (isStored(section)) yield* takeRows(name, section, this.#sizes);
      else listed[name] = yield* this.#takeListed(name, section);
    }
  }

  /**
   * Returns the number of the rows. A section that gives all its rows replaces what the store has,
   * also if names are missing there.
   */
  #takeListed(name: string, section: Section): Generator<DraftRow, number> {
    const isWhole = this.#isWhole;
    const count = isWhole ? undefined : this.#listed[name];
    const openSaved = (): StoredOrder => openNames(this.#snapshot, name, count);
    return takeListed(name, section, { openSaved, isWhole, sizes: this.#sizes });
  }

  #commit({ cut, listed, batch }: Draft): void {
    const { source } = this.#options;
    const { contained } = cut;
    const retainedFrom = getEarlier(contained, source.retainedFrom);
    const whole: SavedCut = { ...cut, listed, retainedFrom };
    batch.put(...createCutEntry(whole));
    this.#batch = undefined;
    batch.commit((error) => {
      if (this.#isClosed) return;
      if (error === undefined) return this.#onCommitted(whole);
      this.#giveUp(error);
      if (!isNoSpace(error)) this.#options.onBroken(error);
    });
  }

  #onCommitted(cut: SavedCut): void {
    const { store, source, onDone } = this.#options;
    const earlier = this.#snapshot;
    this.#snapshot = store.openSnapshot();
    this.#number = cut.number;
    this.#isWhole = false;
    this.#listed = cut.listed;
    for (const [name, section] of Object.entries(source.sections))
      if (isStored(section)) section.onCommitted(getSavedRows(this.#snapshot, name));
    if (!this.#held.has(earlier)) earlier.close();
    this.#isRunning = false;
    for (const done of this.#inFlight.splice(0)) done(undefined, this.#hold(cut));
    onDone({ contained: cut.contained, retainedFrom: cut.retainedFrom }, cut.number);
    if (this.#requests.length > 0) this.start();
  }

  #hold(cut: SavedCut): HeldCommit {
    const reader = this.#snapshot;
    this.#held.set(reader, (this.#held.get(reader) ?? 0) + 1);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#held.get(reader) ?? 0) - 1;
      if (left > 0) return void this.#held.set(reader, left);
      this.#held.delete(reader);
      if (reader !== this.#snapshot) reader.close();
    };
    return { cut, reader, release };
  }

  /** An exception makes the commit fail, for example of a row that no string can hold. */
  #try(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  /** The next commit has the rows of this one too. */
  #giveUp(error: Error): void {
    this.#discard();
    for (const section of Object.values(this.#options.source.sections)) {
      if (isStored(section)) section.onCommitFailed();
      else section.changeAll();
    }
    this.#isWhole = true;
    this.#isRunning = false;
    this.#end([...this.#inFlight.splice(0), ...this.#requests.splice(0)], error);
  }

  #discard(): void {
    this.#batch?.discard();
    this.#batch = undefined;
  }

  #end(waiting: readonly OnCommit[], error: Error): void {
    for (const done of waiting) done(error);
    this.#options.onFailed(error);
  }
}
