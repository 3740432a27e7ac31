/**
 * Determines the effect of failures on a sale, and describes their fix for the visitor of the page.
 */
import { isCorrectableError } from 'correctables';

const GONE = 'The backend is gone: start it with “npm run demo”, then press “Start a new sale”.';
const BUSY =
  'The backend has more to do than it can take: wait a moment, then press “Start a new sale”.';
const ADDRESS = 'Correct what is named below in the address of this page, then load it again.';
const OTHER = 'Press “Start a new sale”; if that fails too, restart “npm run demo”.';

/**
 * Returns whether the sale can continue after a purchase that failed like this, because the next
 * one may succeed.
 */
export function isPassing(failure: unknown): boolean {
  return (
    isCorrectableError(failure) &&
    (failure.retryable || failure.code === 'UNKNOWN' || failure.code === 'ABORTED')
  );
}

/** Returns the advice for a failure that ended a sale. */
export function adviceFor(failure: unknown): string {
  if (!isCorrectableError(failure)) return OTHER;
  if (failure.code === 'INVALID_ARGUMENT') return ADDRESS;
  if (failure.code === 'OVERLOADED') return BUSY;
  return failure.code === 'UNAVAILABLE' || failure.code === 'TIMEOUT' ? GONE : OTHER;
}

/** Returns the message for a customer whose purchase has failed. */
export function apology(failure: unknown): string {
  if (isCorrectableError(failure, 'OVERLOADED')) return 'too busy';
  if (isCorrectableError(failure, 'UNKNOWN') || isCorrectableError(failure, 'TIMEOUT'))
    return 'no answer';
  return 'failed';
}
