/**
 * `node.json` in the directory of a site that is a process of its own: the identity of its owner.
 */
import { formatCheckedJson, parseCheckedJson } from '../format/checked-json.ts';
import { unusableDirectoryError } from './missing-history.ts';

export const NODE_FILE = 'node.json';

export interface StoredIdentity {
  readonly deployment: string;
  readonly site: string;
  /** The random id of the directory. No other directory has it. */
  readonly directory: string;
  /** The ordinal of its origin; `null` until another site has sent its state. */
  readonly origin: number | null;
  /** Why the site must not go on from this directory, if so. */
  readonly forked?: string;
}

export function formatIdentity(identity: StoredIdentity): Uint8Array {
  return formatCheckedJson(identity);
}

/** @throws CorrectableError `UNAVAILABLE` if the file is damaged */
export function parseIdentity(bytes: Uint8Array): StoredIdentity {
  let value: Readonly<Record<string, unknown>>;
  try {
    value = parseCheckedJson(bytes);
  } catch (error) {
    throw damagedError((error as Error).message);
  }
  const { deployment, site, directory, origin, forked = '' } = value;
  const areNames = [deployment, site, directory].every(
    (item) => typeof item === 'string' && item !== '',
  );
  const isOrigin = origin === null || (Number.isSafeInteger(origin) && (origin as number) > 0);
  if (areNames && isOrigin && typeof forked === 'string') return value as unknown as StoredIdentity;
  throw damagedError('it does not say whose the directory is');
}

/** Throws `UNAVAILABLE` if the origin in the file belongs to another site. */
export function rejectForeignOrigin(
  { site, origin }: { readonly site: string; readonly origin: number | null },
  ownerOf: (origin: number) => string | undefined,
): void {
  if (origin === null) return;
  const owner = ownerOf(origin);
  if (owner === site) return;
  const whose = owner === undefined ? 'which no site has' : `which is ${owner}'s`;
  throw damagedError(`its site is ${site}, and its origin is ${origin}, ${whose}`);
}

function damagedError(problem: string): Error {
  return unusableDirectoryError(`${NODE_FILE} is damaged (${problem})`);
}
