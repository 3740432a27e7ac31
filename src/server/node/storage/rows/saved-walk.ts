/**
 * Reads a whole commit of a store of rows, one row after the other, without the service. It yields
 * the rows as a checkpoint has them. The orders of a table name all its rows, so a row that the
 * store has lost is noticed.
 */
import type { SavedRows } from '../../../service/records/checkpoint.ts';
import { compareEntries, type Entry } from '../../../service/records/read-range.ts';
import { parseRemovalEntry } from '../../../service/state/remembered-removals.ts';
import { ResidentCache } from '../../../service/state/resident-cache.ts';
import type { SavedQueue } from '../../../service/fields/queue.ts';
import type { StoredRow } from '../../../service/state/row.ts';
import {
  formatPart,
  formatPartName,
  formatRowName,
  getSavedTable,
} from '../../../service/state/saved-names.ts';
import { StoredOrder } from '../../../service/state/stored-order.ts';
import type { RowReader } from './row-store.ts';
import { getSavedRows, openListed, ROWS_SECTION, type SavedCut } from './saved-state.ts';

/** What the walk reads. */
export interface SavedCommit {
  readonly cut: Pick<SavedCut, 'tables' | 'listed'>;
  readonly reader: RowReader;
}

/** A place between two rows, as plain data. A walk of the same commit goes on from there. */
export interface WalkCursor {
  readonly section: string;
  /** The table and its order, if the section has tables. */
  readonly table?: string;
  readonly order?: WalkedOrder;
  /** The entry of the row that was yielded last. */
  readonly entry: Entry;
  /** How many rows of that entry were yielded: the row, and its parts. */
  readonly count: number;
}

export interface WalkedRow {
  readonly section: string;
  readonly name: string;
  readonly value: unknown;
  /** The place behind the row. */
  readonly next: WalkCursor;
}

/** Rows that exist are in the order of keys. Others are only a remembered removal. */
type WalkedOrder = (typeof WALKED_ORDERS)[number];
const WALKED_ORDERS = ['keys', 'removals'] as const;

/** The walk reads each chunk once, so few of them stay. */
const CACHE_BYTES = 1024 * 1024;

/**
 * Yields the rows behind `from`, table by table, and then those of the listed sections. Each row is
 * followed by its parts. Throws if a row, part or chunk is missing or damaged.
 */
export function* walkSaved(
  commit: SavedCommit,
  from?: WalkCursor,
): Generator<WalkedRow, void, undefined> {
  const tables = Object.keys(commit.cut.tables);
  const listed = Object.keys(commit.cut.listed);
  const sections = tables.length > 0 ? [ROWS_SECTION, ...listed] : listed;
  for (const section of sections.slice(from && findPlace(sections, from.section))) {
    const start = from?.section === section ? from : undefined;
    if (listed.includes(section)) yield* walkListed(commit, section, start);
    else yield* walkTables(commit, tables, start);
  }
}

function* walkTables(
  commit: SavedCommit,
  tables: readonly string[],
  from: WalkCursor | undefined,
): Generator<WalkedRow, void, undefined> {
  const places = tables.flatMap((table) => WALKED_ORDERS.map((order) => ({ table, order })));
  const isStart = (place: { readonly table: string; readonly order: string }): boolean =>
    place.table === from?.table && place.order === from.order;
  const first = from === undefined ? 0 : places.findIndex(isStart);
  if (first < 0) throw new Error(`the commit has no table '${from?.table}'`);
  for (const place of places.slice(first))
    yield* walkOrder(commit, place, isStart(place) ? from : undefined);
}

function* walkOrder(
  commit: SavedCommit,
  { table, order }: { readonly table: string; readonly order: WalkedOrder },
  from: WalkCursor | undefined,
): Generator<WalkedRow, void, undefined> {
  const saved = getSavedRows(commit.reader, ROWS_SECTION);
  for (const entry of scanFrom(openOrder(commit, table, order), from?.entry)) {
    const isStart = from !== undefined && compareEntries(entry, from.entry) === 0;
    let count = 0;
    for (const [name, value] of readWalkedRow(saved, { table, order, entry })) {
      count += 1;
      if (isStart && count <= from.count) continue;
      const next = { section: ROWS_SECTION, table, order, entry, count };
      yield { section: ROWS_SECTION, name, value, next };
    }
  }
}

