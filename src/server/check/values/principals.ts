/** The users for whom drawn operations are executed. */
import type { Principal } from '../../../correctable/binding.ts';
import { check } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { isWellFormed } from '../../../protocol/codec/tagged-values.ts';
import { freezeArgsCopy } from '../../../values/deep-freeze.ts';

/** Two users, so that operations of one user also affect data of the other. */
const DEFAULT_PRINCIPALS: readonly Principal[] = freezeArgsCopy([{ id: 'ada' }, { id: 'bob' }]);

/** @throws CorrectableError `INVALID_ARGUMENT` naming the first invalid principal */
export function createPrincipals(
  principals: readonly Principal[] = DEFAULT_PRINCIPALS,
): readonly Principal[] {
  check(
    Array.isArray(principals) && principals.length > 0,
    'principals',
    "must be a list of principals, as [{ id: 'ada' }, { id: 'bob' }]",
  );
  for (const [at, principal] of principals.entries()) {
    const id: unknown = isRecord(principal) ? principal['id'] : undefined;
    check(
      typeof id === 'string' && isWellFormed(id),
      `principals.${at}`,
      "must have an id that is a well-formed string, as { id: 'ada' }",
    );
  }
  return freezeArgsCopy(principals);
}
