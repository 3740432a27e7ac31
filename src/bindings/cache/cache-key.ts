/** The key of a cached view: its owner and its operation. */
import type { Operation } from '../../correctable/operation.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';
import { CANONICAL_OPTIONS, type Caller } from '../shared/caller.ts';

/** The owner of a view: the principal of the cache, and the caller of the submission. */
export interface ViewOwner {
  readonly principal: string;
  readonly caller: Caller | undefined;
}

/**
 * Returns the id of an operation in the cache of its owner. Returns `undefined` if its arguments
 * are no plain data.
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
    if (!Array.isArray(parts) || ![4, 5, 7].includes(parts.length)) return false;
    const isWithoutHash = parts.length === 7 && parts[4] === null;
    return parts.every((part, n) => typeof part === 'string' || (n === 4 && isWithoutHash));
  } catch {
    return false;
  }
}

/** Returns the principal of the cache that stored the view. */
export function getViewPrincipal(id: string): string {
  return parseViewId(id)[0];
}

/**
 * Returns the principal that may see the view: its caller or, without one, the principal of the
 * cache.
 */
export function getViewReader(id: string): string {
  const [principal, , , , , callerId] = parseViewId(id);
  return callerId || principal;
}

/** Returns the principals that own the view. It is removed with the data of each of them. */
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
