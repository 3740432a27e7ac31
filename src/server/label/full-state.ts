/** All of a state, with what is remembered of rows that are gone: two sites have converged only where that is the same. */
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Effect } from '../records/effect.ts';
import type { Store } from '../state/store.ts';

/** A row in which two states differ. */
export interface DifferingRow {
  readonly table: string;
  readonly key: string;
}

/** Whether two states are the same in full. */
export function isSameState(a: Store, b: Store): boolean {
  return structurallyEqual(a.snapshot(), b.snapshot()) && structurallyEqual(a.removalTimes(), b.removalTimes());
}

/** Of the rows that these effects are on, the first in which two states differ; they do in one. */
export function differingRow(a: Store, b: Store, effects: readonly Effect[]): DifferingRow {
  const [rowsOfA, rowsOfB] = [rowsOf(a), rowsOf(b)];
  for (const { table, key } of effects) {
    const name = nameOf(table, key);
    if (!structurallyEqual(rowsOfA.get(name), rowsOfB.get(name))) return { table, key };
  }
  throw new Error('two states differ in no row that was written');
}

type Rows = readonly (readonly [table: string, rows: readonly (readonly [key: string, state: unknown])[]])[];

function rowsOf(store: Store): ReadonlyMap<string, readonly unknown[]> {
  const rows = new Map<string, unknown[]>();
  for (const all of [store.snapshot() as Rows, store.removalTimes() as Rows]) {
    for (const [table, ofTable] of all) {
      for (const [key, state] of ofTable) {
        const name = nameOf(table, key);
        rows.set(name, [...(rows.get(name) ?? []), state]);
      }
    }
  }
  return rows;
}

const nameOf = (table: string, key: string): string => JSON.stringify([table, key]);
