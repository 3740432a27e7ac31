/**
 * When the rows of a table were last removed. A write with an earlier stamp that arrives later
 * belongs to the removed row.
 *
 * A removal is found by its key, and by the stamp of its operation: a site that waits for another
 * one may remember a million of them, and forgets those that all have seen.
 */
import type { OrderPosition } from '../records/effect.ts';
import type { Origin } from '../records/origin.ts';
import type { Vector } from '../records/vector.ts';
import type { Entry } from '../records/read-range.ts';
import { Fifo } from '../collections/fifo.ts';

export interface Removal extends OrderPosition {
  readonly key: string;
}

/** The removals by operations of one entry, in the order of their stamps. */
interface EntryRemovals {
  removals: Fifo<Removal>;
  isSorted: boolean;
}

export class RememberedRemovals {
  readonly #byKey = new Map<string, Removal>();
  readonly #byEntry = new Map<Origin, EntryRemovals>();
  /** Whether the row was not removed again since. */
  readonly #isLast = (removal: Removal): boolean => this.#byKey.get(removal.key) === removal;

  get(key: string): Removal | undefined {
    return this.#byKey.get(key);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  all(): Iterable<Removal> {
    return this.#byKey.values();
  }

  /** Replaces the removal of the same row. */
  set(removal: Removal): void {
    this.#byKey.set(removal.key, removal);
    const ofEntry = this.#getEntry(removal.entry);
    const { last } = ofEntry.removals;
    // They come in order, but for those that are restored.
    if (last !== undefined && last.version > removal.version) ofEntry.isSorted = false;
    ofEntry.removals.push(removal);
    ofEntry.removals.filter(this.#isLast);
  }

  /** Forgets up to `max` removals that the vector covers. `before` is called with each first. */
  forgetCovered(covered: Vector, max: number, before: (removal: Removal) => void): void {
    let left = max;
    for (const [entry, ofEntry] of this.#byEntry) {
      if (left === 0) return;
      const removals = sort(ofEntry);
      const version = covered[entry] ?? 0;
      for (let first = removals.first; first !== undefined && left > 0; first = removals.first) {
        if (first.version > version) break;
        left -= 1;
        if (this.#isLast(first)) {
          before(first);
          this.#byKey.delete(first.key);
        }
        removals.shift();
      }
    }
  }

  #getEntry(entry: Origin): EntryRemovals {
    const known = this.#byEntry.get(entry);
    if (known !== undefined) return known;
    const added = { removals: new Fifo<Removal>(), isSorted: true };
    this.#byEntry.set(entry, added);
    return added;
  }
}

function sort(ofEntry: EntryRemovals): Fifo<Removal> {
  if (!ofEntry.isSorted) {
    const sorted = ofEntry.removals.slice().toSorted((a, b) => a.version - b.version);
    ofEntry.removals = new Fifo(sorted);
    ofEntry.isSorted = true;
  }
  return ofEntry.removals;
}

/**
 * Returns the entry by which a store has the removal. Its order is that of the stamps, so the
 * removals that come and go are near each other.
 */
export function toRemovalEntry({ key, time, site, entry, version }: Removal): Entry {
  return { value: version, key: `${time} ${site} ${entry} ${key}` };
}

export function parseRemovalEntry({ value, key: text }: Entry): Removal {
  const [time = '', site = '', entry = ''] = text.split(' ', 3);
  return {
    key: text.slice(time.length + site.length + entry.length + 3),
    time: Number(time),
    site: Number(site) as Origin,
    entry: Number(entry) as Origin,
    version: Number(value),
  };
}
