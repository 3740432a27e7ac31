/**
 * One order of the rows of a table, in chunks of a store of rows. The directory names the chunks
 * with their first entries and is in memory. So a scan reads chunks by their keys alone, in our
 * order and not in that of the store, and a chunk that is missing is damage.
 */
import {
  compareEntries,
  isAtOrAfterStart,
  isBeforeEnd,
  type Entry,
  type ReadRange,
} from '../../../src/server/service/records/read-range.ts';
import type { EntryKey, RowBatch, RowReader } from './row-store.ts';
import { encodeKey, readSealed, readSealedIfAny, seal } from './sealed-entries.ts';

const MAX_CHUNK_ENTRIES = 512;

/**
 * An entry as it is saved. Numbers are texts, since JSON lacks some of them. It has halves of pairs,
 * unlike the codec of values.
 */
type SavedEntry = readonly [key: string, value: string, isNumber?: 1];

interface Chunk {
  readonly number: number;
  readonly first: Entry;
  readonly size: number;
}

interface Directory {
  readonly chunks: readonly Chunk[];
  readonly nextNumber: number;
}

interface SavedDirectory {
  readonly chunks: readonly (readonly [number: number, first: SavedEntry, size: number])[];
  readonly nextNumber: number;
}

/** Entries that come or go. */
export interface EntryChange {
  readonly entry: Entry;
  readonly isAdded: boolean;
}

/** A chunk as a batch leaves it. It has no number before it is written for the first time. */
interface ChangedChunk {
  readonly chunk: Chunk | undefined;
  readonly entries: Entry[];
}

/** An order as one state of the store has it. It does not change. */
export class OrderChunks {
  readonly #name: string;
  readonly #directory: Directory;
  readonly #maxChunk: number;

  /** @param maxChunk a chunk that would be longer is split */
  constructor(name: string, reader: RowReader, maxChunk = MAX_CHUNK_ENTRIES) {
    this.#name = name;
    this.#maxChunk = maxChunk;
    const saved = readSealedIfAny(reader, encodeKey('directory', name));
    this.#directory =
      saved === undefined
        ? { chunks: [], nextNumber: 0 }
        : loadDirectory(decode(saved) as SavedDirectory);
  }

  get size(): number {
    return this.#directory.chunks.reduce((sum, { size }) => sum + size, 0);
  }

  /** Yields the entries within `range`. Throws at a chunk that is missing or damaged. */
  *scan(reader: RowReader, range: ReadRange): Generator<Entry, void> {
    const { chunks } = this.#directory;
    for (const [index, chunk] of chunks.entries()) {
      const next = chunks[index + 1];
      // All entries of the chunk are before the first of the next one.
      if (next !== undefined && !isAtOrAfterStart(range, next.first.value)) continue;
      if (!isBeforeEnd(range, chunk.first.value)) return;
      for (const entry of this.#read(reader, chunk))
        if (isAtOrAfterStart(range, entry.value) && isBeforeEnd(range, entry.value)) yield entry;
    }
  }

  /** Returns the batch that changes the order. Additions are new, and removals exist. */
  change(reader: RowReader, changes: readonly EntryChange[]): RowBatch {
    const puts: [EntryKey, Uint8Array][] = [];
    const removals: EntryKey[] = [];
    let { nextNumber } = this.#directory;
    const chunks: Chunk[] = [];
    for (const { chunk, entries } of this.#changeChunks(reader, changes)) {
      if (entries === undefined) chunks.push(chunk);
      else if (entries.length === 0 && chunk !== undefined) removals.push(this.#keyOf(chunk));
      const parts = splitEvenly(entries ?? [], this.#maxChunk);
      for (const [index, part] of parts.entries()) {
        const number = index === 0 && chunk !== undefined ? chunk.number : nextNumber++;
        const written = { number, first: part[0] as Entry, size: part.length };
        chunks.push(written);
        puts.push(sealed(this.#keyOf(written), part.map(saveEntry)));
      }
    }
    const directory = saveDirectory({ chunks, nextNumber });
    puts.push(sealed(encodeKey('directory', this.#name), directory));
    return { puts, removals };
  }

  /** Yields all chunks in order, those that change with their entries after the changes. */
  *#changeChunks(
    reader: RowReader,
    changes: readonly EntryChange[],
  ): Generator<ChangedChunk | { readonly chunk: Chunk; readonly entries?: undefined }> {
    const { chunks } = this.#directory;
    const sorted = changes.toSorted((a, b) => compareEntries(a.entry, b.entry));
    if (chunks.length === 0) yield { chunk: undefined, entries: applyChanges([], sorted) };
    let from = 0;
    for (const [index, chunk] of chunks.entries()) {
      const next = chunks[index + 1];
      const found = sorted.findIndex(
        ({ entry }) => next !== undefined && compareEntries(entry, next.first) >= 0,
      );
      const own = sorted.slice(from, found < 0 ? sorted.length : found);
      from += own.length;
      if (own.length === 0) yield { chunk };
      else yield { chunk, entries: applyChanges([...this.#read(reader, chunk)], own) };
    }
  }

  #read(reader: RowReader, chunk: Chunk): readonly Entry[] {
    const saved = decode(readSealed(reader, this.#keyOf(chunk))) as readonly SavedEntry[];
    const entries = saved.map(loadEntry);
    // An old copy of a chunk has the checksum that it needs.
    if (entries.length !== chunk.size || compareEntries(entries[0] as Entry, chunk.first) !== 0)
      throw new Error(`chunk ${chunk.number} of ${this.#name} is not the one of its directory`);
    return entries;
  }

  #keyOf({ number }: Pick<Chunk, 'number'>): EntryKey {
    return encodeKey('order', `${number}\u0000${this.#name}`);
  }
}

function applyChanges(entries: Entry[], changes: readonly EntryChange[]): Entry[] {
  for (const { entry, isAdded } of changes) {
    const place = entries.findIndex((other) => compareEntries(other, entry) >= 0);
    if (!isAdded) entries.splice(place, 1);
    else if (place < 0) entries.push(entry);
    else entries.splice(place, 0, entry);
  }
  return entries;
}

/** Splits a list into as few parts as have at most `max` items, of about the same length. */
function splitEvenly<T>(items: readonly T[], max: number): T[][] {
  const count = Math.ceil(items.length / max);
  return Array.from({ length: count }, (_, index) =>
    items.slice(
      Math.floor((index * items.length) / count),
      Math.floor(((index + 1) * items.length) / count),
    ),
  );
}

function sealed(key: EntryKey, value: unknown): [EntryKey, Uint8Array] {
  return [key, seal(key, Buffer.from(JSON.stringify(value)))];
}

function decode(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString());
}

function saveEntry({ key, value }: Entry): SavedEntry {
  return typeof value === 'number' ? [key, String(value), 1] : [key, value];
}

function loadEntry([key, value, isNumber]: SavedEntry): Entry {
  return { key, value: isNumber === 1 ? Number(value) : value };
}

function saveDirectory({ chunks, nextNumber }: Directory): SavedDirectory {
  return {
    chunks: chunks.map(({ number, first, size }) => [number, saveEntry(first), size]),
    nextNumber,
  };
}

function loadDirectory({ chunks, nextNumber }: SavedDirectory): Directory {
  return {
    chunks: chunks.map(([number, first, size]) => ({ number, first: loadEntry(first), size })),
    nextNumber,
  };
}
