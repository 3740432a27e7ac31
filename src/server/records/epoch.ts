/**
 * The *epoch* of a start of a site: the number by which others distinguish its
 * starts, in the red log and in messages. It has two parts: the number of
 * starts in the files of the site, and a random part, in case such a file is
 * lost.
 */

/**
 * From one number of a start to the next: between them there is room for
 * chance.
 */
const EPOCH_STEP = 2 ** 20;

/**
 * The largest that counts: `createEpoch` stays below 2^52, and a start that
 * begins above one that was heard of stays near.
 */
export const MAX_START = 2 ** 52 + 2 ** 40;

/**
 * The epoch of a start with this number. An earlier start may have had the
 * number too, and its files be lost: no two starts of a site have one epoch, so
 * that the leader takes what a start proposes from the first on, or nothing of
 * it.
 *
 * @param chance from 0 to below 1
 */
export function createEpoch(number: number, chance: number): number {
  return (number % 2 ** 32) * EPOCH_STEP + Math.floor(chance * EPOCH_STEP);
}

/** The number that a start with this epoch had in its files. */
export function getStartNumber(epoch: number): number {
  return Math.floor(epoch / EPOCH_STEP);
}

/** The next epoch above `known` with the chance of `own`. */
export function createEpochAbove(known: number, own: number): number {
  return (Math.floor(known / EPOCH_STEP) + 1) * EPOCH_STEP + (own % EPOCH_STEP);
}
