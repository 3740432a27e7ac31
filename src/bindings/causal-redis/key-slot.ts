/** The slot of a key in a Redis Cluster. */

export const SLOT_COUNT = 16_384;

const POLYNOMIAL = 0x1021;

/** CRC-16/XMODEM of each byte. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1)
    crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
  return crc & 0xffff;
});

/** Returns the slot of a key. Only the part in its first braces counts, if there is any. */
export function getKeySlot(key: string): number {
  const begin = key.indexOf('{');
  const end = begin === -1 ? -1 : key.indexOf('}', begin + 1);
  const tag = end > begin + 1 ? key.slice(begin + 1, end) : key;
  let crc = 0;
  for (const byte of Buffer.from(tag))
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] as number);
  return crc % SLOT_COUNT;
}
