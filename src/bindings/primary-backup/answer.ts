/** What a tier may return beside a plain value: a value with its version, or "this tier has no answer". */
import type { ViewDetails } from '../../correctable/binding.ts';
import { checkRecord } from '../../correctable/given.ts';

const ANSWER: unique symbol = Symbol.for('correctables.answer');

/** A value together with what is known about it. Made by `answer`. */
export interface Answer<out T = unknown> {
  readonly [ANSWER]: true;
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
 *   return answer(rows[0].body, { version: rows[0].revision });
 * };
 */
export function answer<T>(value: T, details: ViewDetails = {}): Answer<T> {
  checkRecord(details, { call: 'answer(value, { version: 7 })', field: 'details' });
  return { [ANSWER]: true, value, details };
}

/** What a tier returns when it has no answer, such as a cache that misses: its level is skipped. */
export const noAnswer: unique symbol = Symbol.for('correctables.noAnswer');

/** Whether a tier's result was made by `answer`. */
export function isAnswer(result: unknown): result is Answer {
  return typeof result === 'object' && result !== null && ANSWER in result;
}
