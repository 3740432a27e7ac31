/**
 * How the values of parameters and rows are written and read: by the driver's own encoder. So a row is the same whichever
 * way it came, and there is no second implementation of CQL's types that could differ.
 */
import type { CassandraDriver } from '../driver.ts';
import { Values } from '../values.ts';
import type { ColumnType } from './columns.ts';
import { VERSION } from './protocol.ts';

/** Stands for a value that is not to be touched. */
export const UNSET: unique symbol = Symbol('unset');

/** A value as it travels. */
export type Encoded = Uint8Array | null | typeof UNSET;

/** Turns values into bytes and back. Throws where a value, or bytes, are none of the type. */
export interface CqlValues {
  encode(value: unknown, type: ColumnType): Encoded;
  decode(bytes: Buffer | null, type: ColumnType): unknown;
}

/** The values of a driver, as plain ones (see `Row`). Undefined where the driver has no encoder. */
export function driverValues(driver: CassandraDriver): CqlValues | undefined {
  const { Encoder, types } = driver;
  if (Encoder === undefined) return undefined;
  const encoder = new Encoder(VERSION, {});
  const values = new Values(driver);
  return {
    encode(value, type) {
      const encoded = encoder.encode(values.encodable(value), type);
      return encoded === types.unset ? UNSET : (encoded as Uint8Array | null);
    },
    decode: (bytes, type) => values.plain(encoder.decode(bytes, type)),
  };
}
