/** How large values are: in memory, in a cache, and written down. */
import { isDate, isMap, isSet } from './value-kinds.ts';

/** What an object, an array or a number takes, beside what is in it. */
const CELL_BYTES = 16;
/** Texts are counted as if each character took two bytes, which is the most. */
const CHARACTER_BYTES = 2;

/**
 * Returns about how many bytes a plain value takes in memory. Skips
 * `undefined`, as logs do, so that sites agree.
 */
export function measurePlainData(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string')
    return CELL_BYTES + CHARACTER_BYTES * value.length;
  if (typeof value !== 'object' || value === null) return CELL_BYTES;
  if (ArrayBuffer.isView(value)) return CELL_BYTES + value.byteLength;
  let bytes = CELL_BYTES;
  // Loops, since this is asked for every answer that is kept.
  if (Array.isArray(value))
    for (const item of value) bytes += measurePlainData(item);
  else {
    for (const key in value) {
      const entry = (value as Record<string, unknown>)[key];
      if (entry !== undefined)
        bytes += CHARACTER_BYTES * key.length + measurePlainData(entry);
    }
  }
  return bytes;
}

/**
 * Returns about how many bytes a value that is no tree takes in memory: shared
 * parts count once, and cycles end.
 */
export function estimateBytes(
  value: unknown,
  seen: Set<object> = new Set(),
): number {
  if (typeof value === 'bigint')
    return CELL_BYTES + value.toString(16).length / 2;
  if (typeof value !== 'object' || value === null)
    return measurePlainData(value);
  if (seen.has(value)) return 0;
  seen.add(value);
  // A view of few bytes holds all that its buffer has.
  if (ArrayBuffer.isView(value)) return CELL_BYTES + value.buffer.byteLength;
  const { size, byteLength } = value as {
    readonly size?: unknown;
    readonly byteLength?: unknown;
  };
  const isCollection = isMap(value) || isSet(value);
  let bytes = 2 * CELL_BYTES;
  // Of a Blob, and of a buffer; whatever else has such a field is not
  // underrated by it.
  if (!isCollection)
    bytes += Math.max(Number(size) || 0, Number(byteLength) || 0);
  const parts = isCollection ? value.entries() : Object.entries(value);
  for (const [name, part] of parts)
    bytes += CELL_BYTES + estimateBytes(name, seen) + estimateBytes(part, seen);
  return bytes;
}

/** What any value counts, with what stands around it. */
export const VALUE_BYTES = 32;
/**
 * What one character may come to; of a text that is longer than this they are
 * counted.
 */
const ENCODED_CHARACTER_BYTES = 3;
const SHORT_LENGTH = 256;
/** A bigint is written in decimal digits: so many for each hexadecimal one. */
const BYTES_PER_DIGIT = 1.25;

export function estimateStringBytes(text: string): number {
  const { length } = text;
  return (
    VALUE_BYTES +
    (length <= SHORT_LENGTH
      ? ENCODED_CHARACTER_BYTES * length
      : Buffer.byteLength(text))
  );
}

/**
 * How many bytes a value takes at most when written, and at least `VALUE_BYTES`
 * for each value in it.
 */
export function estimateEncodedBytes(value: unknown): number {
  if (typeof value === 'string') return estimateStringBytes(value);
  if (typeof value === 'bigint')
    return 2 * VALUE_BYTES + BYTES_PER_DIGIT * value.toString(16).length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  if (ArrayBuffer.isView(value)) return VALUE_BYTES + value.byteLength;
  // Written as an object with one field.
  if (isDate(value)) return 3 * VALUE_BYTES;
  let bytes = VALUE_BYTES;
  // Loops, since this is done for every update.
  if (Array.isArray(value))
    for (const item of value) bytes += estimateEncodedBytes(item);
  else
    for (const key in value)
      bytes +=
        estimateStringBytes(key) +
        estimateEncodedBytes((value as Record<string, unknown>)[key]);
  return bytes;
}
