/**
 * The rows of one table at one site, with the orders that scans read: of primary keys, and of each
 * indexed field.
 */
import { RowChanges, type SavedRow } from '../records/checkpoint.ts';
import { deepFreeze } from '../../../values/deep-freeze.ts';
import {
  compareStamps,
  loadPosition,
  savePosition,
  type Effect,
  type OrderPosition,
  type SavedPosition,
  type Stamp,
  isRedPosition,
  isRemoval,
  isWholeRow,
} from '../records/effect.ts';
import {
  COLUMN_BYTES,
  INDEX_ENTRY_BYTES,
  measureText,
  REMOVAL_BYTES,
  ROW_BYTES,
} from '../records/memory-bytes.ts';
import type { FieldKind, FieldOptions, FieldState, StateParts } from '../fields/field.ts';
import { FIELD_KINDS } from '../fields/field-kinds.ts';
import { isScalar, type Entry, type ReadRange, type Scalar } from '../records/read-range.ts';
import { RememberedRemovals, type Removal } from './remembered-removals.ts';
import { SortedEntries } from './sorted-entries.ts';
import type { Table } from '../tables.ts';
import type { Vector } from '../records/vector.ts';

/** Forgetting so many removals takes a few milliseconds. */
const MAX_FORGOTTEN = 5_000;

interface Column {
  readonly name: string;
  /** The index of the field's states in rows. */
  readonly position: number;
  readonly kind: FieldKind;
  readonly options: FieldOptions;
  /** The state of the field before its first write. */
  readonly initial: FieldState;
  readonly index: SortedEntries | undefined;
}

interface Row {
  /**
   * The states of the fields, by the positions of the fields. A field that was never written has
   * none.
   */
  readonly states: (FieldState | undefined)[];
  /**
   * The latest insertion, or write of a field that may be blue. It is kept if rows can be removed.
   */
  writtenAt: OrderPosition | undefined;
  /** Whether a red operation has written the row since its last removal. */
  isRed: boolean;
  /** The period of the changes in which the row was noted last; 0 if never. */
  notedIn: number;
}

/**
 * A row as it is saved: its fields, its `Row` properties, and its last removal if rows can be
 * removed.
 */
type StoredRow = readonly [
  fields: Readonly<Record<string, unknown>> | null,
  writtenAt?: SavedPosition | null,
  isRed?: boolean,
  removedAt?: SavedPosition | null,
];

export class TableStore {
  readonly changes: RowChanges<string> = new RowChanges<string>({
    listKeys: () => this.#listSavedKeys(),
    save: (key) => this.#save(key),
  });
  /** The parts of fields that may become large. */
  readonly parts: SavedParts;
  readonly #name: string;
  readonly #removable: boolean;
  /** Whether blue operations can remove rows. */
  readonly #isRemovedByBlue: boolean;
  /** The columns by name, in the order of their positions. */
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #rows = new Map<string, Row>();
  readonly #removals = new RememberedRemovals();
  readonly #keys = new SortedEntries();
  readonly #countRemoval: () => void;
  /** The bytes of a row without its key and the states of its fields. */
  readonly #rowBytes: number;
  #bytes = 0;

  /** @param countRemoval is called for each removal that is applied, or found at the start */
  constructor(name: string, { fields, indexes, removable }: Table, countRemoval: () => void) {
    this.#name = name;
    this.#countRemoval = countRemoval;
    this.#removable = removable;
    const columns = Object.entries(fields).map(([field, options], position): Column => {
      const kind = FIELD_KINDS[options.kind];
      const index = indexes.includes(field) ? new SortedEntries() : undefined;
      return {
        name: field,
        position,
        kind,
        options,
        initial: kind.state(undefined, options),
        index,
      };
    });
    this.#columns = new Map(columns.map((column) => [column.name, column]));
    this.#rowBytes = ROW_BYTES + COLUMN_BYTES * columns.length;
    this.#isRemovedByBlue = removable && !columns.some(({ kind }) => kind.isRedOnly);
    this.parts = new SavedParts({
      fields: columns.filter(({ kind }) => kind.hasParts === true).map((column) => column.name),
      getParts: (key, field) => this.#rows.get(key)?.states[this.#getColumn(field).position]?.parts,
      onRestored: (bytes) => {
        this.#bytes += bytes;
      },
    });
  }

