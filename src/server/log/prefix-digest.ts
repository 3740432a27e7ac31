/**
 * A running digest of the prefix of a log or stream. If entries are in another order, or differ,
 * the digest differs from there on, except in one of four thousand million cases. It covers who
 * proposed which entry, and not its content.
 */
import type { BlueOperation, EntryName } from '../service/records/records.ts';

/** The digest is known for at least this many places back. */
const MIN_DIGESTS = 1024;
const [PRIME, STEP] = [0x01000193, 0x9e3779b9];
/**
 * The number of characters of a name that count: those at its end, where the names of two
 * operations differ.
 */
const NAME_LENGTH = 24;

export interface PrefixDigestOptions {
  /**
   * The number of places that are known, unless more are needed. It is a power of two. Default:
   * 1024
   */
  readonly places?: number;
  /** Called when room was made for more places. */
  onGrown?(): void;
}

/**
 * Creates the digest of a log or stream.
 *
 * @param digest the digest of the first `count` entries. If it is unknown, no later one is known
 * either
 */
export type DigestFactory = (count: number, digest: number | undefined) => PrefixDigest;

export const createPrefixDigest: DigestFactory = (count, digest) => new PrefixDigest(count, digest);

export class PrefixDigest {
  readonly #options: PrefixDigestOptions;
  #known: Int32Array;
  /** The number of entries that it covers, and the first place at which it is known. */
  #count: number;
  #from: number;

  /**
   * @param digest the digest of the first `count` entries. If it is unknown, no later one is known
   * either
   */
  constructor(count: number, digest: number | undefined, options: PrefixDigestOptions = {}) {
    this.#options = options;
    this.#known = new Int32Array(options.places ?? MIN_DIGESTS);
    this.#count = count;
    this.#from = digest === undefined ? Infinity : count;
    this.#known[this.#placeOf(count)] = digest ?? 0;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds an entry of the red log. Places from `neededFrom` on stay known. */
  add(entry: EntryName, neededFrom: number = this.#count): void {
    this.#push(mixEntry(this.#last, entry), neededFrom);
  }

  /** Adds the next operation of a stream. Places from `neededFrom` on stay known. */
  addOperation(operation: BlueOperation, neededFrom: number): void {
    this.#push(mixOperation(this.#last, operation), neededFrom);
  }

  /**
   * Returns the digest of the first `count` entries. It is `undefined` if it is unknown, or not
   * kept any more.
   */
  at(count: number): number | undefined {
    return count >= this.oldest && count <= this.#count
      ? this.#known[this.#placeOf(count)]
      : undefined;
  }

  /** The first place that is known. */
  get oldest(): number {
    return Math.max(this.#from, this.oldestWithRoom);
  }

  /** The first place for which there is room. */
  get oldestWithRoom(): number {
    return this.#count - this.#known.length + 1;
  }

  get #last(): number {
    return this.#known[this.#placeOf(this.#count)] as number;
  }

  /** The length is a power of two. */
  #placeOf(count: number): number {
    return count % this.#known.length;
  }

  #push(digest: number, neededFrom: number): void {
    const from = Math.max(this.#from, neededFrom);
    if (this.#count + 1 - from >= this.#known.length) this.#grow();
    this.#count += 1;
    this.#known[this.#placeOf(this.#count)] = digest;
  }

  /**
   * The entries that need the digest wait in memory, and take far more there. A larger ring has
   * room for places that the smaller one had overwritten, so the first known place rises to the
   * first one that is copied.
   */
  #grow(): void {
    const before = this.#known;
    this.#from = this.oldest;
    this.#known = new Int32Array(2 * before.length);
    for (let count = this.#from; count <= this.#count; count += 1)
      this.#known[this.#placeOf(count)] = before[count % before.length] as number;
    this.#options.onGrown?.();
  }
}

/** Returns the digest of the red log with one more entry. */
export function mixEntry(digest: number, { origin, epoch, sequence }: EntryName): number {
  let mixed = mixDigest(digest, origin);
  mixed = mixDigest(mixed, epoch);
  mixed = mixDigest(mixed, Math.floor(epoch / 2 ** 32));
  return mixDigest(mixed, sequence);
}

/** Returns the digest of a stream with one more operation. */
export function mixOperation(
  digest: number,
  { id, site, sequence, vector }: BlueOperation,
): number {
  const stamp = vector[site] ?? 0;
  let mixed = mixDigest(digest, sequence);
  mixed = mixDigest(mixed, stamp);
  mixed = mixDigest(mixed, Math.floor(stamp / 2 ** 32));
  for (let place = Math.max(0, id.length - NAME_LENGTH); place < id.length; place += 1)
    mixed = Math.imul(mixed ^ id.charCodeAt(place), PRIME);
  return mixDigest(mixed, id.length);
}

function mixDigest(digest: number, part: number): number {
  const sum = Math.imul(digest ^ part, PRIME) + STEP;
  return (sum ^ (sum >>> 15)) | 0;
}
