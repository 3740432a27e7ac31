/** Encodes integers in two's complement, the most significant byte first. */

const INTEGER = /^-?\d+$/;

/**
 * Returns the integer of a number, a bigint or a string of digits. Returns `undefined` if the value
 * is no integer, or not exact.
 */
export function toBigint(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && INTEGER.test(value) ? BigInt(value) : undefined;
}

export function decodeBigint(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

/** Returns the fewest bytes that hold the number and its sign. */
export function encodeBigint(value: bigint): Buffer {
  const magnitude = value < 0n ? ~value : value;
  const count = magnitude === 0n ? 1 : Math.floor(magnitude.toString(16).length / 2) + 1;
  const digits = BigInt.asUintN(8 * count, value)
    .toString(16)
    .padStart(2 * count, '0');
  const bytes = Buffer.from(digits, 'hex');
  // The first byte may contain only the sign, which the second byte contains too.
  const isSpare =
    count > 1 && bytes[0] === (value < 0n ? 0xff : 0) && bytes[1]! >= 0x80 === value < 0n;
  return isSpare ? bytes.subarray(1) : bytes;
}

/** Returns the number in `length` bytes, or `undefined` if it does not fit. */
export function encodeFixedInteger(value: bigint, count: number): Buffer | undefined {
  if (BigInt.asIntN(8 * count, value) !== value) return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes.subarray(8 - count);
}

/**
 * Encodes a number of variable length for Cassandra. The first byte begins with a 1 for each byte
 * that follows.
 */
export function encodeUnsignedVint(value: bigint): Buffer {
  let more = 0;
  while (more < 8 && value >> BigInt(7 * (more + 1)) > 0n) more += 1;
  const bytes = Buffer.from(value.toString(16).padStart(2 * (more + 1), '0'), 'hex');
  bytes[0]! |= 0xff & ~(0xff >> more);
  return bytes;
}

/** Encodes a signed number of variable length. The last bit is the sign. */
export function encodeSignedVint(value: bigint): Buffer {
  return encodeUnsignedVint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
}