  read(key: string, field: string): unknown {
    const { position, initial } = this.#getColumn(field);
    return (this.#rows.get(key)?.states[position] ?? initial).read();
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  /**
   * Whether every later red operation finds the row: a red one has written it, and no blue one can
   * remove it.
   */
  existsByRed(key: string): boolean {
    return !this.#isRemovedByBlue && this.#rows.get(key)?.isRed === true;
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    if (range.field === undefined) return this.#keys.scan(range, reverse);
    const index = this.#columns.get(range.field)?.index;
    if (index === undefined) throw new Error(`no index '${this.#name}.${range.field}'`);
    return index.scan(range, reverse);
  }

  apply(effect: Effect, stamp: Stamp): unknown {
    if (isRemoval(effect)) return this.#remove(effect.key, stamp);
    if (this.#removable && this.#isRemoved(effect, stamp)) return undefined;
    const row = this.#changeRow(effect.key);
    if (isRedPosition(stamp)) row.isRed = true;
    if (this.#removable) this.#noteWrite(row, effect, stamp);
    if (isWholeRow(effect)) return undefined;
    // An effect that comes from a log is not frozen yet.
    deepFreeze(effect.value);
    const column = this.#getColumn(effect.field);
    const state = (row.states[column.position] ??= this.#addState(column));
    if (state.parts !== undefined) this.parts.note(effect, state.parts);
    this.#bytes -= state.bytes;
    const result = this.#applyTo(state, column, effect, stamp);
    this.#bytes += state.bytes;
    return result;
  }

  #applyTo(state: FieldState, { index }: Column, effect: Effect, stamp: Stamp): unknown {
    if (index === undefined) return state.apply(effect, stamp);
    const valuesOf = (): readonly Scalar[] => getTouchedValues(state, effect);
    const before = valuesOf();
    const result = state.apply(effect, stamp);
    this.#updateIndex(index, effect.key, before, valuesOf());
    return result;
  }

  /** About how many bytes the table takes in memory. It follows from its content alone. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Forgets removals that every later operation has seen, not all at once if there are many: the
   * next call goes on.
   */
  forgetRemovals(covered: Vector): void {
    this.#removals.forgetCovered(covered, MAX_FORGOTTEN, ({ key }) => {
      this.changes.note(key);
      this.#bytes -= REMOVAL_BYTES + measureText(key);
    });
  }

  /**
   * As plain data, equal at two sites exactly when they have converged: without removals, which
   * sites forget.
   */
  snapshot(): unknown {
    return [...this.#rows]
      .toSorted(compareKeys)
      .map(([key, row]) => [key, this.#fieldSnapshots(row)]);
  }

  snapshotRow(key: string): unknown {
    return this.#fieldSnapshots(this.#rows.get(key) as Row);
  }

  measureRow(key: string): number {
    let bytes = measureText(key);
    for (const state of (this.#rows.get(key) as Row).states)
      if (state !== undefined) bytes += state.snapshotBytes ?? state.bytes;
    return bytes;
  }

  /** When rows were last removed, as plain data, of those removals that are remembered. */
  getRemovalTimes(): unknown {
    return [...this.#removals.all()]
      .map((removal) => [removal.key, savePosition(removal)] as const)
      .toSorted(compareKeys);
  }

  /** Creates a row as it was saved. */
  restore(key: string, saved: unknown): void {
    const [fields, writtenAt = null, isRed = false, removedAt = null] = saved as StoredRow;
    if (removedAt !== null) {
      this.#setRemoved({ key, ...loadPosition(removedAt) });
      this.#countRemoval();
    }
    if (fields === null) return;
    const row = this.#addRow(key);
    row.writtenAt = writtenAt === null ? undefined : loadPosition(writtenAt);
    row.isRed = isRed;
    for (const [field, state] of Object.entries(fields)) {
      const column = this.#getColumn(field);
      const restored = this.#newState(column, deepFreeze(state));
      row.states[column.position] = restored;
      if (restored.parts !== undefined) this.parts.add(key);
      this.#bytes += restored.bytes;
      const { index } = column;
      if (index !== undefined)
        this.#updateIndex(index, key, NO_VALUES, getIndexedValues(restored.read()));
    }
  }

  /** The keys of all that has to be saved. */
  *#listSavedKeys(): Iterable<string> {
    yield* this.#rows.keys();
    for (const key of this.#removals.keys()) if (!this.#rows.has(key)) yield key;
  }

  /**
   * Returns a row as plain data that `restore` takes. It is `undefined` if there is nothing to
   * save.
   */
  #save(key: string): unknown {
    const row = this.#rows.get(key);
    const saved = row === undefined ? null : this.#savedFields(row);
    const { writtenAt, isRed = false } = row ?? {};
    if (!this.#removable) {
      if (saved === null) return undefined;
      return (isRed ? [saved, null, isRed] : [saved]) satisfies StoredRow;
    }
    const removedAt = this.#removals.get(key);
    if (row === undefined && removedAt === undefined) return undefined;
    const place = (at: OrderPosition | undefined): SavedPosition | null =>
      at === undefined ? null : savePosition(at);
    return [saved, place(writtenAt), isRed, place(removedAt)] satisfies StoredRow;
  }

  /** Returns the row, a new one if there is none, which is about to change. */
  #changeRow(key: string): Row {
    const existing = this.#rows.get(key);
    const { period } = this.changes;
    if (existing?.notedIn !== period) this.changes.note(key);
    const row = existing ?? this.#addRow(key);
    row.notedIn = period;
    return row;
  }

  #addRow(key: string): Row {
    // An empty array would have room for 17 states after the first one.
    // oxlint-disable-next-line unicorn/no-new-array
    const states = new Array<FieldState | undefined>(this.#columns.size);
    const row: Row = { states, writtenAt: undefined, isRed: false, notedIn: 0 };
    this.#rows.set(key, row);
    this.#bytes += this.#rowBytes + measureText(key);
    this.#keys.add({ value: key, key });
    return row;
  }

  #noteWrite(row: Row, effect: Effect, stamp: Stamp): void {
    if (this.#isRedOnly(effect)) return;
    if (row.writtenAt === undefined || compareStamps(stamp, row.writtenAt) > 0)
      row.writtenAt = stamp;
  }

  /**
   * Returns whether the effect belongs to a removed row. For fields that only red operations write,
   * the red order determines that instead.
   */
  #isRemoved(effect: Effect, stamp: Stamp): boolean {
    const removedAt = this.#removals.get(effect.key);
    return (
      removedAt !== undefined && compareStamps(stamp, removedAt) < 0 && !this.#isRedOnly(effect)
    );
  }

  #isRedOnly(effect: Effect): boolean {
    return !isWholeRow(effect) && this.#getColumn(effect.field).kind.isRedOnly;
  }

  #remove(key: string, stamp: Stamp): void {
    this.changes.note(key);
    this.#countRemoval();
    const earlier = this.#removals.get(key);
    if (earlier === undefined || compareStamps(stamp, earlier) > 0)
      this.#setRemoved(toRemoval(key, stamp));
    const row = this.#rows.get(key);
    if (row === undefined) return;
    let remaining = 0;
    for (const [{ name, position, index }, state] of this.#getWrittenFields(row)) {
      const before = index === undefined ? NO_VALUES : getIndexedValues(state.read());
      if (state.parts !== undefined) this.parts.noteAll(key, name, state.parts);
      this.#bytes -= state.bytes;
      state.clear(stamp);
      if (index !== undefined)
        this.#updateIndex(index, key, before, getIndexedValues(state.read()));
      if (state.isInitial) row.states[position] = undefined;
      else remaining += state.bytes;
    }
    this.#bytes += remaining;
    row.isRed = false;
    if (row.writtenAt !== undefined && compareStamps(row.writtenAt, stamp) > 0) return;
    this.#rows.delete(key);
    this.parts.forget(key);
    this.#bytes -= this.#rowBytes + measureText(key) + remaining;
    this.#keys.delete({ value: key, key });
  }

  #setRemoved(removal: Removal): void {
    const { key } = removal;
    if (!this.#removals.has(key)) this.#bytes += REMOVAL_BYTES + measureText(key);
    this.#removals.set(removal);
  }

  #updateIndex(
    index: SortedEntries,
    key: string,
    before: readonly Scalar[],
    after: readonly Scalar[],
  ): void {
    const sizeBefore = index.size;
    updateIndex(index, key, before, after);
    this.#bytes += INDEX_ENTRY_BYTES * (index.size - sizeBefore);
  }

  /** The fields of a row that were written. */
  *#getWrittenFields({ states }: Row): Iterable<readonly [Column, FieldState]> {
    for (const column of this.#columns.values()) {
      const state = states[column.position];
      if (state !== undefined) yield [column, state];
    }
  }

  #savedFields(row: Row): Readonly<Record<string, unknown>> {
    const fields: [name: string, saved: unknown][] = [];
    for (const [{ name }, state] of this.#getWrittenFields(row)) fields.push([name, state.save()]);
    return Object.fromEntries(fields);
  }

  #fieldSnapshots(row: Row): unknown {
    const fields: [name: string, snapshot: unknown][] = [];
    for (const [{ name }, state] of this.#getWrittenFields(row))
      if (!state.isInitial) fields.push([name, state.snapshot()]);
    return fields.toSorted(compareKeys);
  }

  #addState(column: Column): FieldState {
    const state = this.#newState(column);
    this.#bytes += state.bytes;
    return state;
  }

