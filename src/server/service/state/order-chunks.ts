/**
 * One order of the rows of a table, as the last commit has it: in chunks of a store. The directory
 * names the chunks with their first entries and is in memory. So a scan reads chunks by their names
 * alone, in our order and not in that of the store, and a chunk that is missing is damage.
 */
import type { SavedRow, SavedRows } from '../records/checkpoint.ts';
import { INDEX_ENTRY_BYTES, measureText, measureValue } from '../records/memory-bytes.ts';
import {
  compareEntries,
  isAtOrAfterStart,
  isBeforeEnd,
  type Entry,
  type ReadRange,
} from '../records/read-range.ts';
import { mergeEntries, type EntryChanges } from './merge-entries.ts';
import type { CachedItem, ItemOwner, ResidentCache } from './resident-cache.ts';
import { findFirstIndex, MAX_CHUNK_ENTRIES } from './sorted-entries.ts';

/** The name of the directory. Chunks have their numbers. */
const DIRECTORY = '';

/** An entry as it is saved. In the order of primary keys the value is the key. */
type SavedEntry = string | readonly [value: Entry['value'], key: string];

interface Chunk {
  readonly number: number;
  readonly size: number;
  readonly first: Entry;
}

interface Directory {
  readonly chunks: readonly Chunk[];
  /** No chunk had this number or a larger one. */
  readonly nextNumber: number;
}

type SavedDirectory = readonly [
  nextNumber: number,
  chunks: readonly (readonly [number: number, size: number, first: SavedEntry])[],
];

interface CachedChunk extends CachedItem {
  readonly number: number;
  readonly entries: readonly SavedEntry[];
  readonly bytes: number;
}

export interface OrderChunksOptions {
  /** Names the order in errors. */
  readonly description: string;
  readonly saved: SavedRows;
  /**
   * How many entries the last commit has: without its directory, an order looks empty. If there are
   * none, a directory that is found remains from an index that was dropped. Default: unchecked
   */
  readonly savedSize?: number | undefined;
  readonly cache: ResidentCache;
  /** A chunk that would be longer is split. Default: `MAX_CHUNK_ENTRIES` */
  readonly maxChunk?: number | undefined;
}

export class OrderChunks implements ItemOwner {
  readonly #options: OrderChunksOptions;
  readonly #cached = new Map<number, CachedChunk>();
  #saved: SavedRows;
  #directory: Directory;
  #size = 0;
  #directoryBytes = 0;
  #cachedBytes = 0;

  /** @throws Error if the order has not as many entries as the last commit */
  constructor(options: OrderChunksOptions) {
    const { saved, savedSize, description } = options;
    this.#options = options;
    this.#saved = saved;
    const directory = savedSize === 0 ? undefined : saved.get(DIRECTORY);
    this.#directory = loadDirectory(directory as SavedDirectory | undefined);
    this.#measure();
    if (savedSize !== undefined && this.#size !== savedSize)
      saved.reportDamage(
        `the order ${description} has ${this.#size} entries, and the last commit has ${savedSize}`,
      );
  }

  get size(): number {
    return this.#size;
  }

  /** About how many bytes the directory and the chunks in memory take. */
  get bytes(): number {
    return this.#directoryBytes + this.#cachedBytes;
  }

  has(entry: Entry): boolean {
    const { chunks } = this.#directory;
    const index = findFirstIndex(chunks, ({ first }) => compareEntries(first, entry) > 0) - 1;
    const chunk = chunks[index];
    if (chunk === undefined) return false;
    const entries = this.#read(chunk);
    const place = findFirstIndex(entries, (saved) => compareEntries(loadEntry(saved), entry) >= 0);
    const there = entries[place];
    return there !== undefined && compareEntries(loadEntry(there), entry) === 0;
  }

  scan(range: ReadRange, reverse: boolean): Generator<Entry, void, undefined> {
    return reverse ? this.#backward(range) : this.#forward(range);
  }

  *#forward(range: ReadRange): Generator<Entry, void, undefined> {
    const { chunks } = this.#directory;
    const isInside = ({ value }: Entry): boolean => isAtOrAfterStart(range, value);
    // The chunk before the first that begins inside may end inside.
    const start = Math.max(0, findFirstIndex(chunks, ({ first }) => isInside(first)) - 1);
    for (let index = start; index < chunks.length; index += 1) {
      const chunk = chunks[index] as Chunk;
      if (!isBeforeEnd(range, chunk.first.value)) return;
      const entries = this.#read(chunk);
      let place =
        index === start ? findFirstIndex(entries, (saved) => isInside(loadEntry(saved))) : 0;
      for (; place < entries.length; place += 1) {
        const entry = loadEntry(entries[place] as SavedEntry);
        if (!isBeforeEnd(range, entry.value)) return;
        yield entry;
      }
    }
  }

