/**
 * Prepares the rows of a whole state for an empty store, as a running site would have saved them:
 * with the orders of their tables, and with the number of the first part of each field.
 *
 * No row stays in memory, since rows go to the store as they come. Only the changes of orders stay:
 * keys come in any order, so a commit of an order may rewrite all of it.
 */
import type { SavedRow, SavedRows, SavedTables } from '../records/checkpoint.ts';
import { loadPosition } from '../records/effect.ts';
import { measureText, ROW_BYTES } from '../records/memory-bytes.ts';
import type { Table, Tables } from '../tables.ts';
import { getIndexedValues, NO_VALUES, updateIndex } from './indexed-values.ts';
import { toRemovalEntry } from './remembered-removals.ts';
import { ResidentCache } from './resident-cache.ts';
import type { StoredRow } from './row.ts';
import {
  formatChunkName,
  formatRowName,
  getSavedTable,
  parsePart,
  parseSavedName,
  type SavedTable,
} from './saved-names.ts';
import { Store } from './store.ts';
import { TableColumns } from './table-columns.ts';
import { TableOrders } from './table-orders.ts';

/** The chunks that one commit of the orders reads. They are read once. */
const CACHE_BYTES = 2 ** 20;
/** The rows and chunks that the comparison at the end reads. */
const CHECK_CACHE_BYTES = 2 ** 23;
/** About how many characters of work the look at a row or an entry of an order is. */
const LOOK_CHARACTERS = 16;

export class ImportedTables {
  readonly #definitions: Tables;
  readonly #tables = new Map<string, ImportedTable>();

  /** @param saved shows what is in the store, after each commit */
  constructor(definitions: Tables, saved: SavedRows, maxChunk?: number) {
    this.#definitions = definitions;
    for (const [name, table] of Object.entries(definitions))
      this.#tables.set(name, new ImportedTable(name, table, getSavedTable(saved, name), maxChunk));
  }

