/**
 * The text of one key of the cache: a view, the operation and the caller that it is for, and the
 * time at which the origin was asked.
 */
import type { ViewDetails } from '../../../correctable/binding.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { toCanonicalString } from '../../../values/canonical-string.ts';
import { CANONICAL_OPTIONS, toCaller } from '../../shared/caller.ts';
import { toExactJson } from '../../shared/to-json.ts';
import { decodeVersion, encodeVersion, type EncodedVersion } from '../sessions/version-codec.ts';
import type { LevelContext } from '../../shared/level-call.ts';

export interface CacheEntry {
  /** The operation, its caller, and the form of its contract. */
  readonly id: string;
  readonly value: unknown;
  readonly version?: unknown;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * When the origin was asked, in milliseconds since the epoch. So the entry has every write that
   * was final before.
   */
  readonly readAtMs: number;
}

interface EncodedEntry {
  readonly id: string;
  /** Absent for `undefined`. */
  readonly value?: unknown;
  readonly version?: EncodedVersion;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly readAtMs: number;
}

/**
 * Returns what distinguishes the views of one key. `undefined` if the arguments or the principal
 * are no plain data, so that views cannot be distinguished.
 */
export function toEntryId(
  { name, args }: Operation,
  { principal }: Pick<LevelContext, 'principal'>,
  hash: string | undefined,
): string | undefined {
  try {
    const caller = principal && toCaller(principal);
    return toCanonicalString([name, args, hash, caller], CANONICAL_OPTIONS);
  } catch {
    return undefined;
  }
}

/** @throws CorrectableError `INVALID_VALUE` for what JSON does not keep */
export function formatEntry(
  { id, value, version, meta, readAtMs }: CacheEntry,
  { name }: Operation,
): string {
  // What JSON would change must not come back from the cache.
  if (value !== undefined) toExactJson(value, { name, field: 'result' });
  if (meta !== undefined) toExactJson(meta, { name, field: 'meta' });
  return JSON.stringify({
    id,
    value,
    ...(version !== undefined && { version: encodeVersion(version) }),
    meta,
    readAtMs,
  });
}

/** Returns `undefined` for a text that is no entry. */
export function parseEntry(text: string): CacheEntry | undefined {
  try {
    const entry = JSON.parse(text) as EncodedEntry;
    if (!isRecord(entry) || typeof entry.readAtMs !== 'number') return undefined;
    const { id, value, version, meta, readAtMs } = entry;
    const decoded = version === undefined ? undefined : decodeVersion(version);
    return { id, value, version: decoded, meta, readAtMs };
  } catch {
    return undefined;
  }
}

/** Returns the details of a cached view. `ageMs` is undefined if unknown. */
export function toDetails({ version, meta }: CacheEntry, ageMs: number | undefined): ViewDetails {
  const { lagMs: lagAtOrigin = 0, ...others } = meta ?? {};
  const lagMs = ageMs === undefined ? undefined : ageMs + Number(lagAtOrigin);
  return {
    version,
    meta: { ...others, ...(lagMs !== undefined && { lagMs }) },
  };
}
