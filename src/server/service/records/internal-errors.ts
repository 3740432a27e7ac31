/**
 * The library's own errors that a generator's run throws: those of its tools, and those of a
 * refused result. They may leave the site, since their texts contain no data. Other errors from
 * there may contain anything.
 */
import { CorrectableError, type ErrorCode } from '../../../correctable/errors.ts';

interface ErrorFields {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field: string | undefined;
}

/**
 * The original texts. A generator may catch such an error, add to its message, and throw it again.
 */
const originalFields = new WeakMap<object, ErrorFields>();

/** Marks an error as one of the library. */
export function markInternal(error: CorrectableError): CorrectableError {
  const { code, message, field } = error;
  originalFields.set(error, { code, message, field });
  return error;
}

export function createInternalError(
  code: ErrorCode,
  message: string,
  field: string,
): CorrectableError {
  return markInternal(new CorrectableError(code, message, { field }));
}

/**
 * Returns the error that a client may see for a thrown value. `keep` gets the value if the client
 * may not see it.
 */
export function toClientError(
  thrown: unknown,
  keep: (retained: unknown) => void,
): CorrectableError | undefined {
  const known = originalFields.get(thrown as object);
  const stored: unknown = known === undefined ? thrown : (thrown as Error).cause;
  if (stored !== undefined) keep(stored);
  return (
    known && markInternal(new CorrectableError(known.code, known.message, { field: known.field }))
  );
}

/** Describes a value that is not a number as expected, without the value itself. */
export function describeKind(value: unknown): string {
  if (typeof value !== 'number') return value === null ? 'null' : typeof value;
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : 'an infinite one';
  if (!Number.isInteger(value)) return 'a fraction';
  return value < 0 ? 'a negative one' : 'one beyond 2^53';
}
