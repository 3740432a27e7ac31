/** What may be said of an operation that ends without a view: never more than is known. */
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import type { InFlightOperation } from './in-flight-operation.ts';

/** The error of an operation that was not answered: an update that may have left may have taken effect. */
export function unanswered(operation: InFlightOperation, cause: CorrectableError): CorrectableError {
  const { name, effect, mayHaveLeft } = operation;
  if (effect === 'update' && mayHaveLeft) {
    const message = `${name}: the update was sent, but its answer never came, so it may have taken effect: ${cause.message}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  const { code, message, retryable, retryAfterMs, field } = cause;
  const fate = effect === 'update' ? '; nothing was done' : '';
  return new CorrectableError(code, `${name}: ${message}${fate}`, { retryable, retryAfterMs, field, cause });
}

/**
 * What a server says at its door, before it looks for what was done: of an update that another one may have executed
 * before, it says nothing.
 */
const SAID_AT_THE_DOOR: ReadonlySet<ErrorCode> = new Set([
  'OVERLOADED',
  'UNAVAILABLE',
  'FORBIDDEN',
  'UNAUTHENTICATED',
  'UNSUPPORTED',
  'INVALID_ARGUMENT',
  'UNKNOWN_LEVEL',
  'PROTOCOL',
  'EXPIRED_ID',
  'ABORTED',
]);

/** The error of an operation that the server of its present line failed. */
export function failedBy(operation: InFlightOperation, error: CorrectableError): CorrectableError {
  const { sentBefore, line } = operation;
  if (!sentBefore || !SAID_AT_THE_DOOR.has(error.code)) return error;
  // One that has remembered this client ever since would know of it.
  const memory = line?.memory;
  return memory !== undefined && !operation.isUnknownTo(memory) ? error : unanswered(operation, error);
}
