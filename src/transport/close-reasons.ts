/** Why a server refused the client, as an error. */
import { CorrectableError, type ErrorCode } from '../correctable/errors.ts';
import { CloseCode } from '../protocol/close-codes.ts';

const CODES: Readonly<Record<number, ErrorCode>> = {
  [CloseCode.unauthenticated]: 'UNAUTHENTICATED',
  [CloseCode.forbidden]: 'FORBIDDEN',
};

/** The error for a fatal close code; `told` is what the server said in a row before it closed. */
export function refusalOf(code: number, reason: string, told: CorrectableError | undefined): CorrectableError {
  return (
    told ?? new CorrectableError(CODES[code] ?? 'PROTOCOL', `the server refused the connection: ${reason} (${code})`)
  );
}

/** The error for a connection that was lost, or could not be opened, and will be tried again. */
export function lossOf(url: string, detail: string): CorrectableError {
  return new CorrectableError('UNAVAILABLE', `no connection to ${url}: ${detail}`);
}

/** The error for what another than whoever is signed in now has submitted. */
export function otherPrincipal(): CorrectableError {
  const message = 'the principal has changed; what is still wanted has to be submitted anew';
  return new CorrectableError('UNAVAILABLE', message, { retryable: false });
}

/** What a close says about the reason. */
export function detailOf(code: number, reason: string): string {
  return reason === '' ? `closed with ${code}` : `${reason} (${code})`;
}
