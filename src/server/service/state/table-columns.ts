/** The fields of a table, by which its rows are created, saved, measured and compared. */
import { deepFreeze } from '../../../values/deep-freeze.ts';
import type { FieldKind, FieldOptions, FieldState } from '../fields/field.ts';
import { FIELD_KINDS } from '../fields/field-kinds.ts';
import { loadPosition } from '../records/effect.ts';
import { COLUMN_BYTES, measureText, ROW_BYTES } from '../records/memory-bytes.ts';
import type { Table } from '../tables.ts';
import type { Row, StoredRow } from './row.ts';
import { SortedEntries } from './sorted-entries.ts';
import type { Order } from './stored-order.ts';

export interface Column {
  readonly name: string;
  /** The index of the field's states in rows. */
  readonly position: number;
  readonly kind: FieldKind;
  readonly options: FieldOptions;
  /** The state of the field before its first write. */
  readonly initial: FieldState;
  index: Order | undefined;
}

export interface IndexedColumn extends Column {
  index: Order;
}

export class TableColumns {
  /** The columns that have an index. */
  readonly indexed: readonly IndexedColumn[];
  /** The names of the fields that are saved in parts. */
  readonly inParts: readonly string[];
  /** Whether only red operations change some field. */
  readonly hasRedOnly: boolean;
  readonly #table: string;
  readonly #removable: boolean;
  /** The columns by name, in the order of their positions. */
  readonly #columns: ReadonlyMap<string, Column>;
  /** The bytes of a row without its key and the states of its fields. */
  readonly #rowBytes: number;

  constructor(table: string, { fields, indexes, removable }: Table) {
    this.#table = table;
    this.#removable = removable;
    const columns = Object.entries(fields).map(([field, options], position): Column => {
      const kind = FIELD_KINDS[options.kind];
      const index = indexes.includes(field) ? new SortedEntries() : undefined;
      const initial = kind.state(undefined, options);
      return { name: field, position, kind, options, initial, index };
    });
    this.#columns = new Map(columns.map((column) => [column.name, column]));
    this.#rowBytes = ROW_BYTES + COLUMN_BYTES * columns.length;
    this.indexed = columns.filter(isIndexed);
    this.inParts = columns.filter(({ kind }) => kind.hasParts === true).map(({ name }) => name);
    this.hasRedOnly = columns.some(({ kind }) => kind.isRedOnly);
  }

  get(field: string): Column {
    const column = this.#columns.get(field);
    if (column === undefined)
      throw new Error(`no field '${this.#table}.${field}': sites run different services`);
    return column;
  }

  find(field: string): Column | undefined {
    return this.#columns.get(field);
  }

  /** The fields of a row that were written. */
  *written({ states }: Row): Iterable<readonly [Column, FieldState]> {
    for (const column of this.#columns.values()) {
      const state = states[column.position];
      if (state !== undefined) yield [column, state];
    }
  }

  createRow(): Row {
    // An empty array would have room for 17 states after the first one.
    // oxlint-disable-next-line unicorn/no-new-array
    const states = new Array<FieldState | undefined>(this.#columns.size);
    return { states, writtenAt: undefined, isRed: false, notedIn: 0 };
  }

  createState({ kind, options }: Column, saved?: unknown): FieldState {
    return this.#removable && kind.removableState !== undefined
      ? kind.removableState(saved)
      : kind.state(saved, options);
  }

  /** Creates a row as it was saved, without the parts of its fields. `undefined`: it was removed */
  restoreRow([fields, writtenAt = null, isRed = false]: StoredRow): Row | undefined {
    if (fields === null) return undefined;
    const row = this.createRow();
    row.writtenAt = writtenAt === null ? undefined : loadPosition(writtenAt);
    row.isRed = isRed;
    for (const [field, saved] of Object.entries(fields)) {
      const column = this.get(field);
      row.states[column.position] = this.createState(column, deepFreeze(saved));
    }
    return row;
  }

  saveFields(row: Row): Readonly<Record<string, unknown>> {
    const fields: [name: string, saved: unknown][] = [];
    for (const [{ name }, state] of this.written(row)) fields.push([name, state.save()]);
    return Object.fromEntries(fields);
  }

  /** Returns the number of the first part of each field that has parts, if one has. */
  getFirstParts(row: Row): Readonly<Record<string, number>> | undefined {
    const firsts: [name: string, number: number][] = [];
    for (const name of this.inParts) {
      const [first] = row.states[this.get(name).position]?.parts?.getNumbers() ?? [];
      if (first !== undefined) firsts.push([name, first]);
    }
    return firsts.length > 0 ? Object.fromEntries(firsts) : undefined;
  }

  getSnapshots(row: Row): unknown {
    const fields: [name: string, snapshot: unknown][] = [];
    for (const [{ name }, state] of this.written(row))
      if (!state.isInitial) fields.push([name, state.snapshot()]);
    return fields.toSorted(compareKeys);
  }

  /** About how many bytes a row takes without the states of its fields. */
  measureEmpty(key: string): number {
    return this.#rowBytes + measureText(key);
  }

  measure(key: string, row: Row): number {
    let bytes = this.measureEmpty(key);
    for (const state of row.states) bytes += state?.bytes ?? 0;
    return bytes;
  }
}

function isIndexed(column: Column): column is IndexedColumn {
  return column.index !== undefined;
}

export function compareKeys(
  [a]: readonly [string, unknown],
  [b]: readonly [string, unknown],
): number {
  return a < b ? -1 : 1;
}
