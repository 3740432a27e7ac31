/** What failures mean to a sale, and what to do about them, in words for the person at the page. */
import { isCorrectableError } from 'correctables';

const GONE = 'The backend is gone: start it with “npm run demo”, then press “Start a new sale”.';
const BUSY = 'The backend has more to do than it can take: wait a moment, then press “Start a new sale”.';
const ADDRESS = 'Correct what is named below in the address of this page, then load it again.';
const OTHER = 'Press “Start a new sale”; if that fails too, restart “npm run demo”.';

/** Whether a purchase that failed like this leaves the sale intact: the store may answer the next one. */
export function isPassing(failure: unknown): boolean {
  return isCorrectableError(failure) && (failure.retryable || failure.code === 'UNKNOWN' || failure.code === 'ABORTED');
}

/** The advice for a failure that ended a sale. */
export function adviceFor(failure: unknown): string {
  if (!isCorrectableError(failure)) return OTHER;
  if (failure.code === 'INVALID_ARGUMENT') return ADDRESS;
  if (failure.code === 'OVERLOADED') return BUSY;
  return failure.code === 'UNAVAILABLE' || failure.code === 'TIMEOUT' ? GONE : OTHER;
}

/** The message for a customer whose purchase has failed. */
export function apology(failure: unknown): string {
  if (isCorrectableError(failure, 'OVERLOADED')) return 'too busy';
  if (isCorrectableError(failure, 'UNKNOWN') || isCorrectableError(failure, 'TIMEOUT')) return 'no answer';
  return 'failed';
}
