/**
 * Errors of our own that come out of a generator's run: what its tools throw,
 * and what its result is refused with. They may leave the site, since their
 * words are ours and hold no data. Whatever else is thrown there may hold
 * anything.
 */
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';

type ErrorFields = Pick<CorrectableError, 'code' | 'message' | 'field'>;

/**
 * As they were made: a generator may catch one, add to its message, and throw
 * it again.
 */
const originalFields = new WeakMap<object, ErrorFields>();

/** Marks an error as one of ours. */
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
 * Returns what a client may see of a thrown value: an error of the library.
 * `keep` gets what it may not see.
 */
export function toClientError(
  thrown: unknown,
  keep: (retained: unknown) => void,
): CorrectableError | undefined {
  const known = originalFields.get(thrown as object);
  const stored: unknown =
    known === undefined ? thrown : (thrown as Error).cause;
  if (stored !== undefined) keep(stored);
  return (
    known &&
    markInternal(
      new CorrectableError(known.code, known.message, { field: known.field }),
    )
  );
}

/** What a value is that is no such number as was wanted, without the value. */
export function describeKind(value: unknown): string {
  if (typeof value !== 'number') return value === null ? 'null' : typeof value;
  if (!Number.isFinite(value))
    return Number.isNaN(value) ? 'NaN' : 'an infinite one';
  if (!Number.isInteger(value)) return 'a fraction';
  return value < 0 ? 'a negative one' : 'one beyond 2^53';
}
