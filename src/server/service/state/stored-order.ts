/**
 * One order of the rows of a table in a store, with its changes in memory: those of the set that is
 * being saved, and those since it was closed. A scan merges them, so it gives the same before,
 * during and after a commit.
 */
import type { SavedRow, SavedRows } from '../records/checkpoint.ts';
import type { Entry, ReadRange } from '../records/read-range.ts';
import { mergeEntries } from './merge-entries.ts';
import { OrderChunks, type OrderChunksOptions } from './order-chunks.ts';
import { SortedEntries } from './sorted-entries.ts';

/** What a table needs of an order. `SortedEntries` has all entries in memory. */
export interface Order {
  /** About how many bytes it takes in memory. */
  readonly bytes: number;
  /** Adds an entry. It is new. */
  add(entry: Entry): void;
  /** Removes an entry. It is there. */
  delete(entry: Entry): void;
  /** The entries within `range`, in order or from the end backwards. */
  scan(range: ReadRange, reverse: boolean): Iterable<Entry>;
}

/** Entries that came and went since an earlier state. */
class Layer {
  readonly added = new SortedEntries();
  readonly removed = new SortedEntries();

  get isEmpty(): boolean {
    return this.added.size + this.removed.size === 0;
  }

  get bytes(): number {
    return this.added.bytes + this.removed.bytes;
  }

  add(entry: Entry): void {
    if (!this.removed.delete(entry)) this.added.add(entry);
  }

  delete(entry: Entry): void {
    if (!this.added.delete(entry)) this.removed.add(entry);
  }

  /** Returns the entries of `below` after the changes of the layer. */
  scanOver(below: Iterable<Entry>, range: ReadRange, reverse: boolean): Iterable<Entry> {
    if (this.isEmpty) return below;
    const added = this.added.scan(range, reverse);
    const removed = this.removed.scan(range, reverse);
    return mergeEntries(below, { added, removed }, reverse);
  }
}

export class StoredOrder implements Order {
  readonly #chunks: OrderChunks;
  /** The changes of the closed set, until it is committed. */
  #closed: Layer | undefined;
  /** The changes since. */
  #changes = new Layer();
  #untaken: Iterator<SavedRow, void> = [].values();
  #commit: ((saved: SavedRows) => void) | undefined;

  constructor(options: OrderChunksOptions) {
    this.#chunks = new OrderChunks(options);
  }

  get size(): number {
    let { size } = this.#chunks;
    for (const layer of [this.#closed, this.#changes])
      if (layer !== undefined) size += layer.added.size - layer.removed.size;
    return size;
  }

  get bytes(): number {
    return this.#chunks.bytes + this.dirtyBytes;
  }

  /** The bytes that cannot leave memory before a commit. */
  get dirtyBytes(): number {
    return (this.#closed?.bytes ?? 0) + this.#changes.bytes;
  }

  add(entry: Entry): void {
    this.#changes.add(entry);
  }

  delete(entry: Entry): void {
    this.#changes.delete(entry);
  }

  /** Whether the last commit has the entry. */
  isSaved(entry: Entry): boolean {
    return this.#chunks.has(entry);
  }

  scan(range: ReadRange, reverse = false): Iterable<Entry> {
    const saved = this.#chunks.scan(range, reverse);
    const closed = this.#closed?.scanOver(saved, range, reverse) ?? saved;
    return this.#changes.scanOver(closed, range, reverse);
  }

  closeChanges(): void {
    const closed = this.#changes;
    if (closed.isEmpty) return;
    this.#closed = closed;
    this.#changes = new Layer();
    const changes = { added: closed.added.scan(ALL), removed: closed.removed.scan(ALL) };
    this.#untaken = this.#chunks.change(changes, (commit) => {
      this.#commit = commit;
    });
  }

  /** Takes up to `max` rows of the store that the closed changes make others. */
  takeClosed(max: number): SavedRow[] {
    const taken: SavedRow[] = [];
    while (taken.length < max) {
      const next = this.#untaken.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
    return taken;
  }

  onCommitted(saved: SavedRows): void {
    if (this.#commit === undefined) this.#chunks.onCommitted(saved);
    else this.#commit(saved);
    this.#commit = undefined;
    this.#closed = undefined;
  }

  /** Joins the changes of the closed set with those since. */
  onCommitFailed(): void {
    const closed = this.#closed;
    if (closed === undefined) return;
    for (const entry of this.#changes.removed.scan(ALL)) closed.delete(entry);
    for (const entry of this.#changes.added.scan(ALL)) closed.add(entry);
    this.#changes = closed;
    this.#closed = undefined;
    this.#commit = undefined;
    this.#untaken = [].values();
  }
}

const ALL: ReadRange = { table: '' };
