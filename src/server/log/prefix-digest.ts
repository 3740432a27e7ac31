/**
 * A running digest of the prefix of a log or stream: those of which entries are
 * in another order, or other ones, differ in it from there on, but for one case
 * in four thousand million. It is of who proposed what, not of what that says.
 */
import type { BlueOperation } from '../records/records.ts';
import type { LogEntry } from './red-log.ts';

/** As many places back, at least, it is known. */
const MIN_DIGESTS = 1024;
const [PRIME, STEP] = [0x01000193, 0x9e3779b9];
/**
 * Characters of a name that count: those at its end, where the names of two
 * operations differ.
 */
const NAME_LENGTH = 24;

type Proposed = Pick<LogEntry<unknown>, 'origin' | 'epoch' | 'sequence'>;

export class PrefixDigest {
  #known = new Int32Array(MIN_DIGESTS);
  /** How many entries it is of, and from where on it is known. */
  #count: number;
  readonly #from: number;

  /**
   * @param digest of the first `count` entries; not known unless given, and
   * then never of what follows them
   */
  constructor(count: number, digest: number | undefined) {
    this.#count = count;
    this.#from = digest === undefined ? Infinity : count;
    this.#known[this.#placeOf(count)] = digest ?? 0;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds an entry of the red log. Places from `neededFrom` on stay known. */
  add(entry: Proposed, neededFrom: number = this.#count): void {
    this.#push(mixEntry(this.#last, entry), neededFrom);
  }

  /**
   * Adds the next operation of a stream. Places from `neededFrom` on stay
   * known.
   */
  addOperation(operation: BlueOperation, neededFrom: number): void {
    this.#push(mixOperation(this.#last, operation), neededFrom);
  }

  /**
   * Of the first `count` entries; `undefined` where that is not known, or not
   * any more.
   */
  at(count: number): number | undefined {
    const oldest = Math.max(this.#from, this.#count - this.#known.length + 1);
    return count >= oldest && count <= this.#count
      ? this.#known[this.#placeOf(count)]
      : undefined;
  }

  get #last(): number {
    return this.#known[this.#placeOf(this.#count)] as number;
  }

  /** The length is a power of two. */
  #placeOf(count: number): number {
    return count % this.#known.length;
  }

  #push(digest: number, neededFrom: number): void {
    if (this.#count + 1 - neededFrom >= this.#known.length) this.#grow();
    this.#count += 1;
    this.#known[this.#placeOf(this.#count)] = digest;
  }

  /** What is needed waits in memory, and takes far more there. */
  #grow(): void {
    const before = this.#known;
    this.#known = new Int32Array(2 * before.length);
    for (
      let count = Math.max(0, this.#count - before.length + 1);
      count <= this.#count;
      count += 1
    )
      this.#known[this.#placeOf(count)] = before[
        count % before.length
      ] as number;
  }
}

/** The digest of the red log with one more entry. */
export function mixEntry(
  digest: number,
  { origin, epoch, sequence }: Proposed,
): number {
  let mixed = mixDigest(digest, origin);
  mixed = mixDigest(mixed, epoch);
  mixed = mixDigest(mixed, Math.floor(epoch / 2 ** 32));
  return mixDigest(mixed, sequence);
}

/** The digest of a stream with one more operation. */
export function mixOperation(
  digest: number,
  { id, site, sequence, vector }: BlueOperation,
): number {
  const stamp = vector[site] ?? 0;
  let mixed = mixDigest(digest, sequence);
  mixed = mixDigest(mixed, stamp);
  mixed = mixDigest(mixed, Math.floor(stamp / 2 ** 32));
  for (
    let place = Math.max(0, id.length - NAME_LENGTH);
    place < id.length;
    place += 1
  )
    mixed = Math.imul(mixed ^ id.charCodeAt(place), PRIME);
  return mixDigest(mixed, id.length);
}

function mixDigest(digest: number, part: number): number {
  const sum = Math.imul(digest ^ part, PRIME) + STEP;
  return (sum ^ (sum >>> 15)) | 0;
}
