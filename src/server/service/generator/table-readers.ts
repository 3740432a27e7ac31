/**
 * Readers of tables. They note each read, for certification and for the limits of the generator.
 */
import { freezeFunctions, freezeForUser } from '../../../values/deep-freeze.ts';
import {
  toReadRange,
  getScannedRange,
  type ReadRange,
  type Scalar,
  type ScanOptions,
} from '../records/read-range.ts';
import type { StateReader } from '../state/store.ts';
import type { TableReader, TablesReader } from '../readers.ts';
import type { Fields, Table, Tables } from '../tables.ts';

/** Receives everything that is read. */
export interface ReadListener {
  onField(table: string, key: string, field: string): void;
  onRow(table: string, key: string): void;
  onRemoval(table: string, key: string): void;
  onRange(range: ReadRange): void;
  /** Called when a scan has visited one more row. */
  onScanned(): void;
}

/** The listener for reads outside of generators, which ignores them. */
export const NO_READ_LISTENER: ReadListener = {
  onField: () => {},
  onRow: () => {},
  onRemoval: () => {},
  onRange: () => {},
  onScanned: () => {},
};

/**
 * Creates typed readers of all tables for many runs. They are frozen, so that no generator can
 * replace a method.
 */
export function createTablesReader(
  tables: Tables,
  state: StateReader,
  notes: ReadListener,
): TablesReader<Tables> {
  const readers: Record<string, TableReader<Fields, string>> = {};
  for (const [name, table] of Object.entries(tables))
    readers[name] = createTableReader(name, table, state, notes);
  return Object.freeze(readers);
}

function createTableReader(
  name: string,
  table: Table,
  state: StateReader,
  notes: ReadListener,
): TableReader<Fields, string> {
  const scan = (field: string | undefined, options: ScanOptions = {}): readonly string[] =>
    scanKeys(toReadRange(name, field, options), table.removable, options, state, notes);
  const by: Record<string, (options?: ScanOptions) => readonly string[]> = {};
  for (const field of table.indexes) by[field] = (options) => scan(field, options);
  return freezeFunctions<TableReader<Fields, string>>({
    row: createRowReader(name, table, state, notes),
    has: (key) => {
      notes.onRow(name, key);
      return state.has(name, key);
    },
    keys: (options) => scan(undefined, options),
    by: freezeFunctions(by) as TableReader<Fields, string>['by'],
  });
}

/**
 * Reads a scan up to its limit. Notes the interval up to there, and the existence and the value of
 * each row found.
 */
function scanKeys(
  range: ReadRange,
  isRemovable: boolean,
  { limit = Infinity, reverse = false }: ScanOptions,
  state: StateReader,
  notes: ReadListener,
): readonly string[] {
  // A row can be in an index several times, by several elements of a set.
  const keys = new Set<string>();
  let last: Scalar | undefined;
  if (limit > 0) {
    for (const { key, value } of state.scan(range, reverse)) {
      notes.onScanned();
      if (range.field !== undefined)
        reportFieldRead({ table: range.table, key, field: range.field }, isRemovable, notes);
      keys.add(key);
      last = value;
      if (keys.size >= limit) break;
    }
    notes.onRange(
      keys.size >= limit && last !== undefined ? getScannedRange(range, last, reverse) : range,
    );
  }
  return [...keys];
}

/** Reports the read of a field. A write to the field or the removal of its row would change it. */
export function reportFieldRead(
  { table, key, field }: { readonly table: string; readonly key: string; readonly field: string },
  removable: boolean,
  notes: ReadListener,
): void {
  notes.onField(table, key, field);
  if (removable) notes.onRemoval(table, key);
}

function createRowReader(
  name: string,
  { fields, removable }: Table,
  state: StateReader,
  notes: ReadListener,
): (key: string) => Readonly<Record<string, unknown>> {
  class Row {
    readonly #key: string;
    constructor(key: string) {
      this.#key = key;
    }
    static {
      for (const field of Object.keys(fields)) {
        const get = function (this: Row): unknown {
          reportFieldRead({ table: name, key: this.#key, field }, removable, notes);
          return freezeForUser(state.read(name, this.#key, field));
        };
        Object.defineProperty(this.prototype, field, { enumerable: true, get });
      }
      Object.freeze(this.prototype);
    }
  }
  return (key) => new Row(key) as unknown as Readonly<Record<string, unknown>>;
}
