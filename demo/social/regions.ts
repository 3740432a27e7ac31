/**
 * The two regions of the social network, and where their sites are. A page can import this file.
 */
import { ROUND_TRIPS_MS } from '../../engines/wan.ts';

export const REGIONS = ['eu', 'us'] as const;
/** The name of a region is that of its partition, and the beginning of the keys of its users. */
export type Region = (typeof REGIONS)[number];

export const REGION_NAMES: Readonly<Record<Region, string>> = { eu: 'Europe', us: 'America' };

/** The sites of each region. The first one leads the red log of the region. */
export const REGION_SITES = { eu: ['ireland', 'frankfurt'], us: ['virginia', 'ohio'] } as const;
export type Site = (typeof REGION_SITES)[Region][number];

export const SITES = [...REGION_SITES.eu, ...REGION_SITES.us] as const;

/** The site that orders everything if there is one log. */
export const MAIN_LEADER = 'ireland';

/**
 * Most voters of a log are in its region. The third one is in the other region, where it survives a
 * lost region.
 */
export const PARTITIONS = {
  eu: { leader: 'ireland', voters: ['ireland', 'frankfurt', 'virginia'] },
  us: { leader: 'virginia', voters: ['virginia', 'ohio', 'ireland'] },
} as const satisfies Record<Region, { readonly leader: Site; readonly voters: readonly Site[] }>;

export function getOtherRegion(region: Region): Region {
  return region === 'eu' ? 'us' : 'eu';
}

/** Returns the region of a user, such as `eu/ada`. */
export function regionOf(user: string): Region {
  return user.startsWith('us/') ? 'us' : 'eu';
}

/** Returns the round trip between two sites in milliseconds. */
export function getRoundTripMs(from: Site, to: Site): number {
  return from === to ? 0 : (ROUND_TRIPS_MS[[from, to].toSorted().join('-')] ?? 0);
}
