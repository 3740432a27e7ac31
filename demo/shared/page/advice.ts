/** What to do about a failure, in words for the person at the page. */
import { isCorrectableError } from 'correctables';

const BUSY = 'The backend has more to do than it can take: wait a moment, then fetch again.';
const STALE = 'This page and its backend are of different versions: load the page again.';
const GONE =
  'Is the backend still there? Start it with “npm run demo”, then fetch again: this page connects by itself.';

/** The advice for `failure`. */
export function adviceFor(failure: unknown): string {
  if (isCorrectableError(failure) && failure.code === 'OVERLOADED') return BUSY;
  if (isCorrectableError(failure) && failure.code === 'PROTOCOL') return STALE;
  return GONE;
}
