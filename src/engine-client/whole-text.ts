/** Text for engines that keep UTF-8: half of a surrogate pair cannot be written there, and another text is kept instead. */
import { invalidArgument } from '../correctable/errors.ts';
import { isMap, isPlain, isSet } from '../values/kinds.ts';

const HALF_PAIR = /\p{Surrogate}/u;

/**
 * The text, or the value around texts, which an engine can keep as it is.
 *
 * @throws {CorrectableError} `INVALID_ARGUMENT` that names `field`
 */
export function requireWholeText<T>(value: T, field: string): T {
  if (isWhole(value)) return value;
  throw invalidArgument(field, 'half of a surrogate pair cannot be written as UTF-8: give whole characters, or bytes');
}

function isWhole(value: unknown): boolean {
  if (typeof value === 'string') return !HALF_PAIR.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWhole);
  if (isSet(value)) return [...value].every(isWhole);
  if (isMap(value)) return [...value].every(isWhole);
  // Instances of other classes are no text.
  return !isPlain(value) || Object.entries(value).every(isWhole);
}
