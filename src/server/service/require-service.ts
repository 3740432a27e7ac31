/** The check of a service that somebody has given. */
import { check } from '../../correctable/errors.ts';
import { hasMethods } from '../../correctable/given.ts';

const MADE_HERE = Symbol('made by this copy of the package');

/** Part of each service that this copy of the package makes, and of what is made of that. */
export const madeHere = { [MADE_HERE]: true };

/**
 * What shadow operations of another copy give looks like any value here: each update would fail.
 *
 * @param call the right one, to show
 * @throws CorrectableError `INVALID_ARGUMENT` for what `defineService` of this copy did not make
 */
export function requireService(given: unknown, call: string): void {
  check(hasMethods(given, 'checkResult'), 'service', `must be one made by defineService: write ${call}`);
  const isHere = MADE_HERE in (given as object);
  check(
    isHere,
    'service',
    'was made by another copy of this package: let its module import it from where what runs the service is',
  );
}
