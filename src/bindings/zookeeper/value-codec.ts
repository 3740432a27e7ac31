/** How values become the bytes of a node. */
import { toJson } from '../shared/to-json.ts';

/** Never gives no bytes at all: an empty node of a queue is a filler, not an item. */
export interface ValueCodec {
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** JSON as UTF-8: what JSON cannot say is refused, what it says differently (a date) comes back as JSON has it. */
export const jsonCodec: ValueCodec = {
  encode: (value) => encoder.encode(toJson(value)),
  decode: (bytes) => JSON.parse(decoder.decode(bytes)),
};
