/** Round trips between places, in milliseconds, as the papers give them (Correctables, OSDI 2016, §6). */

export const SITES = ['irl', 'frk', 'vrg'] as const;
export type Site = (typeof SITES)[number];

export const WANS = ['none', 'paper'] as const;
export type WanPreset = (typeof WANS)[number];

const PAPER_MS: Readonly<Record<string, number>> = { 'frk-irl': 20, 'irl-vrg': 83, 'frk-vrg': 90 };

/** The round trip between two sites; 0 between a site and itself, and without a preset. */
export function roundTripMs(wan: WanPreset, from: Site, to: Site): number {
  if (wan === 'none') return 0;
  return PAPER_MS[[from, to].sort().join('-')] ?? 0;
}
