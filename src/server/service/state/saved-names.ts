/**
 * The names of the rows that a store of tables saves. Names of tables and fields have no separator
 * in them, and are not empty; keys may be anything. So different things have different names.
 */
import type { SavedRows } from '../records/checkpoint.ts';

const SEPARATOR = '\u0000';

/** The table name of saved parts. It is empty, so no table can have it. */
const PARTS = '';

/** The name before those of orders. In the name of a part, the name of a table stands there. */
const ORDERS = PARTS + SEPARATOR;

export type SavedName =
  | { readonly kind: 'row'; readonly table: string; readonly key: string }
  | { readonly kind: 'part'; readonly table: string; readonly part: string };

export function formatRowName(table: string, key: string): string {
  return table + SEPARATOR + key;
}

/** @param part as `formatPart` returns it */
export function formatPartName(table: string, part: string): string {
  return PARTS + SEPARATOR + table + SEPARATOR + part;
}

/** @param chunk the number of a chunk, or the name of the directory */
export function formatChunkName(table: string, order: string, chunk: string): string {
  return ORDERS + SEPARATOR + table + SEPARATOR + order + SEPARATOR + chunk;
}

/** Parses the name of a row or a part. */
export function parseSavedName(name: string): SavedName {
  const [table, key] = splitFirst(name);
  if (table !== PARTS) return { kind: 'row', table, key };
  const [owner, part] = splitFirst(key);
  return { kind: 'part', table: owner, part };
}

export function formatPart(field: string, number: number, key: string): string {
  return `${field}${SEPARATOR}${number}${SEPARATOR}${key}`;
}

export function parsePart(part: string): {
  readonly field: string;
  readonly number: number;
  readonly key: string;
} {
  const [field, rest] = splitFirst(part);
  const [number, key] = splitFirst(rest);
  return { field, number: Number(number), key };
}

function splitFirst(name: string): readonly [first: string, rest: string] {
  const end = name.indexOf(SEPARATOR);
  return [name.slice(0, end), name.slice(end + 1)];
}

/** What a store has of one table. */
export interface SavedTable {
  readonly rows: SavedRows;
  readonly parts: SavedRows;
  getOrder(order: string): SavedRows;
}

export function getSavedTable(saved: SavedRows, table: string): SavedTable {
  const readAt = (toName: (name: string) => string): SavedRows => ({
    get: (name) => saved.get(toName(name)),
    reportDamage: (problem) => saved.reportDamage(problem),
  });
  return {
    rows: readAt((key) => formatRowName(table, key)),
    parts: readAt((part) => formatPartName(table, part)),
    getOrder: (order) => readAt((chunk) => formatChunkName(table, order, chunk)),
  };
}
