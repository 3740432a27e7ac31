/** What a cached view is filed under: whose it is and which operation gave it. */
import type { Operation } from '../../correctable/operation.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';

/** An argument that is absent and one that is `undefined` mean the same to every store. */
const CANONICAL_OPTIONS = { isLoose: true, maxParts: 1_000_000 };

/**
 * Returns an operation's id in the cache of `principal`; `undefined` if its arguments are no plain
 * data.
 */
export function toViewId(
  principal: string,
  { name, key, args }: Operation,
  hash?: string,
): string | undefined {
  const parts = [
    toCanonicalString(key, CANONICAL_OPTIONS),
    toCanonicalString(args, CANONICAL_OPTIONS),
  ];
  if (parts.includes(undefined)) return undefined;
  return JSON.stringify([principal, name, ...parts, ...(hash === undefined ? [] : [hash])]);
}

/** Whether a text was made by `toViewId`, as far as its parts are concerned. */
export function isViewId(id: string): boolean {
  try {
    const parts = JSON.parse(id) as unknown;
    return (
      Array.isArray(parts) &&
      (parts.length === 4 || parts.length === 5) &&
      parts.every((part) => typeof part === 'string')
    );
  } catch {
    return false;
  }
}

export function getViewPrincipal(id: string): string {
  return (JSON.parse(id) as [string])[0];
}

export function getViewOperationName(id: string): string {
  return (JSON.parse(id) as [string, string])[1];
}

export function getViewOperationHash(id: string): string | undefined {
  return (JSON.parse(id) as string[])[4];
}
