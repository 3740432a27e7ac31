/** Errors on the wire: converts errors to `fail` messages, and `fail` messages to errors. */
import type { CorrectableError } from '../correctable/errors.ts';
import { fromErrorFacts, toErrorFacts } from './error-facts.ts';
import { fail, type FailMessage } from './messages/fail.ts';

const { at } = fail;

export function toFailMessage(id: number, error: unknown, level?: number): FailMessage {
  const { code, message, ...details } = toErrorFacts(error);
  const failMessage = [id, 'fail', code, message, level ?? null] as const;
  return details.retryable === undefined ? [...failMessage] : [...failMessage, details];
}

/**
 * Returns the error that a `fail` message reports for `operation`. Pass a `level` if only that
 * level failed.
 */
export function fromFailMessage(
  message: FailMessage,
  level?: string,
  operation?: string,
): CorrectableError {
  return fromErrorFacts(
    {
      code: message[at.code],
      message: message[at.message],
      ...message[at.details],
    },
    level,
    operation,
  );
}
