/** Converts the failures of ZooKeeper to those of a Correctable. */
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import {
  hasUsualHint,
  isZooKeeperError,
  type ZooKeeperError,
  type ZooKeeperErrorCode,
} from './client/errors.ts';
import { getErrorMessage } from '../../values/error-message.ts';

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

/** The hints for users of the binding. Those of the client name its methods. */
const HINTS: { readonly [code in ZooKeeperErrorCode]?: string } = {
  SESSION_EXPIRED: 'the ensemble gave the session up. The binding opens another session: try again',
  NO_AUTH: 'pass an identity that the ACL names as the option auth',
  AUTH_FAILED: 'the server refused the option auth',
};

function formatForBinding(error: ZooKeeperError): string {
  const { code, hint, message } = error;
  const own = HINTS[code];
  return own === undefined || hint === undefined || !hasUsualHint(error)
    ? message
    : message.replace(hint, own);
}

/**
 * Returns the error to report. An update that was sent and not answered is `UNKNOWN`, never "not
 * done".
 */
export function toCorrectableError(error: unknown): unknown {
  if (!isZooKeeperError(error) || !error.mayHaveTakenEffect) return toNotAppliedError(error);
  const message = `the write was sent, and what became of it is not known: ${error.message}`;
  return new CorrectableError('UNKNOWN', message, { cause: error });
}

/** Returns the error to report if a step before the update failed. The update was never sent. */
export function toNotAppliedError(error: unknown): unknown {
  if (!isZooKeeperError(error)) return error;
  if (error.code === 'CLIENT_CLOSED') return createClosedError();
  const code = ERROR_CODES[error.code];
  return code === undefined
    ? error
    : new CorrectableError(code, formatForBinding(error), { cause: error });
}

/** Rejects with the error of a step before the update. */
export function throwNotApplied(error: unknown): never {
  throw toNotAppliedError(error);
}

/**
 * Creates the error for a failure after an item was taken. An error that reports that nothing was
 * done would lose the item.
 */
export function createItemTakenError(number: number, cause: unknown): CorrectableError {
  const reason = getErrorMessage(cause);
  const message = `item ${number} was taken, and could not be brought: ${reason}; the next dequeue may find it`;
  return new CorrectableError('UNKNOWN', message, { cause });
}

/**
 * Returns whether the connection or the session failed, so that the request may continue on another
 * one.
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

/**
 * Creates the alarm of an ensemble that has lost what this binding has seen. The binding goes on,
 * because no server has that state any more.
 */
export function createRestoredWarning(restoredTo: bigint, seenZxid: bigint): CorrectableError {
  const message = `zookeeper(): the ensemble was restored from a backup or created again. Its last transaction is 0x${restoredTo.toString(16)}, and this binding had seen 0x${seenZxid.toString(16)}. Acknowledged writes after the backup are lost. The binding goes on in new sessions. Check the servers and your data.`;
  return new CorrectableError('REPLICA_BEHIND', message);
}

/**
 * Creates the error of the first read in an application's session whose state the ensemble has
 * lost.
 */
export function createLostStateError(seenZxid: bigint): CorrectableError {
  const message = `the ensemble was restored from a backup or created again, and has lost what this session had seen (transaction 0x${seenZxid.toString(16)}). Nothing was changed by this read. If you retry it, the session goes on with the state of the ensemble.`;
  return new CorrectableError('REPLICA_BEHIND', message);
}

/** Returns whether the same request will probably succeed a little later. */
export function isBusy(error: unknown): boolean {
  return isZooKeeperError(error) && BUSY_CODES.has(error.code);
}

export function createClosedError(): CorrectableError {
  return new CorrectableError('UNAVAILABLE', 'The ZooKeeper binding is closed; create another', {
    retryable: false,
  });
}

/** Creates the error of an update in flight that got no reply before the binding was closed. */
export function createInterruptedError(): CorrectableError {
  return new CorrectableError(
    'UNKNOWN',
    'The ZooKeeper binding was closed under the write, which may take effect',
  );
}
