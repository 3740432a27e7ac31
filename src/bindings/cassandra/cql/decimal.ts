/**
 * Converts decimals to text and back, with all digits and the scale. `1E+3` is not `1000`, so the
 * bytes stay the same.
 */
import { decodeBigint, encodeBigint } from './integers.ts';

const SCALE_BYTES = 4;
const MAX_SCALE = 2 ** 31 - 1;
const MIN_SCALE = -(2 ** 31);
/** The maximum number of leading zeros in a text. Smaller numbers are written with an exponent. */
const MAX_LEADING_ZEROS = 6;
const DECIMAL_PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,10}))?$/;

/**
 * Returns the text of an encoded decimal: a scale of four bytes, then the digits as one integer.
 */
export function formatDecimal(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scale = buffer.readInt32BE(0);
  const unscaled = decodeBigint(buffer.subarray(SCALE_BYTES));
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled);
  const exponent = digits.length - 1 - scale;
  if (scale === 0) return sign + digits;
  if (scale > 0 && exponent >= -MAX_LEADING_ZEROS) {
    const padded = digits.padStart(scale + 1, '0');
    return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  }
  const fraction = digits.length === 1 ? '' : `.${digits.slice(1)}`;
  return `${sign}${digits[0]}${fraction}E${exponent < 0 ? '' : '+'}${exponent}`;
}

/** Encodes the text of a decimal. Returns `undefined` if it is none. */
export function encodeDecimal(text: string): Buffer | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL_PATTERN.exec(text) ?? [];
  const digits = whole + fraction;
  const scale = fraction.length - Number(exponent);
  if (digits === '' || scale < MIN_SCALE || scale > MAX_SCALE) return undefined;
  const bytes = Buffer.alloc(SCALE_BYTES);
  bytes.writeInt32BE(scale);
  const unscaled = BigInt(digits);
  return Buffer.concat([bytes, encodeBigint(sign === '-' ? -unscaled : unscaled)]);
}
