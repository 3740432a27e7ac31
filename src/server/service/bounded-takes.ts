/** What operations take from bounded fields: for that a site needs rights. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Effect } from '../records/effect.ts';
import { createInternalError } from '../records/internal-errors.ts';
import type { Tables } from './tables.ts';

export interface RightsNeed {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  readonly amount: number;
}

const NO_NEEDS: readonly RightsNeed[] = [];

export function hasBounded(tables: Tables): boolean {
  return Object.values(tables).some(({ fields }) =>
    Object.values(fields).some(({ kind }) => kind === 'bounded'),
  );
}

export function isOnBoundedField(
  tables: Tables,
  { table, field }: Pick<Effect, 'table' | 'field'>,
): boolean {
  // A question of another site may name anything, `constructor` too.
  return (
    Object.hasOwn(tables, table) &&
    tables[table]?.fields[field]?.kind === 'bounded'
  );
}

/**
 * Whether a red effect depends on what the pool of a bounded field has: all do
 * but a `give`, which only adds.
 */
export function drawsOnPool(tables: Tables, effect: Effect): boolean {
  return effect.action !== 'give' && isOnBoundedField(tables, effect);
}

/**
 * What effects take of bounded fields, each field once. What the same effects
 * give is not there to be taken yet.
 */
export function sumTakes(
  tables: Tables,
  effects: readonly Effect[],
): readonly RightsNeed[] {
  let needs: RightsNeed[] | undefined;
  for (const effect of effects) {
    if (effect.action !== 'take' || !isOnBoundedField(tables, effect)) continue;
    const { table, key, field, value } = effect;
    const isSame = (need: RightsNeed): boolean =>
      need.table === table && need.key === key && need.field === field;
    const before = needs?.find(isSame)?.amount ?? 0;
    const remaining: RightsNeed[] =
      needs?.filter((need) => !isSame(need)) ?? [];
    needs = [
      ...remaining,
      { table, key, field, amount: before + (value as number) },
    ];
  }
  return needs ?? NO_NEEDS;
}

/**
 * Of a take of more than is left: a generator that has looked would not have
 * chosen it.
 */
export function takeTooLargeError(
  shadow: string,
  { table, field, amount }: RightsNeed,
): CorrectableError {
  const message = `'${shadow}' takes ${amount} of ${table}.${field}, and less than that stands. Nothing was done: let the generator look at what is left.`;
  return createInternalError('FINAL_FAILED', message, `${table}.${field}`);
}
