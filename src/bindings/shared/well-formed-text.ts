/**
 * Checks text for engines that store UTF-8. They cannot store half of a surrogate pair, and would
 * store another text instead.
 */
import { check, CorrectableError, createInvalidArgumentError } from '../../correctable/errors.ts';
import { isMap, isPlain, isSet } from '../../values/value-kinds.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Returns the value if an engine can store its texts unchanged. Throws `INVALID_ARGUMENT` that
 * names `field`.
 */
export function checkWellFormed<T>(value: T, field: string): T {
  const advice =
    'half of a surrogate pair cannot be written as UTF-8: give whole characters, or bytes';
  check(readWellFormed(value, field), field, advice);
  return value;
}

/** A getter of the value may throw: nothing was sent then. */
function readWellFormed(value: unknown, field: string): boolean {
  try {
    return isWellFormed(value);
  } catch (cause) {
    const message = `${field}: the value cannot be read: ${String(cause)}. Nothing was sent. Give plain data.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field, cause });
  }
}

/** Returns a text such as a key. Throws `INVALID_ARGUMENT` that names `field`. */
export function checkText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return checkWellFormed(value, field);
  throw createInvalidArgumentError(field, 'give a string of at least one character');
}

/** Beyond this depth, `toJson` refuses the value. */
const MAX_DEPTH = 1_000;

export function isWellFormed(value: unknown): boolean {
  return isWellFormedPart(value, 0, new Set());
}

/** `seen`: what is or was examined, since a value may contain itself. */
function isWellFormedPart(value: unknown, depth: number, seen: Set<object>): boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH || seen.has(value)) return true;
  seen.add(value);
  const areWellFormed = (parts: Iterable<unknown>): boolean =>
    Array.from(parts).every((part) => isWellFormedPart(part, depth + 1, seen));
  if (Array.isArray(value) || isSet(value) || isMap(value)) return areWellFormed(value);
  // Instances of other classes contain no text.
  return !isPlain(value) || areWellFormed(Object.entries(value));
}
