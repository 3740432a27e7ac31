/**
 * The time without a connection and its reason, for the error of an operation that waits for a
 * connection until its timeout.
 */
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import { CloseCode } from '../../protocol/close-codes.ts';

/**
 * The present time without a connection. There is one object for the life of the client. Operations
 * read it when they need it.
 */
export class Outage {
  /** Why there is no connection, or why there was none before the present one. */
  reason: CorrectableError | undefined;
  readonly #now: () => number;
  #since: number | undefined;
  #attempts = 0;
  #url = '';
  #detail = 'no attempt has ended yet';

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  /**
   * The error that says why operations cannot be sent, and since when. `undefined` while there is a
   * connection.
   */
  get blockedBy(): CorrectableError | undefined {
    if (this.#since === undefined) return undefined;
    const seconds = ((this.#now() - this.#since) / 1000).toFixed(1);
    const attempts = `${this.#attempts} ${this.#attempts === 1 ? 'attempt' : 'attempts'}`;
    const message = `no connection to ${this.#url} for ${seconds} s (${attempts}): ${this.#detail}`;
    return new CorrectableError('UNAVAILABLE', message, { cause: this.reason });
  }

  begin(): void {
    this.#since ??= this.#now();
  }

  recordAttempt(url: string): void {
    this.#attempts++;
    if (this.reason === undefined) this.#url = url;
  }

  /**
   * Sets the reason why the connection to `url` was lost or could not be opened. `detail` is the
   * reason without the address, for messages that contain the address already.
   */
  setReason(url: string, reason: CorrectableError, detail: string = reason.message): void {
    this.#url = url;
    this.reason = reason;
    this.#detail = detail;
  }

  end(): void {
    this.#since = undefined;
    this.#attempts = 0;
    this.reason = undefined;
  }
}

const ERROR_CODES_BY_CLOSE_CODE: Readonly<Record<number, ErrorCode>> = {
  [CloseCode.unauthenticated]: 'UNAUTHENTICATED',
  [CloseCode.forbidden]: 'FORBIDDEN',
};

/**
 * Creates the error for a fatal close code. `reported` is the error that the server sent in a
 * message before it closed.
 */
export function createRejectionError(
  code: number,
  reason: string,
  reported: CorrectableError | undefined,
): CorrectableError {
  const message = `the server refused the connection: ${reason} (${code})`;
  return reported ?? new CorrectableError(ERROR_CODES_BY_CLOSE_CODE[code] ?? 'PROTOCOL', message);
}

/**
 * Creates the error for a connection that was lost or could not be opened, and that will be
 * retried.
 */
export function createLossError(url: string, detail: string): CorrectableError {
  return new CorrectableError('UNAVAILABLE', `no connection to ${url}: ${detail}`);
}

/** Creates the error for an operation of another principal than the present one. */
export function createPrincipalChangedError(): CorrectableError {
  const message = 'the principal has changed; submit again what is still needed';
  return new CorrectableError('UNAVAILABLE', message, { retryable: false });
}

/** Browsers do not report why a socket could not be opened. */
export const REFUSAL_HINT =
  'The server cannot be reached, or it refused the connection: the origin of the page is not in its `origins`, or the path is no site. Its log has the reason';

/** Returns what a close code reveals of the reason. */
export function formatCloseDetail(code: number, reason: string): string {
  return reason === '' ? `closed with ${code}` : `${reason} (${code})`;
}
