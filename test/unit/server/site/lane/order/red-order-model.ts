/**
 * The red order as a plain model: rows in maps, effects applied one after the other, reads written
 * down a second time. No code of the replica is in here.
 */
import type { Effect } from '../../../../../../src/server/service/records/effect.ts';

export interface PlainRow {
  duty: string | undefined;
  post: string | undefined;
  n: number;
  seats: number;
  readonly tags: Set<string>;
  readonly lines: string[];
  readonly items: string[];
}

/** The rows of one table by primary key. */
export type PlainTable = Map<string, PlainRow>;

/** The table after these effects. */
export function plainTable(effects: readonly Effect[]): PlainTable {
  const rows: PlainTable = new Map();
  for (const effect of effects) applyPlainly(rows, effect);
  return rows;
}

function applyPlainly(rows: PlainTable, { key, field, action, value }: Effect): void {
  if (field === '' && action === 'remove') return void rows.delete(key);
  let row = rows.get(key);
  if (row === undefined) rows.set(key, (row = emptyRow()));
  const text = value as string;
  const changes: Record<string, (on: PlainRow) => void> = {
    'duty.write': (on) => (on.duty = text),
    'post.assign': (on) => (on.post = text),
    'n.add': (on) => (on.n += value as number),
    'tags.add': (on) => on.tags.add(text),
    'tags.remove': (on) => on.tags.delete(text),
    'seats.add': (on) => (on.seats += value as number),
    'seats.take': (on) => (on.seats -= on.seats > 0 ? 1 : 0),
    'lines.append': (on) => on.lines.push(text),
    'items.push': (on) => on.items.push(text),
    'items.pop': (on) => on.items.shift(),
    '.insert': () => {},
  };
  changes[`${field}.${action}`]?.(row);
}

export function emptyRow(): PlainRow {
  return {
    duty: undefined,
    post: undefined,
    n: 0,
    seats: 0,
    tags: new Set(),
    lines: [],
    items: [],
  };
}

/** The keys in order. */
export const plainKeys = (rows: PlainTable): string[] => [...rows.keys()].toSorted();

/**
 * Keys by the values of a field, in the order of values and then of keys; `reverse` from the end.
 */
export function plainIndex(
  rows: PlainTable,
  valuesOf: (row: PlainRow) => Iterable<string | undefined>,
  isMeant: (value: string) => boolean,
): string[] {
  const entries: [value: string, key: string][] = [];
  for (const [key, row] of rows) {
    for (const value of valuesOf(row))
      if (value !== undefined && isMeant(value)) entries.push([value, key]);
  }
  const inOrder = entries.toSorted((a, b) =>
    a[0] === b[0] ? (a[1] < b[1] ? -1 : 1) : a[0] < b[0] ? -1 : 1,
  );
  return inOrder.map(([, key]) => key);
}
