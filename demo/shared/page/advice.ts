/** What to do about a failure, in words for the person at the page. */
import { isCorrectableError } from 'correctables';

const BUSY = 'The backend has more to do than it can take: wait a moment, then fetch again.';
const STALE = 'This page and its backend are of different versions: load the page again.';
const GONE =
  'The backend does not answer. Fetch again once it is back, or start it with “npm run demo” and open this page from there.';

/** The advice for `failure`. */
export function adviceFor(failure: unknown): string {
  if (isCorrectableError(failure) && failure.code === 'OVERLOADED') return BUSY;
  if (isCorrectableError(failure) && failure.code === 'PROTOCOL') return STALE;
  return GONE;
}
