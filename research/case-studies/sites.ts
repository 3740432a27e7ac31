/**
 * The five sites of RedBlue's evaluation (OSDI 2012, §8), in the order in which experiments with
 * fewer add them.
 */

export const SITES = ['ue', 'uw', 'ie', 'br', 'sg'] as const;
export type Site = (typeof SITES)[number];

/** As people call them. */
export const PLACES: Readonly<Record<Site, string>> = {
  ue: 'US east',
  uw: 'US west',
  ie: 'Ireland',
  br: 'Brazil',
  sg: 'Singapore',
};

/** Round trips between them, in milliseconds (Table 3). */
export const ROUND_TRIPS_MS: Readonly<Record<string, number>> = {
  'ue-uw': 85,
  'ue-ie': 92,
  'ue-br': 150,
  'ue-sg': 252,
  'uw-ie': 155,
  'uw-br': 207,
  'uw-sg': 181,
  'ie-br': 235,
  'ie-sg': 350,
  'br-sg': 380,
};

/** The round trip between two of them; none within one. */
export function roundTripMs(from: Site, to: Site): number {
  return from === to
    ? 0
    : (ROUND_TRIPS_MS[`${from}-${to}`] ?? (ROUND_TRIPS_MS[`${to}-${from}`] as number));
}

/** Of so many sites, the first ones, the one that is nearest to users at a place. */
export function nearestSite(place: Site, sites: number): Site {
  return SITES.slice(0, sites).reduce((best, item) =>
    roundTripMs(place, item) < roundTripMs(place, best) ? item : best,
  );
}
