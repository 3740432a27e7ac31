/** Errors on the wire: `fail` rows from errors, and errors from `fail` rows. */
import type { CorrectableError } from '../correctable/errors.ts';
import { fromErrorFacts, toErrorFacts } from './error-facts.ts';
import { fail, type FailMessage } from './messages/fail.ts';

const { at } = fail;

export function toFailMessage(
  id: number,
  error: unknown,
  level?: number,
): FailMessage {
  const { code, message, ...details } = toErrorFacts(error);
  const row = [id, 'fail', code, message, level ?? null] as const;
  return details.retryable === undefined ? [...row] : [...row, details];
}

/**
 * Returns the error that a `fail` row reports of `operation`. Pass a `level` if
 * only that level failed.
 */
export function fromFailMessage(
  row: FailMessage,
  level?: string,
  operation?: string,
): CorrectableError {
  return fromErrorFacts(
    { code: row[at.code], message: row[at.message], ...row[at.details] },
    level,
    operation,
  );
}
