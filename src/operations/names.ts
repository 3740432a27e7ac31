/** Checks shared by the builders. */
import { check } from '../correctable/errors.ts';
import { isName } from '../correctable/given.ts';

/** Returns `name`; throws `INVALID_ARGUMENT` that names `field` unless it is a string of one character or more. */
export function requireName(name: string, field: string): string {
  check(isName(name), field, 'give a string of at least one character');
  return name;
}
