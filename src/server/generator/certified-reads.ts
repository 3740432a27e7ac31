/** What must be unchanged for the outcome of a generator to stand when its place in the red order is certain. */
import type { Effect } from '../records/effect.ts';
import type { GeneratorOutcome } from './generator-run.ts';
import { fieldName, removalName, type ReadSet } from './read-set.ts';
import { isRemoval } from '../service/row-effects.ts';
import { drawsOnPool } from '../service/takes.ts';
import type { Tables } from '../service/tables.ts';

/**
 * Returns what was read, and what else the effects depend on. In the red order effects take the place of those before
 * them, or add up with them, so most depend on nothing and are never rejected. Two kinds do:
 *
 * - A take or a transfer depends on the pool of its bounded field.
 * - A write to a row that can be removed would bring the row back, and its record may not name the row as created.
 */
export function certifiedReads({ reads, choice }: GeneratorOutcome, tables: Tables): ReadSet {
  if (choice === undefined) return reads;
  let names: Set<string> | undefined;
  for (const effect of choice.effects) {
    const name = nameOf(effect, tables);
    if (name !== undefined && !reads.names.has(name)) (names ??= new Set(reads.names)).add(name);
  }
  return names === undefined ? reads : { names, ranges: reads.ranges };
}

function nameOf(effect: Effect, tables: Tables): string | undefined {
  const { table, key, field } = effect;
  if (tables[table]?.removable === true) return isRemoval(effect) ? undefined : removalName(table, key);
  return drawsOnPool(tables, effect) ? fieldName(table, key, field) : undefined;
}
