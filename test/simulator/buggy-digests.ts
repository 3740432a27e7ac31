/** Digests that each break one rule. */
import { PrefixDigest } from '../../src/server/log/prefix-digest.ts';
import { replaceMethods } from '../support/replace-methods.ts';

/**
 * After it grew, it knows all places for which it has room, though it has copied only some of them.
 */
export const BoastfulDigest = replaceMethods(PrefixDigest, (original, count, digest) => {
  const begin = digest === undefined ? Infinity : count;
  return {
    get oldest() {
      return Math.max(begin, original.oldestWithRoom);
    },
  };
});
