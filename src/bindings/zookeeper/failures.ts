/** ZooKeeper's failures as those of a Correctable. */
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import { isZooKeeperError, type ZooKeeperErrorCode } from './client/errors.ts';

const CODES: { readonly [code in ZooKeeperErrorCode]?: ErrorCode } = {
  CONNECTION_LOSS: 'UNAVAILABLE',
  SESSION_EXPIRED: 'UNAVAILABLE',
  SESSION_MOVED: 'UNAVAILABLE',
  CLIENT_CLOSED: 'UNAVAILABLE',
  NO_AUTH: 'FORBIDDEN',
  AUTH_FAILED: 'UNAUTHENTICATED',
  AUTH_REQUIRED: 'UNAUTHENTICATED',
  TOO_MANY_REQUESTS: 'OVERLOADED',
  THROTTLED: 'OVERLOADED',
  QUOTA_EXCEEDED: 'OVERLOADED',
  BAD_ARGUMENTS: 'INVALID_ARGUMENT',
  PROTOCOL_ERROR: 'PROTOCOL',
};

/** The error to report. An update that was sent and not answered is `UNKNOWN`, never "not done". */
export function correctableError(error: unknown): unknown {
  if (!isZooKeeperError(error)) return error;
  if (error.mayHaveTakenEffect) {
    return new CorrectableError('UNKNOWN', `the update was sent, the connection lost: ${error.message}`, {
      cause: error,
    });
  }
  const code = CODES[error.code];
  return code === undefined ? error : new CorrectableError(code, error.message, { cause: error });
}

/** Whether the connection or the session is at fault, so that the request may go on over another. */
export function isLost(error: unknown): boolean {
  if (!isZooKeeperError(error)) return false;
  return error.code === 'CONNECTION_LOSS' || error.code === 'SESSION_MOVED' || error.code === 'SESSION_EXPIRED';
}

export function closedError(): CorrectableError {
  return new CorrectableError('UNAVAILABLE', 'The ZooKeeper binding is closed; create another', { retryable: false });
}
