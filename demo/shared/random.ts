/**
 * Random numbers from a seed, so that a run can be repeated, and the skewed popularity that YCSB
 * gives to its keys.
 */

/** Returns the next number in [0, 1). */
export type Random = () => number;

/**
 * Creates a small generator (Mulberry32).
 *
 * @param seed an integer; equal seeds lead to equal sequences
 */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    return mixed(state) / 2 ** 32;
  };
}

/**
 * Creates a generator for the item at `index` of a seeded collection, so that items can be created
 * in any order, or left out.
 */
export function seededAt(seed: number, index: number): Random {
  return seeded(mixed(mixed(seed >>> 0) ^ Math.imul(index + 1, 0x9e3779b1)));
}

/** Computes the output function of Mulberry32: an unsigned 32-bit number. */
function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}

/** Returns an integer from `min` to `max`, both included. */
export function wholeBetween(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

/**
 * Returns different integers below `below`, at most as many as there are. They are the beginning of
 * a shuffle of all of them.
 */
export function distinctBelow(random: Random, below: number, count: number): number[] {
  const moved = new Map<number, number>();
  return Array.from({ length: Math.min(count, below) }, (_, place) => {
    const from = wholeBetween(random, place, below - 1);
    const generated = moved.get(from) ?? from;
    moved.set(from, moved.get(place) ?? place);
    return generated;
  });
}

/** The skew of YCSB's standard workloads. */
export const ZIPFIAN_CONSTANT = 0.99;

/** Returns the sum of the weights of all ranks, in which the first rank has the weight 1. */
export function zetaOf(items: number): number {
  let zeta = 0;
  for (let rank = 1; rank <= items; rank += 1) zeta += 1 / rank ** ZIPFIAN_CONSTANT;
  return zeta;
}

/**
 * Returns a function that draws ranks below `items`, of which smaller ones are more popular, as
 * YCSB does (after Gray and others, *Quickly generating billion-record synthetic databases*, SIGMOD
 * 1994).
 *
 * @param zetaN the result of `zetaOf(items)`, whose computation takes time in proportion to `items`
 */
export function zipfian(items: number, zetaN: number = zetaOf(items)): (random: Random) => number {
  const theta = ZIPFIAN_CONSTANT;
  const zeta2 = 1 + 0.5 ** theta;
  const alpha = 1 / (1 - theta);
  const eta = (1 - (2 / items) ** (1 - theta)) / (1 - zeta2 / zetaN);
  return (random) => {
    const u = random();
    const uz = u * zetaN;
    if (uz < 1) return 0;
    if (uz < zeta2) return Math.min(1, items - 1);
    return Math.min(items - 1, Math.floor(items * (eta * u - eta + 1) ** alpha));
  };
}

/**
 * Spreads ranks over the keys, so that popular keys are not adjacent. Several ranks may have the
 * same key, as in YCSB.
 */
export function scattered(rank: number, items: number): number {
  return mixed(Math.imul(rank + 1, 0x9e3779b1)) % items;
}
