/** Converts failures of D1 to those of a Correctable. */
import { CorrectableError, isCorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import type { D1Plan } from './plan.ts';
import { UNCHANGED_ERROR } from './statements.ts';
import { getErrorMessage } from '../../values/error-message.ts';

/**
 * Codes with which SQLite refuses a statement. Then nothing of the statement and of its transaction
 * is kept. After any other failure, a write may have been made.
 */
const CODES: Readonly<Record<string, ErrorCode>> = {
  SQLITE_AUTH: 'FORBIDDEN',
  SQLITE_CONSTRAINT: 'CONFLICT',
  SQLITE_ERROR: 'FINAL_FAILED', // a statement or a table is missing or wrong
  SQLITE_FULL: 'OVERLOADED',
  SQLITE_MISMATCH: 'INVALID_ARGUMENT',
  SQLITE_RANGE: 'INVALID_ARGUMENT',
  SQLITE_READONLY: 'UNAVAILABLE',
  SQLITE_SCHEMA: 'UNAVAILABLE', // a migration changed it meanwhile
  SQLITE_TOOBIG: 'INVALID_ARGUMENT',
};

/** Texts of `SQLITE_ERROR` about a value, not about the statement. */
const VALUE_PROBLEM = /integer overflow|malformed JSON|JSON path error/i;

/** At the end: the message before it may quote the statement. */
const SQLITE_CODE = /: (SQLITE_[A-Z]+)(?: \([^()]*\))?$/;

/** Returns the error to report. A write that may have been made is `UNKNOWN`. */
export function toCorrectableError(
  cause: unknown,
  { name, access, hint }: Pick<D1Plan, 'name' | 'access' | 'hint'>,
): unknown {
  if (isCorrectableError(cause)) return cause;
  const text = getErrorMessage(cause);
  const isWrite = access === 'write';
  const outcome = isWrite ? 'Nothing was written.' : 'Nothing was read.';
  if (isWrite && text.includes(UNCHANGED_ERROR)) {
    const message = `${name}: the statement before failIfUnchanged has changed no row. ${outcome} Read again, and decide again.`;
    return new CorrectableError('CONFLICT', message, {
      cause,
      retryable: false,
    });
  }
  const code = getCode(text, isWrite);
  if (code === undefined) {
    const message = `${name}: the write was sent and may have been made: ${text}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  const isTableMissing = text.includes('no such table') && hint !== undefined;
  const advice = isTableMissing ? ` ${hint}` : '';
  // A fault of the server: its caller, who may be a stranger, gets no names of tables. They are in
  // the cause.
  const reason = code === 'FINAL_FAILED' ? 'D1 refused the statement (SQLITE_ERROR)' : text;
  const message = `${name}: ${reason}. ${outcome}${advice}`;
  return new CorrectableError(code, message, {
    cause,
    ...(code === 'CONFLICT' && { retryable: false }),
  });
}

/** `undefined` for a write whose outcome is unknown. */
function getCode(text: string, isWrite: boolean): ErrorCode | undefined {
  const [, sqlite = ''] = SQLITE_CODE.exec(text) ?? [];
  if (sqlite === 'SQLITE_ERROR' && VALUE_PROBLEM.test(text)) return 'INVALID_ARGUMENT';
  const known = CODES[sqlite];
  if (known !== undefined || isWrite) return known;
  return text.includes('overloaded') ? 'OVERLOADED' : 'UNAVAILABLE';
}
