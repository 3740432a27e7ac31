/**
 * Encodes values in files: MessagePack in logs, JSON in checkpoints. Format 1 was created with the
 * codec of the wire. If a change of the wire breaks `value-text.test.ts`, copy the earlier codec to
 * this place.
 */
import { fromJsonValue, toJsonValue } from '../../../../protocol/codec/json-values.ts';
import * as reader from '../../../../protocol/codec/msgpack-reader.ts';
import * as writer from '../../../../protocol/codec/msgpack-writer.ts';

export { reader, writer };

/**
 * The depth of frames. Values may be as deep as the wire allows, and in files they are inside
 * records.
 */
export const FRAME_DEPTH = -16;

/** Encodes a value that is at this depth of another one. */
export function encodeValue(value: unknown, depth: number = FRAME_DEPTH): string {
  return JSON.stringify(toJsonValue(value, depth));
}

export function decodeValue(text: string): unknown {
  return fromJsonValue(JSON.parse(text), FRAME_DEPTH);
}
