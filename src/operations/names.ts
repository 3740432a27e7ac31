/** Checks shared by the builders. */
import { CorrectableError } from '../correctable/errors.ts';

/** Returns `name`; throws `INVALID_ARGUMENT` that names `field` unless it is a string of one character or more. */
export function requireName(name: string, field: string): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new CorrectableError('INVALID_ARGUMENT', `${field}: give a string of at least one character`, { field });
}
