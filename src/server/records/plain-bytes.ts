/** About how many bytes a plain value takes in memory: the same wherever it is counted. */

/** What an object, an array or a number takes, beside what is in it. */
const CELL_BYTES = 16;
/** Texts are counted as if each character took two bytes, which is the most. */
const CHARACTER_BYTES = 2;

/** What is `undefined` counts nothing: logs and checkpoints leave it out, and sites that read them must count alike. */
export function plainBytes(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return CELL_BYTES + CHARACTER_BYTES * value.length;
  if (typeof value !== 'object' || value === null) return CELL_BYTES;
  if (ArrayBuffer.isView(value)) return CELL_BYTES + value.byteLength;
  let bytes = CELL_BYTES;
  // Loops, since this is asked for every answer that is kept.
  if (Array.isArray(value)) for (const each of value) bytes += plainBytes(each);
  else {
    for (const key in value) {
      const each = (value as Record<string, unknown>)[key];
      if (each !== undefined) bytes += CHARACTER_BYTES * key.length + plainBytes(each);
    }
  }
  return bytes;
}