  *#backward(range: ReadRange): Generator<Entry, void, undefined> {
    const { chunks } = this.#directory;
    const isPast = ({ value }: Entry): boolean => !isBeforeEnd(range, value);
    const last = findFirstIndex(chunks, ({ first }) => isPast(first)) - 1;
    for (let index = last; index >= 0; index -= 1) {
      const entries = this.#read(chunks[index] as Chunk);
      const end =
        index === last
          ? findFirstIndex(entries, (saved) => isPast(loadEntry(saved)))
          : entries.length;
      for (let place = end - 1; place >= 0; place -= 1) {
        const entry = loadEntry(entries[place] as SavedEntry);
        if (!isAtOrAfterStart(range, entry.value)) return;
        yield entry;
      }
    }
  }

  /**
   * Yields a function for each chunk that reads its entries, without keeping them. It throws if the
   * chunk is missing or not the one of the directory.
   */
  *readers(): Generator<() => readonly Entry[], void, undefined> {
    for (const chunk of this.#directory.chunks) yield () => this.#readAnew(chunk).map(loadEntry);
  }

  /**
   * Yields the chunks that the changes leave others, those that go with `undefined`, and the
   * directory last. `onSaved` is called then. Nothing counts before that is called.
   */
  *change(
    changes: EntryChanges,
    onSaved: (commit: (saved: SavedRows) => void) => void,
  ): Generator<SavedRow, void, undefined> {
    const { chunks } = this.#directory;
    let { nextNumber } = this.#directory;
    const after: Chunk[] = [];
    const written: number[] = [];
    const [added, removed] = [new Cursor(changes.added), new Cursor(changes.removed)];
    for (let index = 0; index < Math.max(1, chunks.length); index += 1) {
      const chunk = chunks[index];
      const end = chunks[index + 1]?.first;
      const own = { added: added.takeBefore(end), removed: removed.takeBefore(end) };
      if (own.added.length + own.removed.length === 0) {
        if (chunk !== undefined) after.push(chunk);
        continue;
      }
      let number = chunk?.number;
      for (const entries of this.#split(chunk, own)) {
        number ??= nextNumber++;
        after.push({ number, size: entries.length, first: entries[0] as Entry });
        written.push(number);
        yield [String(number), entries.map(saveEntry)];
        number = undefined;
      }
      if (number === undefined) continue;
      written.push(number);
      yield [String(number), undefined];
    }
    const directory = { chunks: after, nextNumber };
    onSaved((saved) => this.#commit(saved, directory, written));
    yield [DIRECTORY, saveDirectory(directory)];
  }

  /** The store has another commit, without changes of this order. */
  onCommitted(saved: SavedRows): void {
    this.#saved = saved;
  }

  release(chunk: CachedChunk): true {
    if (this.#cached.get(chunk.number) === chunk) this.#forget(chunk.number);
    return true;
  }

  #commit(saved: SavedRows, directory: Directory, written: readonly number[]): void {
    this.#saved = saved;
    this.#directory = directory;
    for (const number of written) this.#forget(number);
    this.#measure();
  }

  /** Yields the entries of a chunk after the changes, in parts of about the same length. */
  *#split(
    chunk: Chunk | undefined,
    changes: { readonly added: readonly Entry[]; readonly removed: readonly Entry[] },
  ): Generator<readonly Entry[], void, undefined> {
    const saved = chunk === undefined ? [] : this.#readAnew(chunk);
    const size = saved.length + changes.added.length - changes.removed.length;
    const { maxChunk = MAX_CHUNK_ENTRIES } = this.#options;
    const count = Math.ceil(size / maxChunk);
    const merged = mergeEntries(saved.map(loadEntry), changes);
    for (let part = 0; part < count; part += 1) {
      const length = Math.floor(((part + 1) * size) / count) - Math.floor((part * size) / count);
      yield Array.from({ length }, () => merged.next().value as Entry);
    }
  }

  #read(chunk: Chunk): readonly SavedEntry[] {
    const cached = this.#cached.get(chunk.number);
    if (cached !== undefined) {
      cached.isUsed = true;
      return cached.entries;
    }
    const entries = this.#readAnew(chunk);
    const bytes = measureValue(entries);
    const added = { owner: this, isUsed: false, number: chunk.number, entries, bytes };
    this.#options.cache.add(added);
    this.#cached.set(chunk.number, added);
    this.#count(bytes);
    return entries;
  }

  /** Returns the entries without keeping them in memory. */
  #readAnew({ number, size, first }: Chunk): readonly SavedEntry[] {
    const cached = this.#cached.get(number);
    if (cached !== undefined) return cached.entries;
    const entries = this.#saved.get(String(number)) as readonly SavedEntry[] | undefined;
    const name = `chunk ${number} of the order ${this.#options.description}`;
    if (entries === undefined)
      return this.#saved.reportDamage(`${name} is missing, which its directory names`);
    // An old copy of a chunk has the checksum that it needs.
    if (entries.length !== size || compareEntries(loadEntry(entries[0] as SavedEntry), first) !== 0)
      this.#saved.reportDamage(`${name} is not the one of its directory`);
    return entries;
  }

  #forget(number: number): void {
    const chunk = this.#cached.get(number);
    if (chunk === undefined) return;
    this.#cached.delete(number);
    this.#count(-chunk.bytes);
  }

  #count(bytes: number): void {
    this.#cachedBytes += bytes;
    this.#options.cache.count(bytes);
  }

  #measure(): void {
    this.#size = 0;
    this.#directoryBytes = 0;
    for (const { size, first } of this.#directory.chunks) {
      this.#size += size;
      const valueBytes = first.value === first.key ? 0 : measureValue(first.value);
      this.#directoryBytes += INDEX_ENTRY_BYTES + measureText(first.key) + valueBytes;
    }
  }
}

