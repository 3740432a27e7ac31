/** The levels of the RedBlue backend, shared by its sites and their clients. */

/** The levels of a RedBlue service, weakest first. */
export const REDBLUE_LEVELS = ['tentative', 'causal', 'strong'] as const;

/** Type of `REDBLUE_LEVELS`. */
export type RedBlueLevels = typeof REDBLUE_LEVELS;

export type RedBlueLevel = RedBlueLevels[number];
