/**
 * What certification compares: names of fields, rows and whole tables. A write names all three, a read the one that it
 * depended on, so that scans and absent rows are covered too.
 */
import type { Effect } from './effect.ts';

const SEPARATOR = '\u0000';

/** Reading one field. */
export const fieldName = (table: string, key: string, field: string): string =>
  table + SEPARATOR + key + SEPARATOR + field;
/** Reading whether a row exists. */
export const rowName = (table: string, key: string): string => table + SEPARATOR + key;
/** Reading which rows a table has. */
export const tableName = (table: string): string => table;

/** All names that the effects write. */
export function writtenNames(effects: readonly Effect[]): Set<string> {
  const names = new Set<string>();
  for (const { table, key, field } of effects) {
    names.add(fieldName(table, key, field));
    names.add(rowName(table, key));
    names.add(tableName(table));
  }
  return names;
}
