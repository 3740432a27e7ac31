/**
 * Versions as JSON, for tokens and for entries of a cache. A `Date` and a `bigint` come back as
 * they were, because they must stay comparable.
 */
import { getToStringTag } from '../../../correctable/built-in-class.ts';

/** A version as JSON: its kind, and its content. */
export type EncodedVersion = readonly [kind: 'v' | 'n' | 'd', content: unknown];

export function encodeVersion(version: unknown): EncodedVersion {
  const tag = getToStringTag(version);
  if (tag === 'BigInt') return ['n', String(version)];
  if (tag === 'Date') return ['d', Number(version)];
  return ['v', version];
}

export function decodeVersion([kind, content]: EncodedVersion): unknown {
  if (kind === 'n') return BigInt(content as string);
  if (kind === 'd') return new Date(content as number);
  return content;
}
