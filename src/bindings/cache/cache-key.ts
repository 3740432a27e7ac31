/**
 * What a cached view is filed under: whose it is and which operation gave it.
 */
import type { Principal } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';

/**
 * An argument that is absent and one that is `undefined` mean the same to every
 * store.
 */
const CANONICAL_OPTIONS = { isLoose: true, maxParts: 1_000_000 };

/** The user that a submission is executed for, if it names one. */
export interface Caller {
  readonly id: string;
  /**
   * What else the store behind may reply by, such as roles, as one text; `''`
   * if nothing.
   */
  readonly claims: string;
}

/**
 * Whose a view is: of the principal of the cache, and of the caller of the
 * submission.
 */
export interface ViewOwner {
  readonly principal: string;
  readonly caller: Caller | undefined;
}

/**
 * Returns the caller of a submission for `principal`; `undefined` for one that
 * nothing tells apart from a submission without a principal.
 *
 * @throws Error if the principal is no plain data: nothing tells its views
 * apart
 */
export function toCaller(principal: Principal): Caller | undefined {
  // An object of a class may have more to reply by than its fields show.
  if (toCanonicalString(principal, CANONICAL_OPTIONS) === undefined)
    throw new Error('the principal is no plain data');
  // The end of a token changes no view.
  const { id, expiresAt: _, ...claims } = principal;
  const text =
    Object.keys(claims).length > 0
      ? toCanonicalString(claims, CANONICAL_OPTIONS)
      : '';
  return id === '' && text === '' ? undefined : { id, claims: text as string };
}

/**
 * Returns an operation's id in the cache of its owner; `undefined` if its
 * arguments are no plain data.
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

/** Whether a text was made by `toViewId`, as far as its parts are concerned. */
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

/** The principal of the cache that filed the view. */
export function getViewPrincipal(id: string): string {
  return parseViewId(id)[0];
}

/**
 * Whom the view is shown to: its caller or, without one, the principal of the
 * cache.
 */
export function getViewReader(id: string): string {
  const [principal, , , , , callerId] = parseViewId(id);
  return callerId || principal;
}

/** The principals whose view it is: it leaves with the data of each of them. */
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