  #newState({ kind, options }: Column, saved?: unknown): FieldState {
    return this.#removable && kind.removableState !== undefined
      ? kind.removableState(saved)
      : kind.state(saved, options);
  }

  #getColumn(field: string): Column {
    const column = this.#columns.get(field);
    if (column === undefined)
      throw new Error(`no field '${this.#name}.${field}': sites run different services`);
    return column;
  }
}

/** Returns the part of a stamp that is kept for long. It leaves out what the operation had seen. */
const toRemoval = (key: string, { time, site, entry, version }: Stamp): Removal => ({
  key,
  time,
  site,
  entry,
  version,
});

const NO_VALUES: readonly Scalar[] = [];

/** The values under which a field's value is found: one of a register or cell, several of a set. */
export function getIndexedValues(value: unknown): readonly Scalar[] {
  if (isScalar(value)) return [value];
  return value instanceof Set ? [...(value as Set<unknown>)].filter(isScalar) : NO_VALUES;
}

/** Returns those index values of a field that the effect may add or remove. */
function getTouchedValues(state: FieldState, { value }: Effect): readonly Scalar[] {
  if (state.holds === undefined) return getIndexedValues(state.read());
  return isScalar(value) && state.holds(value) ? [value] : NO_VALUES;
}

function updateIndex(
  index: SortedEntries,
  key: string,
  before: readonly Scalar[],
  after: readonly Scalar[],
): void {
  const [had, has] = [new Set(before), new Set(after)];
  for (const value of before) if (!has.has(value)) index.delete({ value, key });
  for (const value of after) if (!had.has(value)) index.add({ value, key });
}

