/** Where the clients of first views stand, and what is measured of each. */
import { roundTripMs, SITES, type Site } from '../../engines/wan.ts';

const LEADER = SITES[0];

/** Where a client stands: beside a site, or at some distance from it. */
export interface Stand {
  readonly site: Site;
  /** The way from the client to the site and back. */
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
 * Returns what the trips alone take: two to the site, of which the second is the commit. That one also waits for the
 * leader, or at the leader for a second site.
 */
export function tripsMs({ site, awayMs }: Stand): { readonly firstMs: number; readonly finalMs: number } {
  const others = SITES.filter((item) => item !== LEADER).map((item) => roundTripMs('paper', LEADER, item));
  const agreeMs = site === LEADER ? Math.min(...others) : roundTripMs('paper', site, LEADER);
  return { firstMs: 2 * awayMs, finalMs: 2 * awayMs + agreeMs };
}
