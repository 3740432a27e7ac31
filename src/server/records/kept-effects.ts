/** Effects as they are from the moment on at which a shadow operation has given them. */
import type { Effect } from './effect.ts';
import { kept } from '../../values/frozen.ts';

/** Its author may give the list once more, or an effect that he made by hand. What is no list is refused by others. */
export function keptEffects(given: readonly Effect[]): readonly Effect[] {
  return Array.isArray(given) ? (given as readonly Effect[]).map(keptEffect) : given;
}

/** One plain literal, each part of it read once. */
function keptEffect(effect: Effect): Effect {
  if (typeof effect !== 'object' || effect === null) return effect;
  const { table, key, field, action, value } = effect;
  return value === undefined ? { table, key, field, action } : { table, key, field, action, value: kept(value) };
}
