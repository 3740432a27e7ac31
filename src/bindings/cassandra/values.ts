/** Values between the driver's classes and plain ones (see `Row`), the same whichever way they go. */
import { invalidArgument } from '../../correctable/errors.ts';
import { jsonText } from '../../engine-client/json-text.ts';
import { isBytes, isDate, isMap, isPlain, isSet } from '../../values/kinds.ts';
import { plainValue, setOwn } from './cql/reading.ts';
import { Misfit } from './cql/scalars.ts';
import type { CqlType } from './cql/types.ts';
import { bytesOf, type Foreign } from './cql/writing.ts';
import type { CassandraDriver } from './driver.ts';
import type { Row } from './read-path.ts';

/** A marker of a statement, or a column of a result. */
export interface NamedType {
  readonly name: string;
  readonly type: CqlType;
}

/** The native protocol's version in which values are written. */
const VERSION = 4;

/** Translates the values of one driver. */
export class Values {
  readonly #foreign: Foreign;

  constructor({ types, Encoder }: CassandraDriver) {
    this.#foreign = { types, encoder: Encoder && new Encoder(VERSION, { encoding: { map: Map } }) };
  }

  /** A row of the driver with plain values; `columns` as the driver knows them. */
  plainRow(row: object, columns?: readonly NamedType[] | null): Row {
    const plain: Record<string, unknown> = {};
    const values = row as Readonly<Record<string, unknown>>;
    const named: readonly Partial<NamedType>[] = columns ?? Object.keys(row).map((name) => ({ name }));
    for (const { name = '', type } of named) setOwn(plain, name, this.plain(values[name], type));
    return plain;
  }

  /** The plain form of a value of the driver. */
  plain(value: unknown, type?: CqlType): unknown {
    return plainValue(value, type, this.#foreign.types);
  }

  /**
   * A parameter as the bytes of its marker's type; `null`, and what is not to be touched, as they are.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` that names the marker
   */
  written(value: unknown, marker: NamedType): unknown {
    const bytes = this.encode(value, marker);
    if (bytes === undefined) return this.#foreign.types.unset ?? null;
    return bytes === null || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  }

  /**
   * The same; `undefined` for what is not to be touched.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` that names the marker
   */
  encode(value: unknown, { name, type }: NamedType): Uint8Array | null | undefined {
    if (value === undefined || value === this.#foreign.types.unset) return undefined;
    try {
      return bytesOf(value, type, this.#foreign);
    } catch (error) {
      if (error instanceof Misfit) throw invalidArgument(`args.${name}`, error.message);
      throw error;
    }
  }

  /** The plain form of bytes, read by the driver's own decoder first: a second one could differ. */
  decode(bytes: Buffer | null, type: CqlType): unknown {
    return this.plain(this.#foreign.encoder?.decode(bytes, type), type);
  }

  /**
   * A parameter whose type nobody knows here, as the driver takes it: big integers and bytes have classes of their own
   * there.
   */
  encodable(value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null || isDate(value) || Buffer.isBuffer(value)) return value;
    if (isBytes(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (Array.isArray(value)) return value.map((item) => this.encodable(item));
    if (isSet(value)) return Array.from(value, (item) => this.encodable(item));
    if (isMap(value)) return new Map(Array.from(value, ([key, item]) => [key, this.encodable(item)] as const));
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.encodable(item)]));
  }
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
