/** The stands: the positions of the clients of `first-views.ts`, and their measurements. */
import { roundTripMs, SITES, type Site } from '../../engines/wan.ts';
import { redTripsMs } from '../harness/red-trips.ts';

const LOG = { leader: SITES[0], voters: SITES };

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
 * Returns the minimum time of a transaction: two round trips to the site, of which the second is
 * the commit. The commit is a red operation of the site.
 */
export function tripsMs({ site, awayMs }: Stand): {
  readonly firstMs: number;
  readonly finalMs: number;
} {
  const agreeMs = redTripsMs<Site>(site, LOG, (from, to) => roundTripMs('paper', from, to));
  return { firstMs: 2 * awayMs, finalMs: 2 * awayMs + agreeMs };
}
