/** Readers of tables. Each read is noted, for certification and for the generator's budget. */
import { frozenTools, handedOut } from '../../values/frozen.ts';
import { rangeOf, seenOf, type ReadRange, type Scalar, type ScanOptions } from '../records/key-range.ts';
import type { StateReader } from '../state/store.ts';
import type { TableReader, TablesReader } from '../service/readers.ts';
import type { Fields, Table, Tables } from '../service/tables.ts';

/** Hears of everything that is read. */
export interface ReadNotes {
  field(table: string, key: string, field: string): void;
  row(table: string, key: string): void;
  removal(table: string, key: string): void;
  range(range: ReadRange): void;
  /** A scan has come to one more row. */
  scanned(): void;
}

/** Hears nothing: for reading outside generators. */
export const NO_NOTES: ReadNotes = {
  field: () => {},
  row: () => {},
  removal: () => {},
  range: () => {},
  scanned: () => {},
};

/** Typed readers of all tables, for many runs: no generator can put something else in their place. */
export function tablesReader(tables: Tables, state: StateReader, notes: ReadNotes): TablesReader<Tables> {
  const readers: Record<string, TableReader<Fields, string>> = {};
  for (const [name, table] of Object.entries(tables)) readers[name] = tableReader(name, table, state, notes);
  return Object.freeze(readers);
}

function tableReader(name: string, table: Table, state: StateReader, notes: ReadNotes): TableReader<Fields, string> {
  const scan = (field: string | undefined, options: ScanOptions = {}): readonly string[] =>
    keysOf({ range: rangeOf(name, field, options), removable: table.removable }, options, state, notes);
  const by: Record<string, (options?: ScanOptions) => readonly string[]> = {};
  for (const field of table.indexes) by[field] = (options) => scan(field, options);
  return frozenTools<TableReader<Fields, string>>({
    row: rowReader(name, table, state, notes),
    has: (key) => {
      notes.row(name, key);
      return state.has(name, key);
    },
    keys: (options) => scan(undefined, options),
    by: frozenTools(by) as TableReader<Fields, string>['by'],
  });
}

interface Scan {
  readonly range: ReadRange;
  /** Whether rows of the table can be removed. */
  readonly removable: boolean;
}

/**
 * Reads a scan up to its limit, and notes the part that it has seen. An interval of an index notices what comes in by its
 * value; what goes out, by another value or with its row, is noticed by what is noted of each row that was found.
 */
function keysOf(
  { range, removable }: Scan,
  options: ScanOptions,
  state: StateReader,
  notes: ReadNotes,
): readonly string[] {
  const { limit = Infinity, reverse = false } = options;
  // One row can be in an index several times, by several elements of a set.
  const keys = new Set<string>();
  let last: Scalar | undefined;
  if (limit > 0) {
    for (const { key, value } of state.scan(range, reverse)) {
      notes.scanned();
      if (range.field !== undefined) noteField({ table: range.table, key, field: range.field }, removable, notes);
      keys.add(key);
      last = value;
      if (keys.size >= limit) break;
    }
    notes.range(keys.size >= limit && last !== undefined ? seenOf(range, last, reverse) : range);
  }
  return [...keys];
}

/** A field is changed by what is written to it, and by the removal of its row. */
export function noteField(
  { table, key, field }: { readonly table: string; readonly key: string; readonly field: string },
  removable: boolean,
  notes: ReadNotes,
): void {
  notes.field(table, key, field);
  if (removable) notes.removal(table, key);
}

type RowFactory = (key: string) => Readonly<Record<string, unknown>>;

function rowReader(name: string, { fields, removable }: Table, state: StateReader, notes: ReadNotes): RowFactory {
  class Row {
    readonly #key: string;
    constructor(key: string) {
      this.#key = key;
    }
    static {
      for (const field of Object.keys(fields)) {
        const get = function (this: Row): unknown {
          noteField({ table: name, key: this.#key, field }, removable, notes);
          return handedOut(state.read(name, this.#key, field));
        };
        Object.defineProperty(this.prototype, field, { enumerable: true, get });
      }
      Object.freeze(this.prototype);
    }
  }
  return (key) => new Row(key) as unknown as Readonly<Record<string, unknown>>;
}
