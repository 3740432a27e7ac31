/**
 * Digests of rows, by which sites find out that they have diverged. They are of what converges
 * (`Store.snapshotRow`), never of how a site keeps a row: two sites may have applied the same
 * operations in different orders, and only one of them may remember a removal.
 *
 * Digests go between sites. If one of a row changes, so must `FIRST_VERSION_WITH_ROWS` of the
 * envelopes, or sites of two versions raise alarms about each other.
 */
import { isBytes, isDate } from '../../../values/value-kinds.ts';
import type { KeyRange } from '../records/records.ts';
import type { Store } from './store.ts';

/** The digest of a row that was not looked at, since it is too large for one turn. */
export const NOT_DIGESTED = 0;

/** The maximum of rows of which a site computes the digests in one turn. That takes some ms. */
export const MAX_COMPARED_ROWS = 1000;
/** About how many bytes these rows may have. A row with more is not compared. */
const MAX_COMPARED_BYTES = 1 << 20;
/** Rows with longer keys are not compared, since messages name keys. */
const MAX_KEY_LENGTH = 4096;

/** Digests and their sums have 52 bits, so that a sum of two is exact. */
const SUM_RANGE = 2 ** 52;
const HIGH_BITS = 20;

export class RowDigests {
  readonly #store: Store;
  readonly #maxRows: number;

  constructor(store: Store, maxRows: number = MAX_COMPARED_ROWS) {
    this.#store = store;
    this.#maxRows = maxRows;
  }

  /**
   * Returns the first key that one turn cannot reach from the beginning of the range on. If it can
   * reach the end, that is returned, and `undefined` for the end of the table.
   */
  findEnd(range: KeyRange): string | undefined {
    let [rows, bytes] = [0, 0];
    for (const { key } of this.#store.scan(range, false)) {
      if (key.length > MAX_KEY_LENGTH) continue;
      if (rows === this.#maxRows || bytes >= MAX_COMPARED_BYTES) return key;
      rows += 1;
      bytes += this.#store.measureRow(range.table, key);
    }
    return range.before;
  }

  /** Returns the digests of all rows of a range, by key. */
  collect(range: KeyRange): ReadonlyMap<string, number> {
    const digests = new Map<string, number>();
    for (const { key } of this.#store.scan(range, false))
      if (key.length <= MAX_KEY_LENGTH) digests.set(key, this.digest(range.table, key));
    return digests;
  }

  digest(table: string, key: string): number {
    if (this.#store.measureRow(table, key) > MAX_COMPARED_BYTES) return NOT_DIGESTED;
    const hash = new ValueHash();
    hash.add(key);
    hash.add(this.#store.snapshotRow(table, key));
    return hash.value;
  }
}

/** Returns the sum of digests, which is the same in any order. */
export function sumDigests(digests: Iterable<number>): number {
  let sum = 0;
  for (const digest of digests) {
    sum += digest;
    if (sum >= SUM_RANGE) sum -= SUM_RANGE;
  }
  return sum;
}

/** What stands before a value of each kind. */
const KIND = {
  none: 1,
  flag: 2,
  number: 3,
  bigint: 4,
  text: 5,
  bytes: 6,
  date: 7,
  list: 8,
  map: 9,
};

const FLOAT = new Float64Array(1);
const FLOAT_WORDS = new Uint32Array(FLOAT.buffer);

/** Two hashes of plain data, with 32 bits each. */
class ValueHash {
  #low = 0x2545f491;
  #high = 0x4f6cdd1d;

  add(value: unknown): void {
    if (typeof value === 'string') this.#addText(KIND.text, value);
    else if (typeof value === 'number') this.#addNumber(KIND.number, value);
    else if (typeof value === 'bigint') this.#addText(KIND.bigint, value.toString());
    else if (typeof value === 'object' && value !== null) this.#addObject(value);
    else if (typeof value === 'boolean') {
      this.#mix(KIND.flag);
      this.#mix(Number(value));
    }
    // The wire makes no difference between undefined and null in a list.
    else this.#mix(KIND.none);
  }

  get value(): number {
    const low = finish(this.#low ^ Math.imul(this.#high, 0x9e3779b1));
    const high = finish(this.#high ^ low);
    const value = (high >>> (32 - HIGH_BITS)) * 2 ** 32 + (low >>> 0);
    return value === NOT_DIGESTED ? 1 : value;
  }

  #addObject(value: object): void {
    if (isBytes(value)) {
      this.#mix(KIND.bytes);
      this.#mix(value.length);
      for (const byte of value) this.#mix(byte);
    } else if (isDate(value)) this.#addNumber(KIND.date, value.getTime());
    else if (Array.isArray(value)) {
      this.#mix(KIND.list);
      this.#mix(value.length);
      for (const item of value as readonly unknown[]) this.add(item);
    } else this.#addMap(value as Readonly<Record<string, unknown>>);
  }

  #addMap(map: Readonly<Record<string, unknown>>): void {
    const names = Object.keys(map).filter((name) => map[name] !== undefined);
    this.#mix(KIND.map);
    this.#mix(names.length);
    for (const name of names.toSorted()) {
      this.#addText(KIND.text, name);
      this.add(map[name]);
    }
  }

  #addText(kind: number, text: string): void {
    this.#mix(kind);
    this.#mix(text.length);
    for (let place = 0; place < text.length; place += 1) this.#mix(text.charCodeAt(place));
  }

  #addNumber(kind: number, value: number): void {
    this.#mix(kind);
    if ((value | 0) === value) return this.#mix(value);
    FLOAT[0] = value;
    this.#mix(FLOAT_WORDS[0] as number);
    this.#mix(FLOAT_WORDS[1] as number);
  }

  #mix(word: number): void {
    const low = Math.imul(this.#low ^ word, 0x85ebca6b);
    this.#low = low ^ (low >>> 15);
    const high = Math.imul(this.#high ^ word, 0xc2b2ae35);
    this.#high = high ^ (high >>> 13);
  }
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return mixed ^ (mixed >>> 15);
}
