/** ZooKeeper's failures as those of a Correctable. */
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import {
  isZooKeeperError,
  type ZooKeeperError,
  type ZooKeeperErrorCode,
} from './client/errors.ts';

const ERROR_CODES: { readonly [code in ZooKeeperErrorCode]?: ErrorCode } = {
  CONNECTION_LOSS: 'UNAVAILABLE',
  SESSION_EXPIRED: 'UNAVAILABLE',
  SESSION_MOVED: 'UNAVAILABLE',
  NO_AUTH: 'FORBIDDEN',
  AUTH_FAILED: 'UNAUTHENTICATED',
  AUTH_REQUIRED: 'UNAUTHENTICATED',
  TOO_MANY_REQUESTS: 'OVERLOADED',
  THROTTLED: 'OVERLOADED',
  QUOTA_EXCEEDED: 'OVERLOADED',
  BAD_ARGUMENTS: 'INVALID_ARGUMENT',
  PROTOCOL_ERROR: 'PROTOCOL',
};

/**
 * The client's own hints name its methods, which users of the binding do not
 * call.
 */
const HINTS: { readonly [code in ZooKeeperErrorCode]?: string } = {
  SESSION_EXPIRED:
    'the ensemble gave the session up. The binding opens another session: try again',
  NO_AUTH: 'pass an identity that the ACL names as the option auth',
  AUTH_FAILED: 'the server refused the option auth',
};

function formatForBinding({ code, hint, message }: ZooKeeperError): string {
  const own = HINTS[code];
  return own === undefined || hint === undefined
    ? message
    : message.replace(hint, own);
}

/**
 * The error to report. An update that was sent and not answered is `UNKNOWN`,
 * never "not done".
 */
export function toCorrectableError(error: unknown): unknown {
  if (!isZooKeeperError(error) || !error.mayHaveTakenEffect)
    return toNotAppliedError(error);
  const message = `the write was sent, and what became of it is not known: ${error.message}`;
  return new CorrectableError('UNKNOWN', message, { cause: error });
}

/**
 * The error to report for the failure of what goes before the update: that was
 * never sent.
 */
export function toNotAppliedError(error: unknown): unknown {
  if (!isZooKeeperError(error)) return error;
  if (error.code === 'CLIENT_CLOSED') return createClosedError();
  const code = ERROR_CODES[error.code];
  return code === undefined
    ? error
    : new CorrectableError(code, formatForBinding(error), { cause: error });
}

/** For a promise of what goes before the update. */
export function throwNotApplied(error: unknown): never {
  throw toNotAppliedError(error);
}

/**
 * The error to report for what fails once an item has been taken: to say that
 * nothing was done would lose it.
 */
export function createItemTakenError(
  number: number,
  cause: unknown,
): CorrectableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `item ${number} was taken, and could not be brought: ${reason}; the next dequeue may find it`;
  return new CorrectableError('UNKNOWN', message, { cause });
}

/**
 * Whether the connection or the session is at fault, so that the request may go
 * on over another.
 */
export function isConnectionLost(error: unknown): boolean {
  if (!isZooKeeperError(error)) return false;
  return (
    error.code === 'CONNECTION_LOSS' ||
    error.code === 'SESSION_MOVED' ||
    error.code === 'SESSION_EXPIRED'
  );
}

const BUSY_CODES: ReadonlySet<ZooKeeperErrorCode> = new Set([
  'TOO_MANY_REQUESTS',
  'THROTTLED',
  'REQUEST_TIMEOUT',
  'OPERATION_TIMEOUT',
]);

/** Whether the same request may well be answered a little later. */
export function isBusy(error: unknown): boolean {
  return isZooKeeperError(error) && BUSY_CODES.has(error.code);
}

export function createClosedError(): CorrectableError {
  return new CorrectableError(
    'UNAVAILABLE',
    'The ZooKeeper binding is closed; create another',
    {
      retryable: false,
    },
  );
}

/** Returns the error of an update that is abandoned before it is sent. */
export function createAbandonedError(): CorrectableError {
  return new CorrectableError(
    'ABORTED',
    'given up before the update was sent: nothing was changed',
  );
}

/**
 * For an update that was in flight, and not answered in the time that closing
 * has.
 */
export function createInterruptedError(): CorrectableError {
  return new CorrectableError(
    'UNKNOWN',
    'The ZooKeeper binding was closed under the write, which may take effect',
  );
}
