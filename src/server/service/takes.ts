/** What operations take from bounded fields: for that a site needs rights. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Effect } from '../records/effect.ts';
import { ownError } from '../records/own-errors.ts';
import type { Table, Tables } from './tables.ts';

/** So much of a bounded field. */
export interface Need {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  readonly amount: number;
}

const NOTHING: readonly Need[] = [];

/** Whether some table has a bounded field. */
export function hasBounded(tables: Tables): boolean {
  return Object.values(tables).some(isWithBounded);
}

function isWithBounded({ fields }: Table): boolean {
  return Object.values(fields).some(({ kind }) => kind === 'bounded');
}

/** Whether an effect is on a bounded field. */
export function isOnBounded(tables: Tables, { table, field }: Pick<Effect, 'table' | 'field'>): boolean {
  // A question of another site may name anything, `constructor` too.
  return Object.hasOwn(tables, table) && tables[table]?.fields[field]?.kind === 'bounded';
}

/** Whether a red effect depends on what the pool of a bounded field has: all do but a `give`, which only adds. */
export function drawsOnPool(tables: Tables, effect: Effect): boolean {
  return effect.action !== 'give' && isOnBounded(tables, effect);
}

/** What effects take of bounded fields, each field once. What the same effects give is not there to be taken yet. */
export function takesOf(tables: Tables, effects: readonly Effect[]): readonly Need[] {
  let needs: Need[] | undefined;
  for (const effect of effects) {
    if (effect.action !== 'take' || !isOnBounded(tables, effect)) continue;
    const { table, key, field, value } = effect;
    const isSame = (need: Need): boolean => need.table === table && need.key === key && need.field === field;
    const before = needs?.find(isSame)?.amount ?? 0;
    const rest: Need[] = needs?.filter((need) => !isSame(need)) ?? [];
    needs = [...rest, { table, key, field, amount: before + (value as number) }];
  }
  return needs ?? NOTHING;
}

/** Of a take of more than is left: a generator that has looked would not have chosen it. */
export function beyondError(shadow: string, { table, field, amount }: Need): CorrectableError {
  const message = `'${shadow}' takes ${amount} of ${table}.${field}, and less than that stands. Nothing was done: let the generator look at what is left.`;
  return ownError('FINAL_FAILED', message, `${table}.${field}`);
}
