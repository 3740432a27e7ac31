/**
 * Tokens of sessions, for another site of the same store.
 *
 * They are not signed. All sites are in one process, so a vector can be checked instead: one with a
 * stamp that no site has reached would move the clocks of the sites, and is refused (R21).
 */
import { createZeroVector, maxVector, type Stamp, type Vector } from '../../causal/stamps.ts';
import { CorrectableError } from '../../correctable/errors.ts';

const TOKEN = /^c\d+\.(\d+(?:_\d+)*)$/;
const SEPARATOR = '_';

export interface TokenLimits {
  readonly siteCount: number;
  readonly getHighestStamp: (site: number) => Stamp;
}

/** A client keeps the newest token of each site, which stands before the dot. */
export function formatToken(site: number, vector: Vector): string {
  return `c${site}.${vector.join(SEPARATOR)}`;
}

/** @throws CorrectableError `UNAUTHENTICATED` for a token that is not of this store */
export function parseTokens(tokens: readonly string[], limits: TokenLimits): Vector {
  return tokens
    .map((token) => parseToken(token, limits))
    .reduce(maxVector, createZeroVector(limits.siteCount));
}

function parseToken(token: string, { siteCount, getHighestStamp }: TokenLimits): Vector {
  const vector = TOKEN.exec(token)?.[1]?.split(SEPARATOR).map(Number) ?? [];
  const isPossible = vector.every((stamp, site) => stamp <= getHighestStamp(site));
  if (vector.length === siteCount && isPossible) return vector;
  const message = 'session: the token was not made by this store. Open a new session.';
  throw new CorrectableError('UNAUTHENTICATED', message, { field: 'session' });
}
