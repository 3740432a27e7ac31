/**
 * Tokens of sessions, for another site of the same store.
 *
 * They are not signed, because a vector can be checked instead: all sites are in one process. A
 * vector with a stamp that no site has reached would advance the clocks of the sites, so it is
 * refused (CAUSAL-21).
 */
import type { SiteIndex, Stamp, Vector } from '../../causal/stamps.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { VectorTokens } from './site-host.ts';

const TOKEN = /^c\d+\.(\d+(?:_\d+)*)$/;
const SEPARATOR = '_';

export interface TokenLimits {
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly getHighestStamp: (site: number) => Stamp;
}

/**
 * Creates the tokens. The part before the dot names the site, because a client keeps the newest
 * token of each site.
 */
export function createUnsignedTokens(limits: TokenLimits): VectorTokens {
  return {
    seal: (vector) => `c${limits.site}.${vector.join(SEPARATOR)}`,
    open: (token) => parseToken(token, limits),
  };
}

function parseToken(token: string, { siteCount, getHighestStamp }: TokenLimits): Vector {
  const vector = TOKEN.exec(token)?.[1]?.split(SEPARATOR).map(Number) ?? [];
  const isPossible = vector.every((stamp, site) => stamp <= getHighestStamp(site));
  if (vector.length === siteCount && isPossible) return vector;
  const message = 'session: the token was not made by this store. Open a new session.';
  throw new CorrectableError('UNAUTHENTICATED', message, { field: 'session' });
}
