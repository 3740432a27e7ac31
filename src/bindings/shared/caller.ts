/** The caller of an operation, so that its views can be kept apart. */
import type { Principal } from '../../correctable/binding.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';

/** To every store, an absent argument means the same as one that is `undefined`. */
export const CANONICAL_OPTIONS = { isLoose: true, maxParts: 1_000_000 };

/** The user that a submission is executed for, if it names one. */
export interface Caller {
  readonly id: string;
  /**
   * Other facts on which replies may depend, such as roles, as one string. `''` if there are none.
   */
  readonly claims: string;
}

/**
 * Returns the caller of a submission for `principal`; `undefined` if the caller cannot be
 * distinguished from a submission without a principal.
 *
 * @throws Error if the principal is no plain data, so that its views could not be distinguished
 */
export function toCaller(principal: Principal): Caller | undefined {
  // Replies may depend on more than the fields of an object of a class.
  if (toCanonicalString(principal, CANONICAL_OPTIONS) === undefined)
    throw new Error('the principal is no plain data');
  // The expiry of a token changes no view.
  const { id, expiresAt: _, ...claims } = principal;
  const text = Object.keys(claims).length > 0 ? toCanonicalString(claims, CANONICAL_OPTIONS) : '';
  return id === '' && text === '' ? undefined : { id, claims: text as string };
}
