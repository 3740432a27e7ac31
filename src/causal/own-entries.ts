/**
 * The writes of one partition in the order in which it made them, for the other sites to pull, and
 * the ids of these writes.
 *
 * Entries are numbered without holes. A number alone does not name an entry: a partition that has
 * lost its last entries uses the numbers again. So a cursor has the stamp too (R10).
 */
import type { Cursor, OwnEntry } from './partition-calls.ts';
import type { Stamp } from './stamps.ts';

/** Entries, and ids, that one put removes at most, so that no put is slow. */
const MAX_PRUNED = 3;

export interface RetentionLimits {
  /** Entries with a higher number may be needed by another site. */
  readonly acknowledged: number;
  /** Ids from this stamp on are kept, for repetitions (R17). */
  readonly keepIdsFrom: Stamp;
  readonly maxEntries: number;
}

export class OwnEntries {
  #first = 1;
  #last = 0;
  #entries = new Map<number, OwnEntry>();
  #stampsById = new Map<string, Stamp>();

  get last(): Cursor {
    return { entry: this.#last, stamp: this.#entries.get(this.#last)?.stamp ?? 0 };
  }

  get count(): number {
    return this.#entries.size;
  }

  copy(): OwnEntries {
    const copy = new OwnEntries();
    copy.#first = this.#first;
    copy.#last = this.#last;
    copy.#entries = new Map(this.#entries);
    copy.#stampsById = new Map(this.#stampsById);
    return copy;
  }

  append(entry: OwnEntry): void {
    this.#last += 1;
    this.#entries.set(this.#last, entry);
    this.#stampsById.set(entry.id, entry.stamp);
  }

  /** Returns the stamp of the write with this id, if it was made here lately (R17). */
  getStampOfId(id: string): Stamp | undefined {
    return this.#stampsById.get(id);
  }

  /** Returns whether a reader can go on from `cursor` without missing an entry. */
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
   * Drops all entries and puts a mark behind them, so that no other site can go on from its cursor.
   * Each of them then copies the whole partition (R14).
   */
  restart(stamp: Stamp): void {
    this.#entries.clear();
    // One number stays free: a cursor at the last entry must not be one before the mark.
    this.#last += 2;
    this.#first = this.#last;
    this.#entries.set(this.#last, { stamp, id: '', write: undefined });
  }

  /**
   * Drops some entries that no site needs, and some old ids (R16, R17). Returns how many entries
   * were dropped although a site may need them.
   */
  prune({ acknowledged, keepIdsFrom, maxEntries }: RetentionLimits): number {
    // The entry at a cursor stays, since the next pull names it.
    for (let pruned = 0; pruned < MAX_PRUNED && this.#first < acknowledged; pruned += 1) {
      if ((this.#entries.get(this.#first)?.stamp ?? 0) >= keepIdsFrom) break;
      this.#dropFirst();
    }
    this.#dropIds(keepIdsFrom);
    let dropped = 0;
    for (; this.#entries.size > maxEntries; dropped += 1) this.#dropFirst();
    return dropped;
  }

  #dropFirst(): void {
    this.#entries.delete(this.#first);
    this.#first += 1;
  }

  /** Ids are kept for their time, also if their entries had to go. */
  #dropIds(keepIdsFrom: Stamp): void {
    let pruned = 0;
    for (const [id, stamp] of this.#stampsById) {
      if (stamp >= keepIdsFrom || pruned === MAX_PRUNED) return;
      this.#stampsById.delete(id);
      pruned += 1;
    }
  }
}
