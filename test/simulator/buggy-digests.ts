/** Digests that each break one rule. */
import { PrefixDigest } from '../../src/server/log/prefix-digest.ts';

/**
 * After it grew, it knows all places for which it has room, though it has copied only some of them.
 */
export class BoastfulDigest extends PrefixDigest {
  readonly #begin: number;

  constructor(...options: ConstructorParameters<typeof PrefixDigest>) {
    super(...options);
    const [count, digest] = options;
    this.#begin = digest === undefined ? Infinity : count;
  }

  protected override get oldest(): number {
    return Math.max(this.#begin, this.oldestWithRoom);
  }
}
