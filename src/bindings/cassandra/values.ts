/** Values between the driver's classes and plain ones (see `Row`), which can be compared and sent. */
import { jsonText } from '../../engine-client/json-text.ts';
import type { CassandraDriver } from './driver.ts';
import type { Row } from './read-path.ts';

/** Translates the values of one driver. */
export class Values {
  readonly #types: CassandraDriver['types'];

  constructor(driver: CassandraDriver) {
    this.#types = driver.types;
  }

  /** A row of the driver with plain values. */
  plainRow(row: object): Row {
    const plain: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(row)) plain[name] = this.plain(value);
    return plain;
  }

  /** The plain form of a value of the driver. */
  plain(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Date) return value;
    if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (Array.isArray(value)) return value.map((item) => this.plain(item));
    const { Long, Integer, Tuple, Vector } = this.#types;
    if (value instanceof Long) return BigInt(String(value));
    // Its own decimal text takes minutes for what a damaged answer may hold.
    if (value instanceof Integer) return bigintOf(Integer.toBuffer(value));
    if (value instanceof Tuple || (Vector !== undefined && value instanceof Vector)) {
      return Array.from(value.elements, (item) => this.plain(item));
    }
    if (value instanceof Set) return Array.from(value, (item) => this.plain(item));
    if (value instanceof Map) return this.#plainEntries(value.entries());
    if (isPlainObject(value)) return this.#plainEntries(Object.entries(value));
    // Uuid, InetAddress, LocalDate, LocalTime, Duration, BigDecimal: each is written as CQL writes it.
    return String(value);
  }

  /** A value as the driver encodes it: big integers and bytes have classes of their own there. */
  encodable(value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null || value instanceof Date || Buffer.isBuffer(value)) return value;
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (Array.isArray(value)) return value.map((item) => this.encodable(item));
    if (value instanceof Set) return Array.from(value, (item) => this.encodable(item));
    if (value instanceof Map) return this.#encodableEntries(value.entries());
    return isPlainObject(value) ? this.#encodableEntries(Object.entries(value)) : value;
  }

  #plainEntries(entries: Iterable<[unknown, unknown]>): Record<string, unknown> {
    const plain: Record<string, unknown> = {};
    for (const [key, value] of entries) plain[String(this.plain(key))] = this.plain(value);
    return plain;
  }

  #encodableEntries(entries: Iterable<[unknown, unknown]>): Record<string, unknown> {
    const encodable: Record<string, unknown> = {};
    for (const [key, value] of entries) encodable[String(key)] = this.encodable(value);
    return encodable;
  }
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** How values of `put` become the text of a column, and back. */
export interface ValueCodec {
  encode(value: unknown): string;
  decode(text: string): unknown;
}

/** JSON: what it cannot say is refused, what it says differently (a date) comes back as JSON has it. */
export const jsonCodec: ValueCodec = {
  encode: jsonText,
  decode: (text) => JSON.parse(text) as unknown,
};

/** The number that bytes are in two's complement, the most significant first. */
function bigintOf(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex')}`));
}
