/**
 * How many bytes a value takes at most once it is written down or sent, and no fewer than `VALUE_BYTES` for each value in
 * it: what is read again takes so much in memory, however little it takes on its way.
 */

/** What any value counts, with what stands around it. */
export const VALUE_BYTES = 32;
/** What one character may come to; of a text that is longer than this they are counted. */
const CHARACTER_BYTES = 3;
const SHORT_LENGTH = 256;
/** A bigint is written in decimal digits: so many for each hexadecimal one. */
const DIGITS = 1.25;

/** What a text counts. */
export function textBytes(text: string): number {
  const { length } = text;
  return VALUE_BYTES + (length <= SHORT_LENGTH ? CHARACTER_BYTES * length : Buffer.byteLength(text));
}

/** What a value counts: of such as can be written down. */
export function writtenBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value === 'bigint') return 2 * VALUE_BYTES + DIGITS * value.toString(16).length;
  if (typeof value !== 'object' || value === null) return VALUE_BYTES;
  if (ArrayBuffer.isView(value)) return VALUE_BYTES + value.byteLength;
  // Written as an object with one field.
  if (value instanceof Date) return 3 * VALUE_BYTES;
  let bytes = VALUE_BYTES;
  // Loops, since this is done for every update.
  if (Array.isArray(value)) for (const each of value) bytes += writtenBytes(each);
  else for (const key in value) bytes += textBytes(key) + writtenBytes((value as Record<string, unknown>)[key]);
  return bytes;
}
