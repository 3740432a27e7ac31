/**
 * The *epoch* of a start of a site: the number by which other sites distinguish its starts, in the
 * red log and in messages. It has two parts: the number of starts in the files of the site, and a
 * random part, in case such a file is lost.
 */

/** The distance of the epochs of two starts. The random part fits between them. */
const EPOCH_STEP = 2 ** 20;

/**
 * The largest valid number of a start. `createEpoch` stays below 2^52, and a start that begins
 * above a known one stays near that.
 */
export const MAX_START = 2 ** 52 + 2 ** 40;

/**
 * Returns the epoch of a start with this number. An earlier start may have had the number too, and
 * its files may be lost. No two starts of a site have one epoch, so that the leader takes all
 * proposals of a start or none.
 *
 * @param chance from 0 to below 1
 */
export function createEpoch(number: number, chance: number): number {
  return (number % 2 ** 32) * EPOCH_STEP + Math.floor(chance * EPOCH_STEP);
}

/** Returns the number that a start with this epoch had in its files. */
export function getStartNumber(epoch: number): number {
  return Math.floor(epoch / EPOCH_STEP);
}

/** Returns the next epoch above `known` with the random part of `own`. */
export function createEpochAbove(known: number, own: number): number {
  return (Math.floor(known / EPOCH_STEP) + 1) * EPOCH_STEP + (own % EPOCH_STEP);
}
