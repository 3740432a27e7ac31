/** What operations take from bounded fields. A site needs rights for that. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Effect } from './records/effect.ts';
import { createInternalError } from './records/internal-errors.ts';
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
  { table, field }: { readonly table: string; readonly field: string },
): boolean {
  // A request of another site may contain any name, even `constructor`.
  return Object.hasOwn(tables, table) && tables[table]?.fields[field]?.kind === 'bounded';
}

/**
 * Whether a red effect depends on the pool of a bounded field. All effects do except `give`, which
 * only adds.
 */
export function drawsOnPool(tables: Tables, effect: Effect): boolean {
  return effect.action !== 'give' && isOnBoundedField(tables, effect);
}

/**
 * Sums what effects take from each bounded field. What the same effects give cannot be taken yet.
 */
export function sumTakes(tables: Tables, effects: readonly Effect[]): readonly RightsNeed[] {
  let needs: RightsNeed[] | undefined;
  for (const effect of effects) {
    if (effect.action !== 'take' || !isOnBoundedField(tables, effect)) continue;
    const { table, key, field, value } = effect;
    const isSame = (need: RightsNeed): boolean =>
      need.table === table && need.key === key && need.field === field;
    const before = needs?.find(isSame)?.amount ?? 0;
    const remaining: RightsNeed[] = needs?.filter((need) => !isSame(need)) ?? [];
    needs = [...remaining, { table, key, field, amount: before + (value as number) }];
  }
  return needs ?? NO_NEEDS;
}

/**
 * Creates the error for a take of more than is left. A generator that has read `left` would not
 * have chosen it.
 */
export function takeTooLargeError(
  shadow: string,
  { table, field, amount }: RightsNeed,
): CorrectableError {
  const message = `'${shadow}' takes ${amount} of ${table}.${field}, and less than that stands. Nothing was done: let the generator look at what is left.`;
  return createInternalError('FINAL_FAILED', message, `${table}.${field}`);
}