  get savedTables(): SavedTables {
    return Object.fromEntries([...this.#tables].map(([name, { orders }]) => [name, orders.sizes]));
  }

  /** About how many bytes wait for `closeChanges`. */
  get dirtyBytes(): number {
    let bytes = 0;
    for (const { orders, changedBytes } of this.#tables.values())
      bytes += orders.dirtyBytes + changedBytes;
    return bytes;
  }

  /**
   * Adds a row that came in the form of a checkpoint. Returns it as the store gets it. Throws if
   * the service has no such table or field.
   */
  addRow(name: string, saved: unknown): unknown {
    const item = parseSavedName(name);
    if (item.kind !== 'row') throw new Error(`${JSON.stringify(name)} is not the name of a row`);
    const table = this.#tables.get(item.table);
    if (table === undefined)
      throw new Error(`no table '${item.table}': sites run different services`);
    return table.addRow(item.key, saved as StoredRow);
  }

  /**
   * Adds a part of a field. The rows of all tables must be in the store. Returns whether the store
   * gets it: a part without a row means nothing.
   */
  addPart(name: string, saved: unknown): boolean {
    const item = parseSavedName(name);
    if (item.kind !== 'part') throw new Error(`${JSON.stringify(name)} is not the name of a part`);
    return this.#tables.get(item.table)?.addPart(item.part, saved) ?? false;
  }

  /** All that was added up to now is taken next. */
  closeChanges(): void {
    for (const { orders } of this.#tables.values()) orders.closeChanges();
  }

  /** Takes some rows of the store that have not been returned by `addRow`. */
  takeClosed(max: number): SavedRow[] {
    const rows: SavedRow[] = [];
    for (const [name, table] of this.#tables) {
      for (const [key, row] of table.takeChanged(max - rows.length))
        rows.push([formatRowName(name, key), row]);
      for (const [order, [chunk, saved]] of table.orders.takeClosed(max - rows.length))
        rows.push([formatChunkName(name, order, chunk), saved]);
    }
    return rows;
  }

  /** All that was taken is in the store. */
  onCommitted(saved: SavedRows): void {
    for (const [name, { orders }] of this.#tables) orders.onCommitted(getSavedTable(saved, name));
  }

  /**
   * Compares what the store has with what was added, in steps: the number of entries of each order,
   * and all rows of the tables whose fields have parts. Yields about how many characters of work
   * each step was. Throws if something is missing.
   */
  *check(saved: SavedRows): Generator<number, void, void> {
    const store = new Store(this.#definitions);
    store.open({ ...saved, tables: this.savedTables }, { cacheBytes: CHECK_CACHE_BYTES });
    let removalCount = 0;
    for (const table of this.#tables.values()) removalCount += table.removalCount;
    if (store.removalCount !== removalCount)
      throw new Error(`the store has ${store.removalCount} removals, and had ${removalCount}`);
    for (const [table, { counts, hasParts }] of this.#tables) {
      for (const [field, expected] of counts) {
        let count = 0;
        const range = field === KEYS ? { table } : { table, field };
        for (const { key } of store.scan(range, false)) {
          count += 1;
          if (field === KEYS && hasParts) store.has(table, key);
          yield LOOK_CHARACTERS;
        }
        if (count !== expected)
          throw new Error(`'${table}' has ${count} rows in its store, and had ${expected}`);
      }
    }
  }
}

/** The name of the order of keys. No field has it. */
const KEYS = '';

class ImportedTable {
  readonly orders: TableOrders;
  /** The number of entries in the order of keys, and in each index. */
  readonly counts = new Map<string, number>([[KEYS, 0]]);
  readonly #columns: TableColumns;
  readonly #saved: SavedTable;
  /** The number of remembered removals. */
  removalCount = 0;
  /** Rows that parts have changed, until they are taken. */
  readonly #changed = new Map<string, StoredRow>();
  #changedBytes = 0;

  constructor(name: string, table: Table, saved: SavedTable, maxChunk?: number) {
    this.#saved = saved;
    this.#columns = new TableColumns(name, table);
    const indexes = this.#columns.indexed.map((column) => column.name);
    const cache = new ResidentCache(CACHE_BYTES);
    this.orders = new TableOrders({ table: name, indexes, saved, cache, maxChunk });
    for (const field of indexes) this.counts.set(field, 0);
  }

  get hasParts(): boolean {
    return this.#columns.inParts.length > 0;
  }

  get changedBytes(): number {
    return this.#changedBytes;
  }

  addRow(key: string, saved: StoredRow): StoredRow {
    const [fields, writtenAt = null, isRed = false, removedAt = null] = saved;
    if (removedAt !== null) {
      this.orders.removals.add(toRemovalEntry({ key, ...loadPosition(removedAt) }));
      this.removalCount += 1;
    }
    // What the field kinds do not accept must fail now, and not at the first read.
    const row = this.#columns.restoreRow(saved);
    if (row !== undefined) {
      this.orders.keys.add({ value: key, key });
      this.#count(KEYS, 1);
      for (const { name, position } of this.#columns.indexed) {
        const values = new Set(getIndexedValues(row.states[position]?.read()));
        updateIndex(this.orders.getIndex(name), key, NO_VALUES, [...values]);
        this.#count(name, values.size);
      }
    }
    // Numbers of parts that another store had say nothing here.
    return [fields, writtenAt, isRed, removedAt];
  }

  addPart(part: string, saved: unknown): boolean {
    const { field, number, key } = parsePart(part);
    const row = this.#changed.get(key) ?? (this.#saved.rows.get(key) as StoredRow | undefined);
    const [fields, writtenAt = null, isRed = false, removedAt = null, firstParts = {}] = row ?? [];
    if (fields === undefined || fields === null || !Object.hasOwn(fields, field)) return false;
    const { parts } = this.#columns.createState(this.#columns.get(field), fields[field]);
    parts?.restore(number, saved);
    // A field keeps nothing of a part whose content it does not have any more.
    if (parts === undefined || parts.getNumbers().length === 0) return false;
    const { [field]: first = Infinity } = firstParts;
    if (number < first) {
      if (!this.#changed.has(key)) this.#changedBytes += ROW_BYTES + measureText(key);
      const changed = { ...firstParts, [field]: number };
      this.#changed.set(key, [fields, writtenAt, isRed, removedAt, changed]);
    }
    return true;
  }

  takeChanged(max: number): [key: string, row: StoredRow][] {
    const taken: [string, StoredRow][] = [];
    for (const row of this.#changed) {
      if (taken.length >= max) break;
      this.#changed.delete(row[0]);
      taken.push(row);
    }
    if (this.#changed.size === 0) this.#changedBytes = 0;
    return taken;
  }

  #count(order: string, entries: number): void {
    this.counts.set(order, (this.counts.get(order) ?? 0) + entries);
  }
}