function* walkListed(
  { cut, reader }: SavedCommit,
  section: string,
  from: WalkCursor | undefined,
): Generator<WalkedRow, void, undefined> {
  const saved = getSavedRows(reader, section);
  for (const entry of scanFrom(openListed(reader, section, cut), from?.entry)) {
    if (from !== undefined && compareEntries(entry, from.entry) === 0) continue;
    const name = entry.key;
    const value = saved.get(name);
    if (value === undefined)
      throw new Error(`the row ${JSON.stringify(name)} of '${section}' is missing`);
    yield { section, name, value, next: { section, entry, count: 1 } };
  }
}

/**
 * Opens an order of a table: `keys`, `removals`, or `by.` and an indexed field. Throws if it has
 * not all entries of the commit, or if a chunk that is read is missing or damaged.
 */
export function openOrder({ cut, reader }: SavedCommit, table: string, order: string): StoredOrder {
  return new StoredOrder({
    description: `'${order}' of '${table}'`,
    saved: getSavedTable(getSavedRows(reader, ROWS_SECTION), table).getOrder(order),
    savedSize: cut.tables[table]?.[order] ?? 0,
    cache: new ResidentCache(CACHE_BYTES),
  });
}

/** Scans the entries from this one on. Several entries may have its value. */
function* scanFrom(order: StoredOrder, from: Entry | undefined): Generator<Entry, void, undefined> {
  const range = from === undefined ? { table: '' } : { table: '', from: from.value };
  for (const entry of order.scan(range))
    if (from === undefined || compareEntries(entry, from) >= 0) yield entry;
}

interface RowPlace {
  readonly table: string;
  readonly order: WalkedOrder;
  readonly entry: Entry;
}

/** Yields the row of an entry as a checkpoint has it, and then its parts. */
function* readWalkedRow(
  saved: SavedRows,
  { table, order, entry }: RowPlace,
): Generator<readonly [name: string, value: unknown], void, undefined> {
  const key = order === 'keys' ? entry.key : parseRemovalEntry(entry).key;
  const row = readRow(saved, table, key, order);
  const [fields] = row;
  // The order of keys has the rows that exist, also those that were removed before.
  if (order === 'removals' && fields !== null) return;
  yield [formatRowName(table, key), row.slice(0, 4)];
  yield* readAllParts(saved, { table, key, row });
}

/** Reads a row that an order names. Throws if it is missing or damaged. */
export function readRow(
  saved: SavedRows,
  table: string,
  key: string,
  order: WalkedOrder,
): StoredRow {
  const row = saved.get(formatRowName(table, key)) as StoredRow | undefined;
  if (row === undefined || (order === 'keys' && row[0] === null))
    throw new Error(
      `the row ${JSON.stringify(key)} of '${table}' is missing, which its order of ${order} names`,
    );
  return row;
}

/** Yields all parts of the fields of a row. Throws if one is missing or damaged. */
export function* readAllParts(
  saved: SavedRows,
  { table, key, row }: { readonly table: string; readonly key: string; readonly row: StoredRow },
): Generator<readonly [name: string, value: unknown], void, undefined> {
  const [fields, , , , firstParts = {}] = row;
  for (const [field, first] of Object.entries(firstParts))
    yield* readParts(saved, { table, key, field, first, header: fields?.[field] });
}

interface PartsPlace {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  /** The number of the first part. */
  readonly first: number;
  /** What the row has of the field. */
  readonly header: unknown;
}

function* readParts(
  saved: SavedRows,
  { table, key, field, first, header }: PartsPlace,
): Generator<readonly [name: string, value: unknown], void, undefined> {
  const { from, size } = header as SavedQueue;
  const end = from + size;
  for (let number = first; number < end;) {
    const name = formatPartName(table, formatPart(field, number, key));
    const part = saved.get(name) as readonly [from: number, items: readonly unknown[]] | undefined;
    const described = `part ${number} of '${field}' of the row ${JSON.stringify(key)} of '${table}'`;
    if (part === undefined) throw new Error(`${described} is missing`);
    const [partFrom, { length }] = part;
    const next = partFrom + length;
    // Items before those of the queue may be there, but none of the queue may be missing.
    if (partFrom > Math.max(number, from) || next <= number || next > end)
      throw new Error(`${described} is not the one of its row`);
    yield [name, part];
    number = next;
  }
}

function findPlace(sections: readonly string[], section: string): number {
  const place = sections.indexOf(section);
  if (place < 0) throw new Error(`the commit has no section '${section}'`);
  return place;
}
