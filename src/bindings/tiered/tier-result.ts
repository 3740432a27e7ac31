/** What a tier may return beside a plain value: a value with its version, or "this tier has no answer". */
import type { ViewDetails } from '../../correctable/binding.ts';
import { checkRecord } from '../../correctable/validate.ts';

const VALUE_WITH_DETAILS: unique symbol = Symbol.for('correctables.valueWithDetails');

/** A value together with what is known about it. Made by `answer`. */
export interface ValueWithDetails<out T = unknown> {
  readonly [VALUE_WITH_DETAILS]: true;
  readonly value: T;
  readonly details: ViewDetails;
}

/**
 * A tier's value with its version or extra facts. A plain value needs no wrapping; a wrapper of its own keeps a value
 * that happens to have a field `version` from being taken apart.
 *
 * @example
 * const tier: Tier = async (operation) => {
 *   const { rows } = await replica.query('SELECT body, revision FROM pages WHERE id = $1', [operation.key]);
 *   return withDetails(rows[0].body, { version: rows[0].revision });
 * };
 */
export function withDetails<T>(value: T, details: ViewDetails = {}): ValueWithDetails<T> {
  checkRecord(details, { call: 'withDetails(value, { version: 7 })', field: 'details' });
  return { [VALUE_WITH_DETAILS]: true, value, details };
}

/** What a tier returns when it has no answer, such as a cache that misses: its level is skipped. */
export const skipLevel: unique symbol = Symbol.for('correctables.skipLevel');

/** Whether a tier's result was made by `answer`. */
export function isValueWithDetails(result: unknown): result is ValueWithDetails {
  return typeof result === 'object' && result !== null && VALUE_WITH_DETAILS in result;
}
