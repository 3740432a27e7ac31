/** The key of a cached view: its owner and its operation. */
import type { Principal } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';

/**
 * To every store, an absent argument means the same as one that is `undefined`.
 */
const CANONICAL_OPTIONS = { isLoose: true, maxParts: 1_000_000 };

/** The user that a submission is executed for, if it names one. */
export interface Caller {
  readonly id: string;
  /**
   * Other facts on which replies may depend, such as roles, as one string. `''`
   * if there are none.
   */
  readonly claims: string;
}

/**
 * The owner of a view: the principal of the cache, and the caller of the
 * submission.
 */
export interface ViewOwner {
  readonly principal: string;
  readonly caller: Caller | undefined;
}

/**
 * Returns the caller of a submission for `principal`; `undefined` if the caller
 * cannot be distinguished from a submission without a principal.
 *
 * @throws Error if the principal is no plain data, so that its views could not
 * be distinguished
 */
export function toCaller(principal: Principal): Caller | undefined {
  // Replies may depend on more than the fields of an object of a class.
  if (toCanonicalString(principal, CANONICAL_OPTIONS) === undefined)
    throw new Error('the principal is no plain data');
  // The expiry of a token changes no view.
  const { id, expiresAt: _, ...claims } = principal;
  const text =
    Object.keys(claims).length > 0
      ? toCanonicalString(claims, CANONICAL_OPTIONS)
      : '';
  return id === '' && text === '' ? undefined : { id, claims: text as string };
}

/**
 * Returns the id of an operation in the cache of its owner. Returns `undefined`
 * if its arguments are no plain data.
 */
export function toViewId(
  { principal, caller }: ViewOwner,
  { name, key, args }: Operation,
  hash?: string,
): string | undefined {
  const parts = [
    toCanonicalString(key, CANONICAL_OPTIONS),
    toCanonicalString(args, CANONICAL_OPTIONS),
  ];
  if (parts.includes(undefined)) return undefined;
  const id: ViewIdParts = [principal, name, ...(parts as [string, string])];
  if (caller !== undefined) id.push(hash ?? null, caller.id, caller.claims);
  else if (hash !== undefined) id.push(hash);
  return JSON.stringify(id);
}

/** Returns whether a string has the parts of an id by `toViewId`. */
export function isViewId(id: string): boolean {
  try {
    const parts = JSON.parse(id) as unknown;
    if (!Array.isArray(parts) || ![4, 5, 7].includes(parts.length))
      return false;
    const isWithoutHash = parts.length === 7 && parts[4] === null;
    return parts.every(
      (part, n) => typeof part === 'string' || (n === 4 && isWithoutHash),
    );
  } catch {
    return false;
  }
}

/** Returns the principal of the cache that stored the view. */
export function getViewPrincipal(id: string): string {
  return parseViewId(id)[0];
}

/**
 * Returns the principal that may see the view: its caller or, without one, the
 * principal of the cache.
 */
export function getViewReader(id: string): string {
  const [principal, , , , , callerId] = parseViewId(id);
  return callerId || principal;
}

/**
 * Returns the principals that own the view. It is removed with the data of each
 * of them.
 */
export function getViewPrincipals(id: string): readonly string[] {
  const [principal, , , , , callerId] = parseViewId(id);
  if (callerId === undefined) return [principal];
  return principal === '' ? [callerId] : [callerId, principal];
}

export function getViewOperationName(id: string): string {
  return parseViewId(id)[1];
}

export function getViewOperationHash(id: string): string | undefined {
  return parseViewId(id)[4] ?? undefined;
}

type ViewIdParts = [
  principal: string,
  name: string,
  key: string,
  args: string,
  hash?: string | null,
  callerId?: string,
  claims?: string,
];

const parseViewId = (id: string): ViewIdParts => JSON.parse(id) as ViewIdParts;
