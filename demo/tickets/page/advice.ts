/** What to do about a failure, in words for the person at the page. */
import { isCorrectableError } from 'correctables';

const GONE = 'The backend is gone: start it with “npm run demo”, then press “Start a new sale”.';
const BUSY = 'The backend has more to do than it can take: wait a moment, then press “Start a new sale”.';
const ADDRESS = 'Correct what is named below in the address of this page, then load it again.';
const OTHER = 'Press “Start a new sale”; if that fails too, restart “npm run demo”.';

/** The advice for `failure`. */
export function adviceFor(failure: unknown): string {
  if (!isCorrectableError(failure)) return OTHER;
  if (failure.code === 'INVALID_ARGUMENT') return ADDRESS;
  if (failure.code === 'OVERLOADED') return BUSY;
  return failure.code === 'UNAVAILABLE' || failure.code === 'TIMEOUT' ? GONE : OTHER;
}
