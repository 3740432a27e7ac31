/**
 * The rows of one table at one site, with the orders that scans read: of primary keys, and of each
 * indexed field. All are in memory, unless the table was opened with a store that has them.
 */
import type { RowChanges, SavedOrders } from '../records/checkpoint.ts';
import { deepFreeze } from '../../../values/deep-freeze.ts';
import {
  compareStamps,
  loadPosition,
  savePosition,
  type Effect,
  type SavedPosition,
  type Stamp,
  isRedPosition,
  isRemoval,
  isWholeRow,
} from '../records/effect.ts';
import { measureText, REMOVAL_BYTES } from '../records/memory-bytes.ts';
import type { FieldState } from '../fields/field.ts';
import type { Entry, ReadRange, Scalar } from '../records/read-range.ts';
import { getIndexedValues, getTouchedValues, NO_VALUES, updateIndex } from './indexed-values.ts';
import {
  parseRemovalEntry,
  RememberedRemovals,
  toRemovalEntry,
  type Removal,
} from './remembered-removals.ts';
import type { Row, Rows, StoredRow } from './row.ts';
import type { SavedTable } from './saved-names.ts';
import { loadParts, SavedParts } from './saved-parts.ts';
import { SortedEntries } from './sorted-entries.ts';
import type { Order } from './stored-order.ts';
import { STATE_PARTS, StoredTable, type StoredTableOptions } from './stored-table.ts';
import { compareKeys, TableColumns, type Column, type IndexedColumn } from './table-columns.ts';
import { nameIndex, type TableOrders } from './table-orders.ts';
import type { Table } from '../tables.ts';
import type { Vector } from '../records/vector.ts';

/** Forgetting so many removals takes a few milliseconds. */
const MAX_FORGOTTEN = 5_000;

export class TableStore {
  readonly changes: RowChanges<string>;
  /** The parts of fields that may become large. */
  readonly parts: SavedParts;
  readonly #classes: typeof STATE_PARTS;
  readonly #name: string;
  readonly #removable: boolean;
  /** Whether blue operations can remove rows. */
  readonly #isRemovedByBlue: boolean;
  readonly #columns: TableColumns;
  /** All rows, unless the table was opened with a store. */
  readonly #all = new Map<string, Row>();
  #rows: Rows = this.#all;
  readonly #removals = new RememberedRemovals();
  #keys: Order = new SortedEntries();
  /** What the table has once it was opened with a store. */
  #stored: StoredTable | undefined;
  readonly #countRemoval: () => void;
  /** The bytes of the rows in memory. */
  #bytes = 0;
  #removalBytes = 0;

  /** @param countRemoval is called for each removal that is applied, or found at the start */
  constructor(
    name: string,
    table: Table,
    countRemoval: () => void,
    classes: typeof STATE_PARTS = STATE_PARTS,
  ) {
    this.#name = name;
    this.#countRemoval = countRemoval;
    this.#removable = table.removable;
    this.#classes = classes;
    const columns = new TableColumns(name, table);
    this.#columns = columns;
    this.#isRemovedByBlue = table.removable && !columns.hasRedOnly;
    this.changes = new classes.RowChanges<string>({
      listKeys: () => this.#listSavedKeys(),
      save: (key) => this.#save(key),
    });
    this.parts = new SavedParts({
      fields: columns.inParts,
      getParts: (key, field) => this.#rows.get(key)?.states[columns.get(field).position]?.parts,
      onRestored: (bytes) => {
        this.#bytes += bytes;
      },
    });
  }

