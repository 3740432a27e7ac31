/** Checks shared by the builders. */
import { check } from '../correctable/errors.ts';
import { isNonEmptyString } from '../correctable/validate.ts';

/**
 * Returns `name`; throws `INVALID_ARGUMENT` that names `field` unless it is a
 * string of one character or more.
 */
export function checkName(name: string, field: string): string {
  check(
    isNonEmptyString(name),
    field,
    'give a string of at least one character',
  );
  return name;
}
