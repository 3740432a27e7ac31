/** Estimates the size of values in memory, in a cache, and encoded. */
import { isDate, isMap, isSet } from './value-kinds.ts';

/** The size of an object, an array or a number without its parts. */
const CELL_BYTES = 16;
/** Each character counts two bytes, which is the maximum. */
const CHARACTER_BYTES = 2;

/**
 * Returns about how many bytes a plain value takes in memory. Skips `undefined`, as logs do, so
 * that sites agree.
 */
export function measurePlainData(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return CELL_BYTES + CHARACTER_BYTES * value.length;
  if (typeof value !== 'object' || value === null) return CELL_BYTES;
  if (ArrayBuffer.isView(value)) return CELL_BYTES + value.byteLength;
  let bytes = CELL_BYTES;
  // These are loops, because the size of every retained reply is measured.
  if (Array.isArray(value)) for (const item of value) bytes += measurePlainData(item);
  else {
    for (const key in value) {
      const entry = (value as Record<string, unknown>)[key];
      if (entry !== undefined) bytes += CHARACTER_BYTES * key.length + measurePlainData(entry);
    }
  }
  return bytes;
}

/**
 * Returns about how many bytes a value takes in memory that is no tree. Shared parts count once,
 * and cycles end.
 */
export function estimateBytes(value: unknown, seen: Set<object> = new Set()): number {
  if (typeof value === 'bigint') return CELL_BYTES + value.toString(16).length / 2;
  if (typeof value !== 'object' || value === null) return measurePlainData(value);
  if (seen.has(value)) return 0;
  seen.add(value);
  // A small view keeps its whole buffer in memory.
  if (ArrayBuffer.isView(value)) return CELL_BYTES + value.buffer.byteLength;
  const { size, byteLength } = value as {
    readonly size?: unknown;
    readonly byteLength?: unknown;
  };
  const isCollection = isMap(value) || isSet(value);
  let bytes = 2 * CELL_BYTES;
  // Blobs and buffers have one of these fields. For other objects with such a field, the estimate
  // is at least that.
  if (!isCollection) bytes += Math.max(Number(size) || 0, Number(byteLength) || 0);
  const parts = isCollection ? value.entries() : Object.entries(value);
  for (const [name, part] of parts)
    bytes += CELL_BYTES + estimateBytes(name, seen) + estimateBytes(part, seen);
  return bytes;
}

/** The size of any value, with the bytes around it. */
export const VALUE_BYTES = 32;
/**
 * The maximum size of one character. In a text that is longer than this value, the bytes are
 * counted.
 */
const ENCODED_CHARACTER_BYTES = 3;
const SHORT_LENGTH = 256;
/** A bigint is encoded in decimal digits. This is their number for each hexadecimal digit. */
const BYTES_PER_DIGIT = 1.25;

export function estimateStringBytes(text: string): number {
  const { length } = text;
  return (
    VALUE_BYTES +
    (length <= SHORT_LENGTH ? ENCODED_CHARACTER_BYTES * length : Buffer.byteLength(text))
  );
}

/**
 * Returns the maximum number of bytes of an encoded value. Each value in it counts at least
 * `VALUE_BYTES`.
 */
export function estimateEncodedBytes(value: unknown): number {
  if (typeof value === 'string') return estimateStringBytes(value);
  if (typeof value === 'bigint')
    return 2 * VALUE_BYTES + BYTES_PER_DIGIT * value.toString(16).length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  if (ArrayBuffer.isView(value)) return VALUE_BYTES + value.byteLength;
  // A date is encoded as an object with one field.
  if (isDate(value)) return 3 * VALUE_BYTES;
  let bytes = VALUE_BYTES;
  // These are loops, because every update is measured.
  if (Array.isArray(value)) for (const item of value) bytes += estimateEncodedBytes(item);
  else
    for (const key in value)
      bytes +=
        estimateStringBytes(key) + estimateEncodedBytes((value as Record<string, unknown>)[key]);
  return bytes;
}
