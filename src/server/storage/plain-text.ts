/** Plain data as text for logs and checkpoints: JSON, with what JSON lacks written as on the wire. */
import { fromJsonValue, toJsonValue } from '../../protocol/json-values.ts';

/** Values of the application may be as deep as the wire allows; here they stand inside records and frames. */
const OUTERMOST = -16;

/** What JSON can say, in place of a value that was seen to be portable. */
export function toPlain(value: unknown): unknown {
  return typeof value === 'string' || typeof value === 'number' ? value : toJsonValue(value, OUTERMOST);
}

export function toText(value: unknown): string {
  return JSON.stringify(toJsonValue(value, OUTERMOST));
}

export function fromText(text: string): unknown {
  return fromJsonValue(JSON.parse(text), OUTERMOST);
}
