/**
 * The ad server's data, made from a seed, in the shape of the Correctables paper (OSDI 2016,
 * §6.3.1): 100 000 profiles that refer to 1 to 40 of 230 000 ads each.
 */
import { distinctBelow, seededAt, wholeBetween, type Random } from '../shared/random.ts';
import type { Ad } from './contract.ts';

export const PAPER_SIZES = { profiles: 100_000, ads: 230_000 } as const;
export const REFERENCES_MIN = 1;
export const REFERENCES_MAX = 40;

const BRANDS = [
  'Aster',
  'Birch & Co',
  'Calm Tea',
  'Dune Shoes',
  'Ember Stoves',
  'Fjord Knitwear',
  'Grove',
  'Harbour',
];

export interface AdData {
  readonly profiles: number;
  readonly ads: number;
  /** Returns the references of a user, by the user's number. */
  refsOf(user: number): string[];
  /** Draws new references, for a change of a profile. */
  newRefs(random: Random): string[];
  ad(index: number): Ad;
}

/** The name of a user, by number. */
export const uidOf = (user: number): string => `user-${user}`;
/** The reference of an ad, by number. */
export const adIdOf = (index: number): string => `ad-${index}`;

/**
 * Creates data of `scale` times the paper's size. Equal seeds lead to equal data, in whatever order
 * it is read.
 */
export function adData({ scale, seed }: { readonly scale: number; readonly seed: number }): AdData {
  const profiles = Math.max(1, Math.round(PAPER_SIZES.profiles * scale));
  const ads = Math.max(REFERENCES_MAX, Math.round(PAPER_SIZES.ads * scale));
  const newRefs = (random: Random): string[] =>
    distinctBelow(random, ads, wholeBetween(random, REFERENCES_MIN, REFERENCES_MAX)).map(adIdOf);
  return {
    profiles,
    ads,
    newRefs,
    refsOf: (user) => newRefs(seededAt(seed, user)),
    ad(index) {
      const random = seededAt(seed, PAPER_SIZES.profiles + index);
      const brand = BRANDS[wholeBetween(random, 0, BRANDS.length - 1)] as string;
      return {
        id: adIdOf(index),
        brand,
        priceCents: wholeBetween(random, 199, 49_900),
        creative: `creative-${index}`,
      };
    },
  };
}
