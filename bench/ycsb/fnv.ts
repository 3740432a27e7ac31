/** The hash by which YCSB scatters numbers over its keys and names its records. */

const OFFSET_BASIS = 0xcbf29ce484222325n;
const PRIME = 1_099_511_628_211n;
const OCTETS = 8;

/**
 * Returns the FNV-1a hash of the eight octets of an integer, the lowest first, without the sign,
 * like `Utils.hash` of YCSB.
 */
export function fnvHash64(value: number): bigint {
  let remaining = BigInt(value);
  let hash = OFFSET_BASIS;
  for (let octet = 0; octet < OCTETS; octet += 1) {
    hash = BigInt.asUintN(64, (hash ^ (remaining & 0xffn)) * PRIME);
    remaining >>= 8n;
  }
  const signed = BigInt.asIntN(64, hash);
  return signed < 0n ? -signed : signed;
}
