/** Checks that several builders share. */
import { check } from '../correctable/errors.ts';
import { isNonEmptyString } from '../correctable/validate.ts';

/**
 * Returns `name`. Throws `INVALID_ARGUMENT` for `field` unless it is a string with at least one
 * character.
 */
export function checkName(name: string, field: string): string {
  check(isNonEmptyString(name), field, 'give a string of at least one character');
  return name;
}
