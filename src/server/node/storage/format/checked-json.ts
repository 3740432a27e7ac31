/**
 * The small files of a data directory: one JSON object each, with a checksum of all else in it. One
 * flipped bit in a number or a name would be another one, and still be JSON.
 */
import { crc32 } from 'node:zlib';
import { isRecord } from '../../../../correctable/validate.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const [HEX, CHECKSUM_DIGITS] = [16, 8];

export function formatCheckedJson(value: object): Uint8Array {
  const checked = { ...value, checksum: sumUp(value) };
  return Buffer.from(`${JSON.stringify(checked, null, 2)}\n`);
}

/**
 * Returns the object without its checksum. A file that an earlier version wrote has none, and is
 * taken as it is. So is one of another format, of which nothing else is read.
 *
 * @throws Error that says what is wrong
 */
export function parseCheckedJson(
  bytes: Uint8Array,
  isOtherFormat: (value: JsonObject) => boolean = () => false,
): JsonObject {
  if (bytes.length === 0) throw new Error('it is empty');
  let found: unknown;
  try {
    found = JSON.parse(Buffer.from(bytes).toString());
  } catch (error) {
    throw new Error((error as Error).message, { cause: error });
  }
  if (!isRecord(found)) throw new Error('it is not a JSON object');
  const { checksum, ...value } = found;
  const isDamaged = checksum !== undefined && checksum !== sumUp(value);
  if (isDamaged && !isOtherFormat(value))
    throw new Error('its content does not match its checksum');
  return value;
}

function sumUp(value: object): string {
  return crc32(JSON.stringify(value)).toString(HEX).padStart(CHECKSUM_DIGITS, '0');
}
