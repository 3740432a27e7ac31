/**
 * The reads that certification compares: fields, rows, tables and scanned intervals, of absent rows
 * too.
 */
import { type Effect, isRemoval, isWholeRow } from '../records/effect.ts';
import { isScalar, isInRange, type ReadRange } from '../records/read-range.ts';
import type { Choice } from '../records/reply.ts';
import { drawsOnPool } from '../bounded-takes.ts';
import { isRedOnlyField, type Tables } from '../tables.ts';

/** Separates the parts of a name. */
export const SEPARATOR = '\u0000';

/** Names one field, for a read or a write. */
export const toFieldName = (table: string, key: string, field: string): string =>
  table + SEPARATOR + key + SEPARATOR + field;
/** Names the existence of a row: for a read, or for a write that creates or removes the row. */
export const toRowName = (table: string, key: string): string => table + SEPARATOR + key;
/**
 * Names the removal of a row: read with each field of a row that could be removed, written by its
 * removal.
 */
export const toRemovalName = (table: string, key: string): string =>
  table + SEPARATOR + key + SEPARATOR + SEPARATOR;
/** Names the rows of a table: for a read, or for a write that creates or removes one of them. */
export const toTableName = (table: string): string => table;

/** Splits a name. A key may contain anything. Names of tables and fields contain no separator. */
export function parseName(name: string): {
  readonly table: string;
  readonly key?: string;
  readonly field?: string;
} {
  const [first, last] = [name.indexOf(SEPARATOR), name.lastIndexOf(SEPARATOR)];
  if (first < 0) return { table: name };
  const table = name.slice(0, first);
  if (last === first) return { table, key: name.slice(first + 1) };
  if (name.endsWith(SEPARATOR + SEPARATOR)) return { table, key: name.slice(first + 1, last - 1) };
  return {
    table,
    key: name.slice(first + 1, last),
    field: name.slice(last + 1),
  };
}

export interface ReadSet {
  readonly names: ReadonlySet<string>;
  readonly ranges: readonly ReadRange[];
}

const NO_ROWS: ReadonlySet<string> = new Set();

/**
 * Returns the names of rows that the effects create. Inserted rows count, so that no removal
 * overlooks them.
 */
export function findCreatedRows(
  effects: readonly Effect[],
  exists: (table: string, key: string) => boolean,
): ReadonlySet<string> {
  let created: Set<string> | undefined;
  for (const effect of effects) {
    const { table, key } = effect;
    if (isRemoval(effect)) continue;
    if (isWholeRow(effect) || !exists(table, key))
      (created ??= new Set()).add(toRowName(table, key));
  }
  return created ?? NO_ROWS;
}

/** Returns all names that the effects write. `created` has the rows that did not exist before. */
export function findWrittenNames(
  effects: readonly Effect[],
  created: ReadonlySet<string>,
): readonly string[] {
  const names: string[] = [];
  for (const effect of effects) {
    const { table, key, field } = effect;
    if (!isWholeRow(effect)) names.push(toFieldName(table, key, field));
    const goes = isRemoval(effect);
    if (goes) names.push(toRemovalName(table, key));
    if (goes || (created.size > 0 && created.has(toRowName(table, key))))
      names.push(toRowName(table, key), toTableName(table));
  }
  return names;
}

/** Returns whether a scan of the interval may have another result after the effect. */
export function isSeenInRange(
  range: ReadRange,
  effect: Effect,
  created: ReadonlySet<string>,
): boolean {
  const { table, key, field } = effect;
  if (table !== range.table) return false;
  if (range.field !== undefined) return field === range.field || isRemoval(effect);
  return isInRange(range, key) && (isRemoval(effect) || created.has(toRowName(table, key)));
}

/**
 * Returns whether an effect adds a row to the interval or removes one from its table. Changed
 * values are covered by the reads of the fields.
 */
export function isRangeChanged(
  range: ReadRange,
  effect: Effect,
  created: ReadonlySet<string>,
): boolean {
  const { table, key, field, value } = effect;
  if (table !== range.table) return false;
  if (range.field !== undefined)
    return field === range.field && isScalar(value) && isInRange(range, value);
  return isInRange(range, key) && (isRemoval(effect) || created.has(toRowName(table, key)));
}

/**
 * Returns the reads to certify: what was read, and what the effects depend on. A take or a transfer
 * depends on the pool of its bounded field. A write depends on the existence of its row if rows can
 * be removed, because it would create a removed row again.
 */
export function findCertifiedReads(
  { reads, choice }: { readonly reads: ReadSet; readonly choice: Choice | undefined },
  tables: Tables,
): ReadSet {
  if (choice === undefined) return reads;
  let names: Set<string> | undefined;
  for (const effect of choice.effects) {
    const name = formatEffectName(effect, tables);
    if (name !== undefined && !reads.names.has(name)) (names ??= new Set(reads.names)).add(name);
  }
  return names === undefined ? reads : { names, ranges: reads.ranges };
}

/**
 * Returns what an operation over several partitions reads. What it takes from a field or replaces
 * counts too: a take that failed at its place would leave the other half of a transfer.
 */
export function findGlobalReads(
  reads: ReadSet,
  choice: Choice | undefined,
  tables: Tables,
): ReadSet {
  const names = new Set(reads.names);
  for (const { table, key, field, action } of choice?.effects ?? []) {
    const kind = tables[table]?.fields[field];
    const isTaken = action !== 'push' && action !== 'add';
    if (isTaken && isRedOnlyField(kind)) names.add(toFieldName(table, key, field));
  }
  return { names, ranges: reads.ranges };
}

function formatEffectName(effect: Effect, tables: Tables): string | undefined {
  const { table, key, field } = effect;
  if (tables[table]?.removable === true)
    return isRemoval(effect) ? undefined : toRemovalName(table, key);
  return drawsOnPool(tables, effect) ? toFieldName(table, key, field) : undefined;
}
