/** The stands: the positions of the clients of `first-views.ts`, and their measurements. */
import { roundTripMs, SITES, type Site } from '../../engines/wan.ts';

const LEADER = SITES[0];

/** The position of a client: beside a site, or at some distance from it. */
export interface Stand {
  readonly site: Site;
  /** The round trip between the client and the site. */
  readonly awayMs: number;
}

export const STANDS: readonly Stand[] = [
  { site: 'frankfurt', awayMs: 0 },
  { site: 'virginia', awayMs: 0 },
  { site: 'ireland', awayMs: 0 },
  { site: 'frankfurt', awayMs: 20 },
];

/** The medians of one round at one stand, in milliseconds. */
export interface FirstView extends Stand {
  readonly firstMs: number;
  readonly finalMs: number;
  readonly transactions: number;
}

/**
 * Returns the minimum time of a transaction: two round trips to the site, of which the second is the commit. The commit
 * also waits for the leader, or at the leader for a second site.
 */
export function tripsMs({ site, awayMs }: Stand): { readonly firstMs: number; readonly finalMs: number } {
  const others = SITES.filter((item) => item !== LEADER).map((item) => roundTripMs('paper', LEADER, item));
  const agreeMs = site === LEADER ? Math.min(...others) : roundTripMs('paper', site, LEADER);
  return { firstMs: 2 * awayMs, finalMs: 2 * awayMs + agreeMs };
}
