/** The sites where news are read and written. A page can import this file. */

/** Puts the headlines in order: the newsroom is there. */
export const NEWSROOM = 'dublin';
export const SITES = [NEWSROOM, 'oregon', 'sydney'] as const;
export type Site = (typeof SITES)[number];

/** The site from which a visitor reads at first. */
export const FIRST_SITE: Site = 'sydney';

/** The line that can be cut. Comments then have no other route. */
export const LINE: readonly [Site, Site] = ['dublin', 'sydney'];

/** Round trips in milliseconds, about what public measurements show. */
const MEASURED_MS: Readonly<Record<string, number>> = {
  'dublin-oregon': 130,
  'dublin-sydney': 260,
  'oregon-sydney': 140,
};

/** The delays: measured ones, or longer ones, so that people can watch. */
export const DELAYS = ['slow', 'measured'] as const;
export type Delays = (typeof DELAYS)[number];

/** How many times longer the slow delays are. */
export const SLOW_FACTOR = 4;

export function getRoundTripsMs(delays: Delays): Readonly<Record<string, number>> {
  const factor = delays === 'slow' ? SLOW_FACTOR : 1;
  return Object.fromEntries(Object.entries(MEASURED_MS).map(([pair, ms]) => [pair, factor * ms]));
}

/** Returns the round trip between two sites, in milliseconds. */
export function getRoundTripMs(delays: Delays, from: Site, to: Site): number {
  return getRoundTripsMs(delays)[[from, to].toSorted().join('-')] ?? 0;
}

/**
 * What the server has at each site: headlines, comments in causal order, and comments as plain
 * copies.
 */
export const STORES = ['headlines', 'comments', 'copies'] as const;
export type StoreName = (typeof STORES)[number];

/** Returns the path of the server at which a store of a site listens. */
export function toPath(store: StoreName, site: Site): string {
  return `${store}-${site}`;
}
