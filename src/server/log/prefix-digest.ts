/**
 * A running digest of a log's prefix: logs of which entries are in another order, or other ones, differ in it from there
 * on, but for one case in four thousand million. It is of who proposed what, not of what that says.
 */
import type { LogEntry } from './red-log.ts';

/** As many places back, at most, it is known. */
const MAX_DIGESTS = 1024;
const [PRIME, STEP] = [0x01000193, 0x9e3779b9];

/** Digests of the last places of one log. */
export class PrefixDigest {
  readonly #known = new Int32Array(MAX_DIGESTS);
  /** How many entries it is of, and from where on it is known. */
  #count: number;
  readonly #from: number;

  /** @param digest of the first `count` entries */
  constructor(count: number, digest: number) {
    this.#count = count;
    this.#from = count;
    this.#known[count % MAX_DIGESTS] = digest;
  }

  add({ origin, epoch, sequence }: Pick<LogEntry<unknown>, 'origin' | 'epoch' | 'sequence'>): void {
    let digest = this.#known[this.#count % MAX_DIGESTS] as number;
    digest = mixDigest(digest, origin);
    digest = mixDigest(digest, epoch);
    digest = mixDigest(digest, Math.floor(epoch / 2 ** 32));
    digest = mixDigest(digest, sequence);
    this.#count += 1;
    this.#known[this.#count % MAX_DIGESTS] = digest;
  }

  /** Of the first `count` entries; `undefined` where that is not known, or not any more. */
  at(count: number): number | undefined {
    const oldest = Math.max(this.#from, this.#count - MAX_DIGESTS + 1);
    return count >= oldest && count <= this.#count ? this.#known[count % MAX_DIGESTS] : undefined;
  }
}

function mixDigest(digest: number, part: number): number {
  const sum = Math.imul(digest ^ part, PRIME) + STEP;
  return (sum ^ (sum >>> 15)) | 0;
}
