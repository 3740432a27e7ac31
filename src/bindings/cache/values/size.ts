/** How much memory a value takes: an estimate that bounds a cache by bytes, not an accounting. */

const PER_OBJECT_BYTES = 32;
const PER_FIELD_BYTES = 16;

/** About how many bytes `value` holds. Shared parts count once; cycles end. */
export function approximateBytes(value: unknown): number {
  const seen = new Set<object>();
  const pending: unknown[] = [value];
  let bytes = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) bytes += primitiveBytes(next);
    else if (!seen.has(next)) {
      seen.add(next);
      bytes += PER_OBJECT_BYTES + visit(next, pending);
    }
  }
  return bytes;
}

function primitiveBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + 2 * value.length;
  if (typeof value === 'bigint') return 16 + value.toString(16).length / 2;
  return 8;
}

/** Queues the parts of `value` and gives the bytes of its own frame. */
function visit(value: object, pending: unknown[]): number {
  // A view of few bytes holds all that its buffer has.
  if (ArrayBuffer.isView(value)) return pending.push(value.buffer) && 0;
  if (value instanceof ArrayBuffer) return value.byteLength;
  if (value instanceof Blob) return value.size;
  if (Array.isArray(value) || value instanceof Set) {
    for (const part of value) pending.push(part);
    return 0;
  }
  if (value instanceof Map) {
    for (const [key, part] of value) pending.push(key, part);
    return PER_FIELD_BYTES * value.size;
  }
  let bytes = 0;
  for (const [name, part] of Object.entries(value)) {
    bytes += PER_FIELD_BYTES + name.length;
    pending.push(part);
  }
  return bytes;
}
