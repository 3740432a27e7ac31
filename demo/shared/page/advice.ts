/** Describes a failure and its fix for the visitor of the page. */
import { isAxiosError } from 'axios';
import { isCorrectableError, type ErrorCode } from 'correctables';

/** A failure, and the advice for it. */
export interface Advice {
  readonly title: string;
  readonly advice: string;
}

const BUSY: Advice = {
  title: 'The backend has more to do than it can take',
  advice: 'Wait a moment, then fetch again.',
};
const STALE: Advice = {
  title: 'This page and its backend are of different versions',
  advice: 'Load the page again.',
};
const GONE: Advice = {
  title: 'The backend does not answer',
  advice:
    'Fetch again once it is back, or start it with “npm run demo” and open this page from there.',
};
const OTHER: Advice = {
  title: 'The request has failed',
  advice:
    'Load the page again; if that fails too, restart “npm run demo” and open this page from there.',
};

const BY_CODE: Readonly<Partial<Record<ErrorCode, Advice>>> = {
  OVERLOADED: BUSY,
  PROTOCOL: STALE,
  TIMEOUT: GONE,
  UNAVAILABLE: GONE,
  UNKNOWN: GONE,
};

/** Returns the advice for `failure`. */
export function adviceFor(failure: unknown): Advice {
  if (isAxiosError(failure)) return GONE;
  return (isCorrectableError(failure) ? BY_CODE[failure.code] : undefined) ?? OTHER;
}
