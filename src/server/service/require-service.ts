/** The check of a service that whoever tests one has given. */
import { check } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/given.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` for what `defineService` did not make, which shows the right `call` */
export function requireService(given: unknown, call: string): void {
  check(hasMethods(given, 'checkResult'), 'service', `must be one made by defineService: write ${call}`);
}