/** Takes entries that are in order one after the other. */
class Cursor {
  readonly #entries: Iterator<Entry>;
  #next: IteratorResult<Entry>;

  constructor(entries: Iterable<Entry>) {
    this.#entries = entries[Symbol.iterator]();
    this.#next = this.#entries.next();
  }

  /** Takes the entries before `end`, or all that are left. */
  takeBefore(end: Entry | undefined): Entry[] {
    const taken: Entry[] = [];
    while (this.#next.done !== true) {
      if (end !== undefined && compareEntries(this.#next.value, end) >= 0) break;
      taken.push(this.#next.value);
      this.#next = this.#entries.next();
    }
    return taken;
  }
}

function saveEntry({ value, key }: Entry): SavedEntry {
  return value === key ? key : [value, key];
}

function loadEntry(saved: SavedEntry): Entry {
  return typeof saved === 'string'
    ? { value: saved, key: saved }
    : { value: saved[0], key: saved[1] };
}

function saveDirectory({ chunks, nextNumber }: Directory): SavedDirectory {
  return [nextNumber, chunks.map(({ number, size, first }) => [number, size, saveEntry(first)])];
}

function loadDirectory([nextNumber, chunks]: SavedDirectory = [0, []]): Directory {
  return {
    nextNumber,
    chunks: chunks.map(([number, size, first]) => ({ number, size, first: loadEntry(first) })),
  };
}
