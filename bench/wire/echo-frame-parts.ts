/** Encodes two parts in one frame: a part that the echo sends back, and a part that it does not. */

/** The bytes of the length of the first part. */
export const LENGTH_BYTES = 4;

/** Joins two parts to a frame. */
export function joined(first: Uint8Array, second: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + first.length + second.length);
  frame.writeUInt32LE(first.length);
  frame.set(first, LENGTH_BYTES);
  frame.set(second, LENGTH_BYTES + first.length);
  return frame;
}

/** Returns the first part of a frame, without a copy. */
export function firstOf(frame: Buffer): Buffer {
  return frame.subarray(LENGTH_BYTES, LENGTH_BYTES + frame.readUInt32LE());
}
