/** The part of `node:zlib` that the storage of sites uses, for a browser. */

const POLYNOMIAL = 0xedb88320;
const BITS = 8;
const BYTES = 256;

const TABLE = Uint32Array.from({ length: BYTES }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < BITS; bit += 1)
    value = (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** Returns the CRC-32 of bytes or text, which continues that of the bytes before. */
export function crc32(data: Uint8Array | string, before = 0): number {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  let value = ~before;
  for (const byte of bytes)
    value = (TABLE[(value ^ byte) & (BYTES - 1)] as number) ^ (value >>> BITS);
  return ~value >>> 0;
}
