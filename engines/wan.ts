/**
 * Round trips between places, in milliseconds, as the papers give them (Correctables, OSDI 2016,
 * §6).
 */

/** Where most of the paper's experiments are. */
export const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
export type Site = (typeof SITES)[number];

/** All places: its Twissandra is in Virginia, Northern California and Oregon (§6.3.1). */
export type Place = Site | 'nca' | 'ore';

/** Where three nodes or sites stand: as in most experiments, or as in the one with Twissandra. */
export const PLACEMENTS = ['paper', 'twissandra'] as const;
export type Placement = (typeof PLACEMENTS)[number];

export const WANS = ['none', 'paper'] as const;
export type WanPreset = (typeof WANS)[number];

/**
 * Those of the other American places the paper does not say: about what public measurements show.
 */
export const ROUND_TRIPS_MS: Readonly<Record<string, number>> = {
  'frankfurt-ireland': 20,
  'ireland-virginia': 83,
  'frankfurt-virginia': 90,
  'nca-virginia': 65,
  'ore-virginia': 75,
  'nca-ore': 21,
  'ireland-nca': 140,
  'ireland-ore': 130,
  'ohio-virginia': 12,
  'ireland-ohio': 88,
  'frankfurt-ohio': 96,
};

/** The round trip between two places; 0 between one and itself, and without a preset. */
export function roundTripMs(wan: WanPreset, from: Place, to: Place): number {
  if (wan === 'none') return 0;
  return ROUND_TRIPS_MS[[from, to].sort().join('-')] ?? 0;
}

/**
 * The delay of whatever arrives at a place such that the round trips between three places come out
 * right: a proxy in front of one cannot see who connects. It exists if their round trips fulfil the
 * triangle inequality.
 */
export function accessDelayMs(wan: WanPreset, place: Place, places: readonly Place[]): number {
  const [other, another] = places.filter((item) => item !== place) as [Place, Place];
  return (
    (roundTripMs(wan, place, other) +
      roundTripMs(wan, place, another) -
      roundTripMs(wan, other, another)) /
    2
  );
}
