/** Plain data as text, for checkpoints: JSON, with what JSON lacks written as on the wire. */
import { fromJsonValue, toJsonValue } from '../../../protocol/codec/json-values.ts';

/** The depth of frames: values of the application may be as deep as the wire allows, and here they stand inside records. */
export const OUTERMOST = -16;

/** The text of a value that stands at this depth of another one. */
export function toText(value: unknown, depth: number = OUTERMOST): string {
  return JSON.stringify(toJsonValue(value, depth));
}

export function fromText(text: string): unknown {
  return fromJsonValue(JSON.parse(text), OUTERMOST);
}
