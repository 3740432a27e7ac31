/** Two parts in one frame: in one there is what comes back, and what does not; in that, rows and what fills them up. */

/** What it takes to say where the first part ends. */
export const LENGTH_BYTES = 4;

/** A frame of two parts. */
export function joined(first: Uint8Array, second: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + first.length + second.length);
  frame.writeUInt32LE(first.length);
  frame.set(first, LENGTH_BYTES);
  frame.set(second, LENGTH_BYTES + first.length);
  return frame;
}

/** Its first part, without a copy. */
export function firstOf(frame: Buffer): Buffer {
  return frame.subarray(LENGTH_BYTES, LENGTH_BYTES + frame.readUInt32LE());
}
