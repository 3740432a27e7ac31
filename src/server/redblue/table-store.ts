/** The rows of one table at one site, with the orders that scans read: of primary keys, and of each indexed field. */
import { Changes } from './checkpoint.ts';
import { frozen } from './frozen.ts';
import { compareStamps, loadPlace, savePlace } from './effect.ts';
import type { Effect, Place, SavedPlace, Stamp } from './effect.ts';
import type { FieldKind, FieldState } from './fields/field.ts';
import { FIELD_KINDS } from './fields/kinds.ts';
import { isScalar } from './key-range.ts';
import type { Entry, ReadRange, Scalar } from './key-range.ts';
import { isRemoval, isWholeRow } from './row-effects.ts';
import { SortedEntries } from './sorted-entries.ts';
import type { Table } from './tables.ts';

interface Row {
  readonly fields: Record<string, FieldState>;
  /** The latest write of a field that may be blue, or insertion; kept where rows are removed. */
  writtenAt: Place | undefined;
  /** Whether a red-only field was written since the last removal. */
  isRed: boolean;
  /** Whether it is among the changes already, or is still to be saved for the first time. */
  isNoted: boolean;
}

/** A row as it is saved: its fields, and where rows are removed what the `Row` says beside, and its last removal. */
type SavedRow = readonly [
  fields: Readonly<Record<string, unknown>> | null,
  writtenAt?: SavedPlace | null,
  isRed?: boolean,
  removedAt?: SavedPlace | null,
];

/** The rows of one table. */
export class TableStore {
  /** Keys of the rows that have changed since they were last saved. */
  readonly changes: Changes<string> = new Changes<string>();
  readonly #name: string;
  readonly #removable: boolean;
  readonly #kinds: ReadonlyMap<string, FieldKind>;
  /** What absent fields read as. */
  readonly #initial: ReadonlyMap<string, FieldState>;
  readonly #rows = new Map<string, Row>();
  /** When rows were last removed: an earlier write that comes later is part of what was removed. */
  readonly #removedAt = new Map<string, Place>();
  readonly #keys = new SortedEntries();
  readonly #indexes: ReadonlyMap<string, SortedEntries>;

  constructor(name: string, { fields, indexes, removable }: Table) {
    this.#name = name;
    this.#removable = removable;
    this.#kinds = new Map(Object.entries(fields).map(([field, { kind }]) => [field, FIELD_KINDS[kind]]));
    this.#initial = new Map([...this.#kinds].map(([field, kind]) => [field, kind.state()]));
    this.#indexes = new Map(indexes.map((field) => [field, new SortedEntries()]));
  }

