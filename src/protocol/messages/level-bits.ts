/** The maximum number of levels, and how a message names a set of them. */

/**
 * Maximum number of levels of one store. A set of levels is a 32-bit number without its sign bit.
 */
export const MAX_LEVELS = 31;

export const MAX_LEVEL_INDEX: number = MAX_LEVELS - 1;

/** All possible levels as bits. Bit `i` is the level with index `i`. */
export const ALL_LEVELS: number = 2 ** MAX_LEVELS - 1;

export function getStrongestIndex(levels: number): number {
  return 31 - Math.clz32(levels);
}
