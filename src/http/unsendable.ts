/**
 * Recognizes requests that no platform sends. They are mistakes of the program, so a retry is of no
 * use, and an update was certainly not executed. `fetch` reports them like a lost connection, as a
 * `TypeError` without a code.
 */
import { CorrectableError } from '../correctable/errors.ts';
import type { RequestLabel } from './reply-error.ts';

/** The arguments of a call of `fetch`. */
interface FetchArguments {
  readonly input: string | URL | Request;
  readonly url: string;
  readonly init: RequestInit;
}

const CREDENTIALS = /\/\/[^/?#\s]*@/g;

/**
 * Returns the name of a request in errors, without its query and its credentials, which may be
 * confidential.
 */
export function formatRequestName(method: string, url: string): string {
  return `${method} ${hideCredentials(url.replace(/[?#].*$/s, ''))}`;
}

function hideCredentials(text: string): string {
  return text.replaceAll(CREDENTIALS, '//');
}

/** Schemes of addresses that HTTP cannot request. */
const OTHER_SCHEMES = /^(wss?|ftp|mailto|about):/i;
/** The causes that Node gives for addresses that it refuses before it connects. */
const REFUSALS = /^(bad port$|unknown scheme$|URL scheme )/;

/** Returns whether `fetch` has rejected these arguments themselves, so that nothing was sent. */
export function isUnsendable(error: unknown, { input, url, init }: FetchArguments): boolean {
  const { message, cause } = Object(error) as Error;
  if (OTHER_SCHEMES.test(url) || REFUSALS.test((Object(cause) as Error).message)) return true;
  try {
    void new Request(input, init);
  } catch (refusal) {
    // The application may pass a `fetch` that can send requests which `Request` rejects. If that
    // `fetch` fails, its message differs from that of `Request`.
    return getReason(message) === getReason((refusal as Error).message);
  }
  return false;
}

/** Browsers begin the message with the name of the function that failed. */
function getReason(message: unknown): string {
  return String(message).replace(/^(Failed to .*?|\w+\.fetch|Request constructor): |\.$/g, '');
}

export function createUnsendableError({ name }: RequestLabel, cause: unknown): CorrectableError {
  const reason = hideCredentials(getReason((Object(cause) as Error).message));
  const message =
    `${name}: this request cannot be sent: ${reason}. Nothing was sent. ` +
    'Give an absolute address without credentials, and options that fetch accepts.';
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'input',
    cause,
  });
}
