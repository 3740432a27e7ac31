/**
 * Results of a tier beside a plain value: a value with its version, metadata or both, or the
 * absence of an answer.
 */
import type { ViewDetails } from '../correctable/binding.ts';
import { checkRecord } from '../correctable/validate.ts';

const VALUE_WITH_DETAILS: unique symbol = Symbol.for('correctables.valueWithDetails');

/** A value with its version, metadata or both, made by `withDetails`. */
export interface ValueWithDetails<out T = unknown> {
  readonly [VALUE_WITH_DETAILS]: true;
  readonly value: T;
  readonly details: ViewDetails;
}

/**
 * Returns a tier's value with its version or metadata. A plain value needs no wrapper. If it
 * happens to have a field `version`, that field stays part of the value.
 *
 * @example
 * const tier: Tier = async (operation) => {
 *   const { rows } = await replica.query('SELECT body, revision FROM pages WHERE id = $1', [
 *     operation.key,
 *   ]);
 *   return withDetails(rows[0].body, { version: rows[0].revision });
 * };
 */
export function withDetails<T>(value: T, details: ViewDetails = {}): ValueWithDetails<T> {
  checkRecord(details, {
    call: 'withDetails(value, { version: 7 })',
    field: 'details',
  });
  return { [VALUE_WITH_DETAILS]: true, value, details };
}

/**
 * Means that a tier has no answer, for example on a cache miss. The tier returns it, and its level
 * is skipped.
 */
export const skipLevel: unique symbol = Symbol.for('correctables.skipLevel');

export function isValueWithDetails(result: unknown): result is ValueWithDetails {
  return typeof result === 'object' && result !== null && VALUE_WITH_DETAILS in result;
}
