/**
 * The writes of one partition in the order in which it made them, for the other sites to pull, and
 * the ids of these writes.
 *
 * Entries are numbered. A number alone does not name an entry: a partition that has lost its last
 * entries uses the numbers again. So a cursor has the stamp too (CAUSAL-10).
 *
 * Ids have the numbers of their entries, so that a script in a store needs no second list. They are
 * kept for `keepIdsFor`, even if their entries were dropped earlier.
 */
import type { Cursor, OwnEntry } from './partition-calls.ts';
import type { Stamp } from './stamps.ts';
import { getValueBytes } from './version.ts';

/**
 * Only every eighth put looks for old entries. In a store such as Redis, looking costs more than
 * removing.
 */
export const PRUNE_EVERY = 8;
/** Maximum number of entries, and of ids, that one put removes, so that no put is slow. */
export const MAX_PRUNED = 16;
/** Maximum number of entries above the limits that one put drops. */
export const MAX_DROPPED = 20;
/** Approximate size of an entry with a short key in a store, without the value. */
export const ENTRY_BYTES = 300;

export interface RetentionLimits {
  /** Entries with a higher number may be needed by another site. */
  readonly acknowledged: number;
  /** Ids with this stamp or a later one are kept, to recognize repetitions (CAUSAL-17). */
  readonly keepIdsFrom: Stamp;
  readonly maxEntries: number;
  readonly maxBytes: number;
}

interface WriteId {
  readonly id: string;
  readonly stamp: Stamp;
}

export class OwnEntries {
  #first = 1;
  #last = 0;
  #lastStamp: Stamp = 0;
  #bytes = 0;
  #entries = new Map<number, OwnEntry>();
  #firstId = 1;
  #ids = new Map<number, WriteId>();
  #stampsById = new Map<string, Stamp>();

  get last(): Cursor {
    return { entry: this.#last, stamp: this.#lastStamp };
  }

  get count(): number {
    return this.#entries.size;
  }

  /** The size of the entries, computed as for `maxOwnEntryBytes`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The lowest numbers of an entry and of an id that may still be stored. */
  get first(): { readonly entry: number; readonly id: number } {
    return { entry: this.#first, id: this.#firstId };
  }

  /** The ids that are known, with the stamps of their writes. */
  get ids(): ReadonlyMap<string, Stamp> {
    return this.#stampsById;
  }

  copy(): OwnEntries {
    const copy = new OwnEntries();
    copy.#first = this.#first;
    copy.#last = this.#last;
    copy.#lastStamp = this.#lastStamp;
    copy.#bytes = this.#bytes;
    copy.#entries = new Map(this.#entries);
    copy.#firstId = this.#firstId;
    copy.#ids = new Map(this.#ids);
    copy.#stampsById = new Map(this.#stampsById);
    return copy;
  }

  append(entry: OwnEntry): void {
    this.#add(this.#last + 1, entry);
    const { id, stamp } = entry;
    this.#ids.set(this.#last, { id, stamp });
    this.#stampsById.set(id, stamp);
  }

  /** Returns the stamp of the write with this id, if it was made here lately (CAUSAL-17). */
  getStampOfId(id: string): Stamp | undefined {
    return this.#stampsById.get(id);
  }

  /** Returns whether a reader can continue from `cursor` without missing an entry. */
  has({ entry, stamp }: Cursor): boolean {
    if (entry > this.#last || entry + 1 < this.#first) return false;
    return entry === 0 || this.#entries.get(entry)?.stamp === stamp;
  }

  /** Returns whether `cursor` names an entry that was lost, and not one that was dropped. */
  isFromLostState({ entry, stamp }: Cursor): boolean {
    if (entry > this.#last) return true;
    const own = this.#entries.get(entry);
    return own !== undefined && own.stamp !== stamp;
  }

  /** Returns the entries that follow the number `after`. */
  readAfter(after: number, maxEntries: number): readonly OwnEntry[] {
    const end = Math.min(this.#last, after + maxEntries);
    const entries: OwnEntry[] = [];
    for (let number = after + 1; number <= end; number += 1)
      entries.push(this.#entries.get(number) as OwnEntry);
    return entries;
  }

  /**
   * Drops all entries and adds a mark after them, so that no other site can continue from its
   * cursor. Each other site then copies the whole partition (CAUSAL-14).
   */
  restart(stamp: Stamp): void {
    this.#entries.clear();
    this.#bytes = 0;
    // Leave one number unused. Otherwise a reader could continue from a cursor at the last entry,
    // which is directly before the mark.
    this.#first = this.#last + 2;
    this.#add(this.#first, { stamp, id: '', write: undefined });
  }

  /**
   * Drops some entries that no site needs, and some old ids (CAUSAL-16, CAUSAL-17). Returns how
   * many entries were dropped although a site may need them.
   */
  prune({ acknowledged, keepIdsFrom, maxEntries, maxBytes }: RetentionLimits): number {
    if (this.#last % PRUNE_EVERY === 0) {
      this.#dropOldEntries(acknowledged, keepIdsFrom);
      this.#dropOldIds(keepIdsFrom);
    }
    const end = Math.min(this.#last, this.#first + MAX_DROPPED);
    let dropped = 0;
    while (this.#first < end && (this.count > maxEntries || this.#bytes > maxBytes)) {
      if (this.#first >= acknowledged) dropped += 1;
      this.#dropFirst();
    }
    return dropped;
  }

  /** Keeps the entry at each cursor, because the next pull names it. */
  #dropOldEntries(acknowledged: number, keepFrom: Stamp): void {
    const end = Math.min(acknowledged, this.#first + MAX_PRUNED);
    while (this.#first < end) {
      if ((this.#entries.get(this.#first)?.stamp ?? 0) >= keepFrom) return;
      this.#dropFirst();
    }
  }

  #dropOldIds(keepFrom: Stamp): void {
    const end = Math.min(this.#last + 1, this.#firstId + MAX_PRUNED);
    for (; this.#firstId < end; this.#firstId += 1) {
      const known = this.#ids.get(this.#firstId);
      if (known === undefined) continue;
      if (known.stamp >= keepFrom) return;
      this.#ids.delete(this.#firstId);
      this.#stampsById.delete(known.id);
    }
  }

  #add(number: number, entry: OwnEntry): void {
    this.#last = number;
    this.#lastStamp = entry.stamp;
    this.#bytes += getEntryBytes(entry);
    this.#entries.set(number, entry);
  }

  #dropFirst(): void {
    const entry = this.#entries.get(this.#first);
    if (entry !== undefined) this.#bytes -= getEntryBytes(entry);
    this.#entries.delete(this.#first);
    this.#first += 1;
  }
}

function getEntryBytes({ write }: OwnEntry): number {
  return ENTRY_BYTES + getValueBytes(write?.version.value);
}