  read(key: string, field: string): unknown {
    return (this.#rows.get(key)?.fields[field] ?? this.#initialOf(field)).read();
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    if (range.field === undefined) return this.#keys.scan(range, reverse);
    const index = this.#indexes.get(range.field);
    if (index === undefined) throw new Error(`no index '${this.#name}.${range.field}'`);
    return index.scan(range, reverse);
  }

  /** Applies one effect and returns its result. */
  apply(effect: Effect, stamp: Stamp): unknown {
    if (isRemoval(effect)) return this.#remove(effect.key, stamp);
    if (this.#removable && this.#isRemoved(effect, stamp)) return undefined;
    const row = this.#rowFor(effect.key);
    if (!row.isNoted) this.changes.add(effect.key);
    row.isNoted = true;
    if (this.#removable) this.#noteWrite(row, effect, stamp);
    if (isWholeRow(effect)) return undefined;
    // One that comes out of a log was not made here.
    frozen(effect.value);
    const state = (row.fields[effect.field] ??= this.#newState(effect.field));
    const index = this.#indexes.get(effect.field);
    if (index === undefined) return state.apply(effect, stamp);
    const before = indexedValues(state.read());
    const result = state.apply(effect, stamp);
    reindex(index, effect.key, before, indexedValues(state.read()));
    return result;
  }

  /** Everything as plain data, equal at two sites exactly when they have converged. */
  snapshot(): unknown {
    const rows = [...this.#rows].toSorted(byKey).map(([key, { fields }]) => [key, fieldSnapshots(fields)]);
    if (!this.#removable) return rows;
    const removals = [...this.#removedAt].toSorted(byKey).map(([key, { time, site }]) => [key, time, site]);
    return [rows, removals];
  }

  /** The keys of all that has to be saved. */
  *savedKeys(): Iterable<string> {
    yield* this.#rows.keys();
    for (const key of this.#removedAt.keys()) if (!this.#rows.has(key)) yield key;
  }

  /** A row as plain data, to make the same of again; `undefined` when there is nothing to say of it. */
  save(key: string): unknown {
    const row = this.#rows.get(key);
    if (row !== undefined) row.isNoted = false;
    const fields = row === undefined ? null : Object.entries(row.fields).map(([name, state]) => [name, state.save()]);
    const saved = fields === null ? null : (Object.fromEntries(fields) as Readonly<Record<string, unknown>>);
    if (!this.#removable) return saved === null ? undefined : ([saved] satisfies SavedRow);
    const removedAt = this.#removedAt.get(key);
    if (row === undefined && removedAt === undefined) return undefined;
    const { writtenAt, isRed = false } = row ?? {};
    const place = (at: Place | undefined): SavedPlace | null => (at === undefined ? null : savePlace(at));
    return [saved, place(writtenAt), isRed, place(removedAt)] satisfies SavedRow;
  }

  /** Makes a row of what `save` gave. */
  restore(key: string, saved: unknown): void {
    const [fields, writtenAt = null, isRed = false, removedAt = null] = saved as SavedRow;
    if (removedAt !== null) this.#removedAt.set(key, loadPlace(removedAt));
    if (fields === null) return;
    const row = this.#rowFor(key);
    row.writtenAt = writtenAt === null ? undefined : loadPlace(writtenAt);
    row.isRed = isRed;
    for (const [field, state] of Object.entries(fields)) {
      const restored = this.#newState(field, frozen(state));
      row.fields[field] = restored;
      const index = this.#indexes.get(field);
      if (index !== undefined) reindex(index, key, NOTHING, indexedValues(restored.read()));
    }
  }

  #rowFor(key: string): Row {
    let row = this.#rows.get(key);
    if (row === undefined) {
      const fields = Object.create(null) as Record<string, FieldState>;
      row = { fields, writtenAt: undefined, isRed: false, isNoted: false };
      this.#rows.set(key, row);
      this.#keys.add({ value: key, key });
    }
    return row;
  }

  #noteWrite(row: Row, effect: Effect, stamp: Stamp): void {
    if (this.#isRedOnly(effect)) row.isRed = true;
    else if (row.writtenAt === undefined || compareStamps(stamp, row.writtenAt) > 0) row.writtenAt = stamp;
  }

  /** Whether the effect belongs to what a removal has taken. Red-only fields go by the red order instead. */
  #isRemoved(effect: Effect, stamp: Stamp): boolean {
    const removedAt = this.#removedAt.get(effect.key);
    return removedAt !== undefined && compareStamps(stamp, removedAt) < 0 && !this.#isRedOnly(effect);
  }

  #isRedOnly(effect: Effect): boolean {
    return !isWholeRow(effect) && this.#kindOf(effect.field).redOnly;
  }

  #remove(key: string, stamp: Stamp): void {
    this.changes.add(key);
    const earlier = this.#removedAt.get(key);
    if (earlier === undefined || compareStamps(stamp, earlier) > 0) this.#removedAt.set(key, stamp);
    const row = this.#rows.get(key);
    if (row === undefined) return;
    for (const [field, state] of Object.entries(row.fields)) {
      const index = this.#indexes.get(field);
      const before = index === undefined ? NOTHING : indexedValues(state.read());
      state.clear(stamp);
      if (index !== undefined) reindex(index, key, before, indexedValues(state.read()));
      if (state.isInitial) delete row.fields[field];
    }
    row.isRed = false;
    if (row.writtenAt !== undefined && compareStamps(row.writtenAt, stamp) > 0) return;
    this.#rows.delete(key);
    this.#keys.delete({ value: key, key });
  }

  #newState(field: string, saved?: unknown): FieldState {
    const kind = this.#kindOf(field);
    return this.#removable && kind.removableState !== undefined ? kind.removableState(saved) : kind.state(saved);
  }

  #initialOf(field: string): FieldState {
    return this.#initial.get(field) ?? this.#noField(field);
  }

  #kindOf(field: string): FieldKind {
    return this.#kinds.get(field) ?? this.#noField(field);
  }

  #noField(field: string): never {
    throw new Error(`no field '${this.#name}.${field}': sites run different services`);
  }
}

const NOTHING: readonly Scalar[] = [];

/** The values under which a field's value is found: one of a register or cell, several of a set. */
export function indexedValues(value: unknown): readonly Scalar[] {
  if (isScalar(value)) return [value];
  return value instanceof Set ? [...(value as Set<unknown>)].filter(isScalar) : NOTHING;
}

function reindex(index: SortedEntries, key: string, before: readonly Scalar[], after: readonly Scalar[]): void {
  for (const value of before) if (!after.includes(value)) index.delete({ value, key });
  for (const value of after) if (!before.includes(value)) index.add({ value, key });
}

function fieldSnapshots(fields: Readonly<Record<string, FieldState>>): unknown {
  const written = Object.entries(fields).filter(([, state]) => !state.isInitial);
  return written.toSorted(byKey).map(([field, state]) => [field, state.snapshot()]);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
