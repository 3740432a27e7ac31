/**
 * A sorted set, stored in chunks of bounded length. The cost of a change is a search and the copy
 * of one chunk. The cost of a scan is proportional to the entries that it yields.
 */
import { INDEX_ENTRY_BYTES } from '../records/memory-bytes.ts';
import {
  compareEntries,
  isBeforeEnd,
  isAtOrAfterStart,
  type Entry,
  type ReadRange,
} from '../records/read-range.ts';

export const MAX_CHUNK_ENTRIES = 512;

/** A sorted set of entries. It must not change while a scan of it is in flight. */
export class SortedEntries {
  readonly #chunks: Entry[][] = [];
  readonly #maxChunk: number;
  #size = 0;

  /** @param maxChunk a chunk that would be longer is split */
  constructor(maxChunk = MAX_CHUNK_ENTRIES) {
    this.#maxChunk = maxChunk;
  }

  get size(): number {
    return this.#size;
  }

  /** About how many bytes it takes in memory. */
  get bytes(): number {
    return INDEX_ENTRY_BYTES * this.#size;
  }

  /** Adds an entry. Returns whether it is new. */
  add(entry: Entry): boolean {
    const index = this.#chunkFor(entry);
    const chunk = this.#chunks[index];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
    } else {
      const place = findFirstIndex(chunk, (other) => compareEntries(other, entry) >= 0);
      const there = chunk[place];
      if (there !== undefined && compareEntries(there, entry) === 0) return false;
      chunk.splice(place, 0, entry);
      if (chunk.length > this.#maxChunk)
        this.#chunks.splice(index + 1, 0, chunk.splice(chunk.length >>> 1));
    }
    this.#size += 1;
    return true;
  }

  /** Removes an entry. Returns whether it was there. */
  delete(entry: Entry): boolean {
    const index = this.#chunkFor(entry);
    const chunk = this.#chunks[index];
    if (chunk === undefined) return false;
    const place = findFirstIndex(chunk, (other) => compareEntries(other, entry) >= 0);
    const there = chunk[place];
    if (there === undefined || compareEntries(there, entry) !== 0) return false;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(index, 1);
    this.#size -= 1;
    return true;
  }

  /** The entries within `range`, in order or from the end backwards. */
  scan(range: ReadRange, reverse = false): Generator<Entry, void, undefined> {
    return reverse ? this.#backward(range) : this.#forward(range);
  }

  *#forward(range: ReadRange): Generator<Entry, void, undefined> {
    const isInside = (entry: Entry): boolean => isAtOrAfterStart(range, entry.value);
    const first = findFirstIndex(this.#chunks, (chunk) => isInside(chunk.at(-1) as Entry));
    for (let index = first; index < this.#chunks.length; index += 1) {
      const chunk = this.#chunks[index] as Entry[];
      for (
        let place = index === first ? findFirstIndex(chunk, isInside) : 0;
        place < chunk.length;
        place += 1
      ) {
        const entry = chunk[place] as Entry;
        if (!isBeforeEnd(range, entry.value)) return;
        yield entry;
      }
    }
  }

  *#backward(range: ReadRange): Generator<Entry, void, undefined> {
    const isPast = (entry: Entry): boolean => !isBeforeEnd(range, entry.value);
    const pastChunk = findFirstIndex(this.#chunks, (chunk) => isPast(chunk.at(-1) as Entry));
    for (let index = Math.min(pastChunk, this.#chunks.length - 1); index >= 0; index -= 1) {
      const chunk = this.#chunks[index] as Entry[];
      const end = index === pastChunk ? findFirstIndex(chunk, isPast) : chunk.length;
      for (let place = end - 1; place >= 0; place -= 1) {
        const entry = chunk[place] as Entry;
        if (!isAtOrAfterStart(range, entry.value)) return;
        yield entry;
      }
    }
  }

  /** The chunk in which the entry is or belongs. */
  #chunkFor(entry: Entry): number {
    const index = findFirstIndex(
      this.#chunks,
      (chunk) => compareEntries(chunk.at(-1) as Entry, entry) >= 0,
    );
    return Math.max(0, Math.min(index, this.#chunks.length - 1));
  }
}

/**
 * Index of the first element for which `holds`, which must hold for all after it too; the length if
 * for none.
 */
export function findFirstIndex<T>(sorted: readonly T[], holds: (element: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(sorted[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
