/**
 * Values as they lie in files: MessagePack in logs, JSON in checkpoints. It is
 * the codec of the wire as format 1 was made with; where a change of the wire
 * breaks `values.test.ts`, copy what the codec was to here.
 */
import {
  fromJsonValue,
  toJsonValue,
} from '../../../protocol/codec/json-values.ts';
import * as reader from '../../../protocol/codec/msgpack-reader.ts';
import * as writer from '../../../protocol/codec/msgpack-writer.ts';

export { reader, writer };

/**
 * The depth of frames: values of the application may be as deep as the wire
 * allows, and here they stand inside records.
 */
export const FRAME_DEPTH = -16;

/** The text of a value that stands at this depth of another one. */
export function encodeValue(
  value: unknown,
  depth: number = FRAME_DEPTH,
): string {
  return JSON.stringify(toJsonValue(value, depth));
}

export function decodeValue(text: string): unknown {
  return fromJsonValue(JSON.parse(text), FRAME_DEPTH);
}
