/**
 * Finds the holds that an operation overlaps, by the names and intervals that both touch. Without
 * it, each record would be compared with each hold that stands: the cost of an operation would grow
 * with the load.
 */
import { MinHeap } from '../../../service/collections/min-heap.ts';
import { isRemoval, type Effect } from '../../../service/records/effect.ts';
import { isScalar, type ReadRange } from '../../../service/records/read-range.ts';
import type { ExecutionName } from '../../../service/records/records.ts';
import { SortedEntries } from '../../../service/state/sorted-entries.ts';
import { SEPARATOR, toRowName } from '../../../service/generator/read-set.ts';
import type { Footprint, IndexedHold } from './footprint.ts';
import { IntervalIndex } from './interval-index.ts';

type Reads = Pick<Footprint, 'reads' | 'ranges'>;

const NONE: ReadonlySet<IndexedHold> = new Set();

export class HoldIndex {
  readonly #holds = new Map<ExecutionName, IndexedHold>();
  readonly #readers = new NameIndex();
  readonly #writers = new NameIndex();
  /** The intervals that holds have scanned, by the order that they are in. */
  readonly #intervals = new Map<string, IntervalIndex>();
  /**
   * The places of what a hold writes, by the order that they are in. It is built for the first
   * range: most services have none.
   */
  #places: Map<string, SortedEntries> | undefined;
  #added = 0;

