/** Errors on the wire: `fail` rows from errors, and errors from `fail` rows. */
import { CorrectableError, isCorrectableError, type ErrorCode, type ErrorDetails } from '../correctable/errors.ts';
import { fail, type FailDetails, type FailMessage } from './messages/fail.ts';

const { at } = fail;

const ERROR_CODES: Readonly<Record<ErrorCode, true>> = {
  UNKNOWN_LEVEL: true,
  UNSUPPORTED: true,
  INVALID_ARGUMENT: true,
  INVALID_VALUE: true,
  TIMEOUT: true,
  ABORTED: true,
  LEVEL_NOT_REACHED: true,
  CLOSED_WITHOUT_FINAL: true,
  FINAL_FAILED: true,
  SPECULATION_FAILED: true,
  ABORT_HANDLER_FAILED: true,
  CONFLICT: true,
  UNKNOWN: true,
  UNAVAILABLE: true,
  OVERLOADED: true,
  UNAUTHENTICATED: true,
  FORBIDDEN: true,
  PROTOCOL: true,
  REPLICA_BEHIND: true,
  REPLY_EXPIRED: true,
  DOMAIN: true,
};

/**
 * The row that tells a client of `error`. Only the typed errors of this package say what happened; what a store throws
 * beside them may name its tables and machines, so it stays on the server.
 */
export function toFailMessage(id: number, error: unknown, level?: number): FailMessage {
  if (!isCorrectableError(error))
    return [id, 'fail', 'FINAL_FAILED', 'the operation failed on the server', level ?? null];
  const { code, message, retryable, retryAfterMs, field, domain } = error;
  const details: FailDetails = {
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(field !== undefined && { field }),
    ...(domain !== undefined && { domain: { name: domain.name, data: domain.data } }),
  };
  return [id, 'fail', code, message, level ?? null, details];
}

/**
 * The error that a `fail` row tells of: at `level`, where that is all that failed, and of which operation. A code of a
 * newer server counts as `FINAL_FAILED`.
 */
export function fromFailMessage(row: FailMessage, level?: string, operation?: string): CorrectableError {
  const code = row[at.code];
  const message = row[at.message];
  const known: ErrorCode = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'FINAL_FAILED';
  const { retryable, retryAfterMs, field, domain: reported } = row[at.details] ?? {};
  const domain = reported && { name: reported.name, data: reported.data, operation };
  const value: ErrorDetails = { retryable, retryAfterMs, field, level, domain };
  return new CorrectableError(known, known === code ? message : `${code}: ${message}`, value);
}
