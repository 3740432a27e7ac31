/**
 * How the values of parameters and rows are written and read: as on every other way. Rows are read by the driver's own
 * decoder first, so that there is no second one that could differ.
 */
import type { CqlType } from '../cql/types.ts';
import type { CassandraDriver } from '../driver.ts';
import { Values } from '../values.ts';
import { VERSION } from './protocol.ts';

/** Stands for a value that is not to be touched. */
export const UNSET: unique symbol = Symbol('unset');

/** A value as it travels. */
export type Encoded = Uint8Array | null | typeof UNSET;

/** Turns values into bytes and back. Throws where a value, or bytes, are none of the type. */
export interface CqlValues {
  /** `name`: that of the marker, for messages. */
  encode(value: unknown, type: CqlType, name?: string): Encoded;
  decode(bytes: Buffer | null, type: CqlType): unknown;
}

/** The values of a driver, as plain ones (see `Row`). Undefined where the driver has no encoder. */
export function driverValues(driver: CassandraDriver): CqlValues | undefined {
  const { Encoder, types } = driver;
  if (Encoder === undefined) return undefined;
  const encoder = new Encoder(VERSION, { encoding: { map: Map } });
  const values = new Values(driver);
  return {
    encode(value, type, name = 'value') {
      const encoded = values.written(value, { name, type });
      return encoded === types.unset ? UNSET : (encoded as Uint8Array | null);
    },
    decode: (bytes, type) => values.plain(encoder.decode(bytes, type), type),
  };
}