  add(execution: ExecutionName, footprint: Footprint): void {
    this.delete(execution);
    const hold = { execution, footprint, order: this.#added };
    this.#added += 1;
    this.#holds.set(execution, hold);
    this.#readers.add(footprint.reads, hold);
    this.#writers.add(footprint.writes, hold);
    for (const range of footprint.ranges) {
      const order = toOrderName(range);
      const intervals = this.#intervals.get(order) ?? new IntervalIndex();
      this.#intervals.set(order, intervals);
      intervals.add(range, hold);
    }
    this.#addPlaces(hold);
  }

  delete(execution: ExecutionName): void {
    const hold = this.#holds.get(execution);
    if (hold === undefined) return;
    const { footprint } = hold;
    this.#holds.delete(execution);
    this.#readers.delete(footprint.reads, hold);
    this.#writers.delete(footprint.writes, hold);
    for (const range of footprint.ranges) {
      const order = toOrderName(range);
      const intervals = this.#intervals.get(order);
      intervals?.delete(range, hold);
      if (intervals?.isEmpty === true) this.#intervals.delete(order);
    }
    if (this.#places === undefined) return;
    for (const [order, value] of listPlaces(footprint)) {
      const entries = this.#places.get(order);
      entries?.delete({ value, key: execution });
      if (entries?.size === 0) this.#places.delete(order);
    }
  }

  #addPlaces({ execution, footprint }: IndexedHold): void {
    if (this.#places === undefined) return;
    for (const [order, value] of listPlaces(footprint)) {
      const entries = this.#places.get(order) ?? new SortedEntries();
      this.#places.set(order, entries);
      entries.add({ value, key: execution });
    }
  }

  /** Returns every hold that overlaps `later`, the oldest first, and maybe others. */
  findOverlaps(later: Footprint): Iterable<IndexedHold> {
    const found = this.#listWriters(later);
    // Two new rows of one table write its name, and do not overlap by that.
    for (const name of later.writes) {
      if (name.includes(SEPARATOR)) found.push(this.#writers.get(name));
      found.push(this.#readers.get(name));
    }
    if (this.#intervals.size > 0)
      for (const [order, value] of listPlaces(later))
        found.push(sortByAge(this.#intervals.get(order)?.find(value) ?? []));
    return mergeByAge(found);
  }

  /** Returns every hold that writes something of `reads`, the oldest first. */
  findWriters(reads: Reads): Iterable<IndexedHold> {
    return mergeByAge(this.#listWriters(reads));
  }

  #listWriters({ reads, ranges }: Reads): ReadonlySet<IndexedHold>[] {
    const found: ReadonlySet<IndexedHold>[] = [];
    // Holds are few, and an operation may have read a lot.
    if (!this.#writers.isEmpty) for (const name of reads) found.push(this.#writers.get(name));
    if (this.#holds.size > 0) for (const range of ranges) found.push(this.#findInRange(range));
    return found;
  }

  #findInRange(range: ReadRange): ReadonlySet<IndexedHold> {
    if (this.#places === undefined) {
      this.#places = new Map();
      for (const hold of this.#holds.values()) this.#addPlaces(hold);
    }
    const entries = this.#places.get(toOrderName(range));
    if (entries === undefined) return NONE;
    const holds: IndexedHold[] = [];
    for (const { key } of entries.scan(range)) holds.push(this.#holds.get(key) as IndexedHold);
    return sortByAge(holds);
  }
}

class NameIndex {
  /** By name, the oldest hold first. */
  readonly #holds = new Map<string, Set<IndexedHold>>();

  get isEmpty(): boolean {
    return this.#holds.size === 0;
  }

  get(name: string): ReadonlySet<IndexedHold> {
    return this.#holds.get(name) ?? NONE;
  }

  add(names: Iterable<string>, hold: IndexedHold): void {
    for (const name of names) {
      const present = this.#holds.get(name);
      if (present === undefined) this.#holds.set(name, new Set([hold]));
      else present.add(hold);
    }
  }

  delete(names: Iterable<string>, hold: IndexedHold): void {
    for (const name of names) {
      const present = this.#holds.get(name);
      present?.delete(hold);
      if (present?.size === 0) this.#holds.delete(name);
    }
  }
}

function sortByAge(holds: readonly IndexedHold[]): ReadonlySet<IndexedHold> {
  if (holds.length === 0) return NONE;
  return new Set(holds.toSorted((a, b) => a.order - b.order));
}

/** Merges sets of which each has its oldest hold first. */
function mergeByAge(sets: readonly ReadonlySet<IndexedHold>[]): Iterable<IndexedHold> {
  const found = sets.filter(({ size }) => size > 0);
  return found.length < 2 ? (found[0] ?? NONE) : merge(found);
}

function* merge(
  sets: readonly ReadonlySet<IndexedHold>[],
): Generator<IndexedHold, void, undefined> {
  const heads = new MinHeap<{
    readonly hold: IndexedHold;
    readonly others: Iterator<IndexedHold>;
  }>();
  const push = (others: Iterator<IndexedHold>): void => {
    const { done, value: hold } = others.next();
    if (done !== true) heads.push(hold.order, { hold, others });
  };
  for (const set of sets) push(set.values());
  let last: IndexedHold | undefined;
  for (let head = heads.shift(); head !== undefined; head = heads.shift()) {
    push(head.others);
    if (head.hold !== last) yield head.hold;
    last = head.hold;
  }
}

/** Names an order of a table: that of its keys, or of an indexed field. */
function toOrderName({ table, field }: Pick<ReadRange, 'table' | 'field'>): string {
  return field === undefined ? table : table + SEPARATOR + field;
}

/** Returns where a scan would meet what the effects change: see `isRangeChanged`. */
function listPlaces({
  effects,
  created,
}: Pick<Footprint, 'effects' | 'created'>): (readonly [order: string, value: string | number])[] {
  const places: (readonly [string, string | number])[] = [];
  for (const effect of effects) {
    const { table, key, field, value } = effect;
    if (isRowChanged(effect, created)) places.push([table, key]);
    if (isScalar(value)) places.push([toOrderName({ table, field }), value]);
  }
  return places;
}

/** Whether the row is new, or removed. */
function isRowChanged(effect: Effect, created: ReadonlySet<string>): boolean {
  return (
    isRemoval(effect) || (created.size > 0 && created.has(toRowName(effect.table, effect.key)))
  );
}