  /** Begins with what a store has, and reads rows from there from now on. */
  open(
    saved: SavedTable,
    options: Pick<StoredTableOptions, 'cache' | 'maxChunk' | 'orderSizes'>,
  ): void {
    const indexes = this.#columns.indexed.map(({ name }) => name);
    const parts = this.#classes;
    const stored = new StoredTable(
      { ...options, table: this.#name, indexes, saved, parts },
      {
        changes: this.changes,
        load: (key) => this.#load(key),
        measure: (key, row) => this.#columns.measure(key, row),
        onLoaded: (bytes) => {
          this.#bytes += bytes;
        },
        onLeft: (key, bytes) => {
          this.parts.forget(key);
          this.#bytes -= bytes;
        },
      },
    );
    this.#rows = stored.rows;
    this.#keys = stored.orders.keys;
    for (const column of this.#columns.indexed) column.index = stored.orders.getIndex(column.name);
    for (const entry of stored.orders.removals.scan({ table: this.#name }))
      this.#restoreRemoval(parseRemovalEntry(entry));
    this.#stored = stored;
    for (const { changes } of [this, this.parts]) changes.open();
    const { orderSizes } = options;
    if (orderSizes !== undefined)
      this.#addAllTo(this.#columns.indexed.filter(({ name }) => !orderSizes.has(nameIndex(name))));
  }

  /** The sizes of the orders that a store has of the table. */
  get orderSizes(): SavedOrders {
    return this.#stored?.orders.sizes ?? {};
  }

  read(key: string, field: string): unknown {
    const { position, initial } = this.#columns.get(field);
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
    const index = this.#columns.find(range.field)?.index;
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
    const column = this.#columns.get(effect.field);
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
    updateIndex(index, effect.key, before, valuesOf());
    return result;
  }

  /** About how many bytes the table takes in memory. Without a store, its content alone decides. */
  get bytes(): number {
    let bytes = this.#bytes + this.#removalBytes;
    if (this.#stored !== undefined) return bytes + this.#stored.orders.bytes;
    for (const { index } of this.#columns.indexed) bytes += index.bytes;
    return bytes;
  }

  /** How many of them a start needs. It reads no rows if a store has them. */
  get bytesAtStart(): number {
    return this.#stored === undefined ? this.bytes : this.#removalBytes;
  }

  /** The bytes that cannot leave memory before a commit. */
  get dirtyBytes(): number {
    if (this.#stored === undefined) return 0;
    const { rows, orders } = this.#stored;
    return this.#bytes - rows.cleanBytes + orders.dirtyBytes;
  }

  /**
   * Forgets removals that every later operation has seen, not all at once if there are many: the
   * next call goes on.
   */
  forgetRemovals(covered: Vector): void {
    this.#removals.forgetCovered(covered, MAX_FORGOTTEN, (removal) => {
      this.changes.note(removal.key);
      this.#stored?.orders.removals.delete(toRemovalEntry(removal));
      this.#removalBytes -= REMOVAL_BYTES + measureText(removal.key);
    });
  }

  /**
   * As plain data, equal at two sites exactly when they have converged: without removals, which
   * sites forget.
   */
  snapshot(): unknown {
    return Array.from(this.#keys.scan({ table: this.#name }, false), ({ key }) => {
      const row = this.#stored === undefined ? this.#rows.get(key) : this.#stored.rows.view(key);
      return [key, this.#columns.getSnapshots(row as Row)];
    });
  }

  snapshotRow(key: string): unknown {
    return this.#columns.getSnapshots(this.#rows.get(key) as Row);
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
    const stored = saved as StoredRow;
    const [, , , removedAt = null] = stored;
    if (removedAt !== null) this.#restoreRemoval({ key, ...loadPosition(removedAt) });
    const row = this.#columns.restoreRow(stored);
    if (row === undefined) return;
    this.#addRow(key, row);
    for (const state of row.states) {
      if (state?.parts !== undefined) this.parts.add(key);
      this.#bytes += state?.bytes ?? 0;
    }
    addToIndexes(this.#columns.indexed, key, row);
  }

  closeChanges(): void {
    this.changes.closeChanges();
    this.parts.changes.closeChanges();
    this.#stored?.closeChanges(this.#bytes);
  }

  /** Takes up to `max` rows that the store has of orders. */
  takeClosedOrders(max: number): ReturnType<TableOrders['takeClosed']> {
    return this.#stored?.orders.takeClosed(max) ?? [];
  }

  onCommitted(saved: SavedTable): void {
    for (const { changes } of [this, this.parts]) changes.onCommitted();
    this.#stored?.onCommitted(saved);
  }

  onCommitFailed(): void {
    for (const { changes } of [this, this.parts]) changes.onCommitFailed();
    this.#stored?.onCommitFailed();
  }

  /** Adds all rows to indexes that are new in this version of the service. */
  #addAllTo(columns: readonly IndexedColumn[]): void {
    if (columns.length === 0) return;
    for (const { key } of this.#keys.scan({ table: this.#name }, false))
      addToIndexes(columns, key, this.#stored?.rows.view(key) as Row);
  }

  /** Creates a row as the store has it. */
  #load(key: string): Row | undefined {
    const { saved, orders } = this.#stored as StoredTable;
    const stored = saved.rows.get(key) as StoredRow | undefined;
    if (stored === undefined) {
      // A store may have lost the row without a word.
      if (!orders.keys.isSaved({ value: key, key })) return undefined;
      const name = `the row ${JSON.stringify(key)} of '${this.#name}'`;
      return saved.rows.reportDamage(`${name} is missing, which the order of keys names`);
    }
    const row = this.#columns.restoreRow(stored);
    if (row === undefined || this.#columns.inParts.length === 0) return row;
    const [, , , , firstParts = {}] = stored;
    for (const [{ name: field }, { parts }] of this.#columns.written(row))
      if (parts !== undefined)
        loadParts(parts, firstParts[field], { key, field, saved: saved.parts });
    return row;
  }

  /** The keys of all that has to be saved, if all rows are in memory. */
  *#listSavedKeys(): Iterable<string> {
    yield* this.#all.keys();
    for (const key of this.#removals.keys()) if (!this.#all.has(key)) yield key;
  }

  /**
   * Returns a row as plain data that `restore` takes. It is `undefined` if there is nothing to
   * save.
   */
  #save(key: string): unknown {
    const stored = this.#stored;
    const removedAt = this.#removals.get(key);
    const removal = removedAt === undefined ? null : savePosition(removedAt);
    if (stored?.rows.isAway(key) === true) return saveAway(stored.saved.rows.get(key), removal);
    const row = this.#rows.get(key);
    if (row === undefined) return saveRemoved(removal);
    stored?.rows.onTaken(key);
    const fields = this.#columns.saveFields(row);
    const firstParts = stored && this.#columns.getFirstParts(row);
    const { writtenAt, isRed } = row;
    if (!this.#removable && firstParts === undefined)
      return (isRed ? [fields, null, isRed] : [fields]) satisfies StoredRow;
    const writtenPlace = writtenAt === undefined ? null : savePosition(writtenAt);
    const saved = [fields, writtenPlace, isRed, removal] as const;
    return (firstParts === undefined ? saved : [...saved, firstParts]) satisfies StoredRow;
  }

  /** Returns the row, a new one if there is none, which is about to change. */
  #changeRow(key: string): Row {
    const existing = this.#rows.get(key);
    if (existing !== undefined) {
      this.#noteRow(key, existing);
      return existing;
    }
    this.changes.note(key);
    const row = this.#columns.createRow();
    this.#addRow(key, row);
    row.notedIn = this.changes.period;
    return row;
  }

  /** Notes that the row is about to change, once in each period. */
  #noteRow(key: string, row: Row): void {
    const { period } = this.changes;
    if (row.notedIn === period) return;
    this.#stored?.rows.beforeChange(key, row);
    // The row is dirty before anything else happens, so that it stays in memory.
    row.notedIn = period;
    this.changes.note(key);
  }

  #addRow(key: string, row: Row): void {
    this.#rows.set(key, row);
    this.#bytes += this.#columns.measureEmpty(key);
    this.#keys.add({ value: key, key });
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
    return !isWholeRow(effect) && this.#columns.get(effect.field).kind.isRedOnly;
  }

  #remove(key: string, stamp: Stamp): void {
    const row = this.#rows.get(key);
    if (row === undefined) this.changes.note(key);
    else this.#noteRow(key, row);
    this.#countRemoval();
    const earlier = this.#removals.get(key);
    if (earlier === undefined || compareStamps(stamp, earlier) > 0)
      this.#setRemoved(toRemoval(key, stamp), earlier);
    if (row === undefined) return;
    let remaining = 0;
    for (const [{ name, position, index }, state] of this.#columns.written(row)) {
      const before = index === undefined ? NO_VALUES : getIndexedValues(state.read());
      if (state.parts !== undefined) this.parts.noteAll(key, name, state.parts);
      this.#bytes -= state.bytes;
      state.clear(stamp);
      if (index !== undefined) updateIndex(index, key, before, getIndexedValues(state.read()));
      if (state.isInitial) row.states[position] = undefined;
      else remaining += state.bytes;
    }
    this.#bytes += remaining;
    row.isRed = false;
    if (row.writtenAt !== undefined && compareStamps(row.writtenAt, stamp) > 0) return;
    this.#rows.delete(key);
    this.parts.forget(key);
    this.#bytes -= this.#columns.measureEmpty(key) + remaining;
    this.#keys.delete({ value: key, key });
  }

  #setRemoved(removal: Removal, earlier: Removal | undefined): void {
    if (earlier !== undefined) this.#stored?.orders.removals.delete(toRemovalEntry(earlier));
    this.#stored?.orders.removals.add(toRemovalEntry(removal));
    this.#rememberRemoval(removal);
  }

  #restoreRemoval(removal: Removal): void {
    this.#rememberRemoval(removal);
    this.#countRemoval();
  }

  #rememberRemoval(removal: Removal): void {
    const { key } = removal;
    if (!this.#removals.has(key)) this.#removalBytes += REMOVAL_BYTES + measureText(key);
    this.#removals.set(removal);
  }

  #addState(column: Column): FieldState {
    const state = this.#columns.createState(column);
    this.#bytes += state.bytes;
    return state;
  }
}

function addToIndexes(columns: readonly IndexedColumn[], key: string, { states }: Row): void {
  for (const { position, index } of columns) {
    const state = states[position];
    if (state !== undefined) updateIndex(index, key, NO_VALUES, getIndexedValues(state.read()));
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

/** Returns what is saved of a row that does not exist. */
function saveRemoved(removal: SavedPosition | null): unknown {
  return removal === null ? undefined : ([null, null, false, removal] satisfies StoredRow);
}

/** Returns what is saved of a row that only the store has, if its removal is another one now. */
function saveAway(saved: unknown, removal: SavedPosition | null): unknown {
  if (saved === undefined) return saveRemoved(removal);
  const [fields, writtenAt = null, isRed = false, , ...firstParts] = saved as StoredRow;
  if (fields === null) return saveRemoved(removal);
  return [fields, writtenAt, isRed, removal, ...firstParts];
}
