/** What must be unchanged for the outcome of a generator to stand when its place in the red order is certain. */
import type { Effect } from '../records/effect.ts';
import type { GeneratorOutcome } from './generator-run.ts';
import { fieldName, removalName, rowName } from './read-set.ts';
import type { ReadSet } from './read-set.ts';
import { isRemoval, isWholeRow } from '../service/row-effects.ts';
import { isRedOnly } from '../service/tables.ts';
import type { Tables } from '../service/tables.ts';

/**
 * What was read, and what is written, except where effects read the field themselves when they are applied. A removal
 * writes all fields of its row, and whether it is there: of what it has not seen it would take only what has an earlier
 * time, whatever the red order.
 */
export function certifiedReads({ reads, choice }: GeneratorOutcome, tables: Tables): ReadSet {
  if (choice === undefined) return reads;
  let names: Set<string> | undefined;
  for (const effect of choice.effects) {
    for (const name of namesOf(effect, tables)) {
      if (!reads.names.has(name)) (names ??= new Set(reads.names)).add(name);
    }
  }
  return names === undefined ? reads : { names, ranges: reads.ranges };
}

function namesOf(effect: Effect, tables: Tables): readonly string[] {
  const { table, key, field } = effect;
  const { fields = {}, removable = false } = tables[table] ?? {};
  const names = removable ? [removalName(table, key)] : [];
  if (isRemoval(effect)) {
    names.push(rowName(table, key), ...Object.keys(fields).map((each) => fieldName(table, key, each)));
  } else if (!isWholeRow(effect) && !isRedOnly(tables, effect)) {
    names.push(fieldName(table, key, field));
  }
  return names;
}
