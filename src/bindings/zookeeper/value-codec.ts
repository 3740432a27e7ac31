/** Converts values to the bytes of a node and back. */
import { toJson } from '../shared/to-json.ts';

/**
 * Converts values to bytes and back. An encoded value is never empty: an empty node in a queue is a
 * placeholder, not an item.
 */
export interface ValueCodec {
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Encodes values as UTF-8 JSON. Rejects values that JSON cannot represent. Dates and similar values
 * return in their JSON form.
 */
export const jsonCodec: ValueCodec = {
  encode: (value) => encoder.encode(toJson(value)),
  decode: (bytes) => JSON.parse(decoder.decode(bytes)),
};
