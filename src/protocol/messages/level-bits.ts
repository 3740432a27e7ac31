/** How many levels there can be, and how a row names some of them. */

/**
 * Levels of one store at most: a set of them is as many bits of a 32-bit
 * number, without its sign.
 */
export const MAX_LEVELS = 31;

export const MAX_LEVEL_INDEX: number = MAX_LEVELS - 1;

/**
 * All levels that there can be, as bits: bit `i` stands for the level with
 * index `i`.
 */
export const ALL_LEVELS: number = 2 ** MAX_LEVELS - 1;

export function getStrongestIndex(levels: number): number {
  return 31 - Math.clz32(levels);
}
