/**
 * Errors as plain data: the facts of an error that a server sends, and the error that a client
 * creates from them.
 */
import { CorrectableError, isCorrectableError, type ErrorCode } from '../correctable/errors.ts';
import { hideAddresses } from './hide-addresses.ts';
import type { FailDetails } from './messages/fail.ts';
import { isOutage } from './report-failure.ts';

export interface ErrorFacts extends FailDetails {
  readonly code: string;
  readonly message: string;
}

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
 * Returns the code if it is one of this package. A binding of another author may have other codes.
 */
export function toKnownCode(code: string): ErrorCode {
  return Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'FINAL_FAILED';
}

/**
 * Returns what clients may know of `error`: the details of a typed error. The text of other errors
 * could name tables and machines. If a store does not answer, its driver may have named the
 * machine.
 */
export function toErrorFacts(error: unknown): ErrorFacts {
  if (!isCorrectableError(error))
    return {
      code: 'FINAL_FAILED',
      message: 'the operation failed on the server',
    };
  const { code, message, retryable, retryAfterMs, field, domain } = error;
  return {
    code,
    message: isOutage(error) ? hideAddresses(message) : message,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(field !== undefined && { field }),
    ...(domain !== undefined && {
      domain: { name: domain.name, data: domain.data },
    }),
  };
}

/**
 * Returns the error of `operation`, at `level` if only that failed. Unknown codes become
 * `FINAL_FAILED`.
 */
export function fromErrorFacts(
  facts: ErrorFacts,
  level?: string,
  operation?: string,
): CorrectableError {
  const { code, message, retryable, retryAfterMs, field, domain: reported } = facts;
  const known = toKnownCode(code);
  const domain = reported && {
    name: reported.name,
    data: reported.data,
    operation,
  };
  const details = { retryable, retryAfterMs, field, level, domain };
  return new CorrectableError(known, known === code ? message : `${code}: ${message}`, details);
}
