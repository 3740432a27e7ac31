/**
 * Converts values between the driver's classes and plain ones (see `Row`). Both strategies use it.
 */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import { toJson } from '../shared/to-json.ts';
import { isBytes, isDate, isMap, isPlain, isSet } from '../../values/value-kinds.ts';
import { toPlainValue, setOwnProperty } from './cql/plain-values.ts';
import { CqlTypeError } from './cql/encode-scalars.ts';
import type { CqlType } from './cql/cql-types.ts';
import { encodeValue, type DriverEncoding } from './cql/encode-values.ts';
import type { CassandraDriver } from './driver.ts';
import type { Row } from './read-strategy.ts';

/** A marker of a statement, or a column of a result. */
export interface NamedCqlType {
  readonly name: string;
  readonly type: CqlType;
}

const VERSION = 4;

export class ValueConverter {
  readonly #driverEncoding: DriverEncoding;

  constructor({ types, Encoder }: CassandraDriver) {
    this.#driverEncoding = {
      types,
      encoder: Encoder && new Encoder(VERSION, { encoding: { map: Map } }),
    };
  }

  /** Returns a row of the driver with plain values. `columns` are those of the driver. */
  toPlainRow(row: object, columns?: readonly NamedCqlType[] | null): Row {
    const plain: Record<string, unknown> = {};
    const values = row as Readonly<Record<string, unknown>>;
    const named: readonly Partial<NamedCqlType>[] =
      columns ?? Object.keys(row).map((name) => ({ name }));
    for (const { name = '', type } of named)
      setOwnProperty(plain, name, this.toPlain(values[name], type));
    return plain;
  }

  toPlain(value: unknown, type?: CqlType): unknown {
    return toPlainValue(value, type, this.#driverEncoding.types);
  }

  /**
   * Encodes a parameter. `null` and the driver's `unset` are passed on unchanged. Throws
   * `INVALID_ARGUMENT` that names the marker.
   */
  toDriverValue(value: unknown, marker: NamedCqlType): unknown {
    const bytes = this.encode(value, marker);
    if (bytes === undefined) return this.#driverEncoding.types.unset ?? null;
    return bytes === null || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  }

  /** Encodes a parameter. Returns `undefined` for unset. */
  encode(value: unknown, { name, type }: NamedCqlType): Uint8Array | null | undefined {
    if (value === undefined || value === this.#driverEncoding.types.unset) return undefined;
    try {
      return encodeValue(value, type, this.#driverEncoding);
    } catch (error) {
      if (error instanceof CqlTypeError)
        throw createInvalidArgumentError(`args.${name}`, error.message);
      throw error;
    }
  }

  /**
   * Returns the plain form of bytes. The driver's own decoder reads them first, so that values are
   * the same as from the driver.
   */
  decode(bytes: Buffer | null, type: CqlType): unknown {
    return this.toPlain(this.#driverEncoding.encoder?.decode(bytes, type), type);
  }

  /**
   * Returns a parameter of unknown type in the form of the driver, which has its own classes for
   * large integers and bytes.
   */
  toEncodable(value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null || isDate(value) || Buffer.isBuffer(value))
      return value;
    if (isBytes(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    if (Array.isArray(value)) return value.map((item) => this.toEncodable(item));
    if (isSet(value)) return Array.from(value, (item) => this.toEncodable(item));
    if (isMap(value))
      return new Map(Array.from(value, ([key, item]) => [key, this.toEncodable(item)] as const));
    if (!isPlain(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, this.toEncodable(item)]),
    );
  }
}

/** Converts values of `put` to the text of a column and back. */
export interface ValueCodec {
  encode(value: unknown): string;
  decode(text: string): unknown;
}

/**
 * Encodes values as JSON. Rejects values that JSON cannot represent. Dates and similar values
 * return in their JSON form.
 */
export const jsonCodec: ValueCodec = {
  encode: toJson,
  decode: (text) => JSON.parse(text) as unknown,
};