function compareKeys([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

interface PartsHost {
  /** The fields that are saved in parts. */
  readonly fields: readonly string[];
  /** Returns the parts of a field, or none if the field was never written. */
  getParts(key: string, field: string): StateParts | undefined;
  /** A part was restored, and takes this many bytes. */
  onRestored(bytes: number): void;
}

const SEPARATOR = '\u0000';

/** Names of fields have no separator in them; keys may. */
function formatSavedName(field: string, number: number, key: string): string {
  return `${field}${SEPARATOR}${number}${SEPARATOR}${key}`;
}

function splitName(name: string): {
  field: string;
  number: number;
  key: string;
} {
  const [field = '', number = ''] = name.split(SEPARATOR, 2);
  return {
    field,
    number: Number(number),
    key: name.slice(field.length + number.length + 2),
  };
}

class SavedParts {
  readonly changes: RowChanges<string> = new RowChanges<string>({
    listKeys: () => this.#listNames(),
    save: (name) => this.#save(name),
  });
  readonly #host: PartsHost;
  /** The rows that have parts. A walk over all rows to find them would take one long turn. */
  readonly #keys = new Set<string>();

  constructor(host: PartsHost) {
    this.#host = host;
  }

  /** The row has a field with parts. */
  add(key: string): void {
    this.#keys.add(key);
  }

  /** The row was removed. */
  forget(key: string): void {
    this.#keys.delete(key);
  }

  /** To be called before the effect changes a field. */
  note({ key, field, action }: Effect, parts: StateParts): void {
    this.#keys.add(key);
    const number = parts.findChanging(action, this.changes);
    if (number !== undefined) this.changes.note(formatSavedName(field, number, key));
  }

  /** To be called before all of a field may change. */
  noteAll(key: string, field: string, parts: StateParts): void {
    for (const number of parts.getNumbers()) this.changes.note(formatSavedName(field, number, key));
  }

  #save(name: string): unknown {
    const { field, number, key } = splitName(name);
    return this.#host.getParts(key, field)?.save(number);
  }

  /** Restores the parts. The rows of the table must be restored already. */
  restore(rows: readonly SavedRow[]): void {
    if (this.#host.fields.length === 0) return;
    const parts = rows.map(([name, saved]) => ({ ...splitName(name), saved }));
    for (const { key, field, number, saved } of parts.toSorted((a, b) => a.number - b.number)) {
      const state = this.#host.getParts(key, field);
      if (state === undefined) continue;
      const before = state.bytes;
      state.restore(number, saved);
      this.#host.onRestored(state.bytes - before);
    }
    for (const key of this.#keys) {
      for (const field of this.#host.fields) this.#host.getParts(key, field)?.checkRestored();
    }
  }

  *#listNames(): Iterable<string> {
    for (const key of this.#keys) {
      for (const field of this.#host.fields) {
        for (const number of this.#host.getParts(key, field)?.getNumbers() ?? [])
          yield formatSavedName(field, number, key);
      }
    }
  }
}
