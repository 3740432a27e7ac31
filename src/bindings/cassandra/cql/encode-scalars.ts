/** Encodes single values by their type. A value that its type does not accept is rejected. */
import { isIPv4, isIPv6 } from 'node:net';
import { isBytes, isDate } from '../../../values/value-kinds.ts';
import { encodeDecimal } from './decimal.ts';
import { encodeDuration } from './duration.ts';
import { encodeBigint, encodeFixedInteger, toBigint } from './integers.ts';
import { getTypeName, TYPE, type CqlType } from './cql-types.ts';

/**
 * Reports a value that its type does not accept. The message names the type and what it accepts.
 */
export class CqlTypeError extends TypeError {}

/**
 * Years with other than four digits have a sign and six digits. `Date` reads other forms in ways of
 * its own.
 */
const ISO_PATTERN =
  /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const DATE_PATTERN = /^(-?\d{4,6})-(\d\d)-(\d\d)$/;
const TIME_PATTERN = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?$/;
const UUID_PATTERN = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const NUMBER_PATTERN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const MS_PER_DAY = 86_400_000;
/** Maximum distance in days between the epoch and a day that a `Date` can represent. */
const MAX_DATE_DAYS = 100_000_000;
/** The number that encodes the day of the epoch. */
const DAY_ZERO = 2 ** 31;

/** The size of each number type in bytes. */
const WIDTHS: Readonly<Record<number, number>> = {
  [TYPE.tinyint]: 1,
  [TYPE.smallint]: 2,
  [TYPE.int]: 4,
  [TYPE.bigint]: 8,
  [TYPE.counter]: 8,
};

/** @throws CqlTypeError */
export function encodeScalar(value: unknown, type: CqlType): Uint8Array {
  const { code } = type;
  const width = WIDTHS[code];
  if (width !== undefined) return encodeInteger(value, width, type);
  const [takes, write] = SCALARS[code] ?? BYTES;
  const bytes = write(value);
  if (bytes === undefined) throw createCqlTypeError(value, type, takes);
  return bytes;
}

/**
 * The description of accepted values for messages, and the encoder. The encoder returns `undefined`
 * for a value of another type.
 */
type ScalarEncoder = readonly [takes: string, write: (value: unknown) => Uint8Array | undefined];

const BYTES: ScalarEncoder = [
  'bytes are',
  (value) =>
    isBytes(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined,
];
const TEXT: ScalarEncoder = [
  'a text is',
  (value) => (typeof value === 'string' ? Buffer.from(value) : undefined),
];
const UUID: ScalarEncoder = [
  'a text of 36 characters is',
  (value) =>
    typeof value === 'string' && UUID_PATTERN.test(value)
      ? Buffer.from(value.replaceAll('-', ''), 'hex')
      : undefined,
];

const SCALARS: Readonly<Record<number, ScalarEncoder>> = {
  [TYPE.ascii]: [
    'a text of ASCII characters is',
    (value) => (typeof value === 'string' && isAscii(value) ? Buffer.from(value) : undefined),
  ],
  [TYPE.text]: TEXT,
  [TYPE.varchar]: TEXT,
  [TYPE.boolean]: [
    'true or false is',
    (value) => (typeof value === 'boolean' ? Buffer.of(value ? 1 : 0) : undefined),
  ],
  [TYPE.float]: ['a number of 32 bits is', encodeFloat],
  [TYPE.double]: ['a number is', encodeDouble],
  [TYPE.varint]: ['a bigint is', encodeVarint],
  [TYPE.decimal]: [
    'a text like 12.50 or 1E+3 is',
    (value) => (isNumberLike(value) ? encodeDecimal(String(value)) : undefined),
  ],
  [TYPE.timestamp]: ['a Date is', encodeTimestamp],
  [TYPE.date]: ['a text like 2024-02-29 is', encodeDate],
  [TYPE.time]: ['a text like 10:20:30.5 is', encodeTime],
  [TYPE.duration]: [
    'a text like 1mo2d3h is',
    (value) => (typeof value === 'string' ? encodeDuration(value) : undefined),
  ],
  [TYPE.uuid]: UUID,
  [TYPE.timeuuid]: UUID,
  [TYPE.inet]: [
    'the text of an IP address is',
    (value) => (typeof value === 'string' ? encodeAddress(value) : undefined),
  ],
};

function encodeInteger(value: unknown, width: number, type: CqlType): Uint8Array {
  const number = toBigint(value);
  const bytes = number === undefined ? undefined : encodeFixedInteger(number, width);
  if (bytes !== undefined) return bytes;
  const most = 2n ** BigInt(8 * width - 1);
  // A number of this size cannot be exact, so it is rejected.
  throw createCqlTypeError(
    value,
    type,
    `a ${width === 8 ? 'bigint' : 'integer'} from ${-most} to ${most - 1n} is`,
  );
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(text);
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : undefined;
  const number =
    typeof value === 'string' && NUMBER_PATTERN.test(value) ? Number(value) : undefined;
  // A text may contain a number that is too large. It would be stored as infinity.
  return Number.isFinite(number) ? number : undefined;
}

function encodeDouble(value: unknown): Uint8Array | undefined {
  const number = toNumber(value);
  if (number === undefined) return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(number);
  return bytes;
}

function encodeVarint(value: unknown): Uint8Array | undefined {
  const number = toBigint(value);
  return number === undefined ? undefined : encodeBigint(number);
}

/** Rejects a number that is too large for 32 bits, because it would be stored as infinity. */
function encodeFloat(value: unknown): Uint8Array | undefined {
  const number = toNumber(value);
  if (number === undefined || (Number.isFinite(number) && !Number.isFinite(Math.fround(number))))
    return undefined;
  const bytes = Buffer.alloc(4);
  bytes.writeFloatBE(number);
  return bytes;
}

function isNumberLike(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isFinite(value))
  );
}

function encodeTimestamp(value: unknown): Uint8Array | undefined {
  const at =
    typeof value === 'string' && isValidDay(ISO_PATTERN.exec(value)) ? new Date(value) : value;
  const ms = toBigint(isDate(at) ? at.getTime() : typeof at === 'string' ? undefined : at);
  return ms === undefined ? undefined : encodeFixedInteger(ms, 8);
}

function isValidDay(parts: RegExpExecArray | null): boolean {
  const [, year, month, day] = parts ?? [];
  return year !== undefined && toEpochDay(year, month, day) !== undefined;
}

/**
 * Encodes a date. Only dates that a `Date` cannot represent may be a number of days since the
 * epoch, because they are read as such.
 */
function encodeDate(value: unknown): Uint8Array | undefined {
  const days = typeof value === 'string' ? parseDays(value) : undefined;
  if (days === undefined || days < -DAY_ZERO || days >= DAY_ZERO) return undefined;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(days + DAY_ZERO);
  return bytes;
}

function parseDays(text: string): number | undefined {
  if (/^-?\d{1,10}$/.test(text))
    return Math.abs(Number(text)) > MAX_DATE_DAYS ? Number(text) : undefined;
  const [, year, month, day] = DATE_PATTERN.exec(text) ?? [];
  return year === undefined ? undefined : toEpochDay(year, month, day);
}

/**
 * Returns the day, counted from the epoch. A day such as 30 February would be a day of the next
 * month, so it is rejected.
 */
function toEpochDay(
  year: string,
  month: string | undefined,
  day: string | undefined,
): number | undefined {
  const at = new Date(0);
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isThere = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
  return isThere ? at.getTime() / MS_PER_DAY : undefined;
}

function encodeTime(value: unknown): Uint8Array | undefined {
  const [, hours, minutes, seconds, fraction = ''] =
    typeof value === 'string' ? (TIME_PATTERN.exec(value) ?? []) : [];
  if (hours === undefined) return undefined;
  const inSeconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return encodeFixedInteger(
    BigInt(inSeconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')),
    8,
  );
}

const ADDRESS_GROUPS = 8;

/** Encodes the text of an address. Returns `undefined` if it is none. */
function encodeAddress(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  // An address with a zone is valid only on one machine, so it cannot be stored.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  // A URL writes all groups in hexadecimal digits, including those of an embedded IPv4 address.
  const [front = '', back] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [parseGroups(front), parseGroups(back ?? '')];
  const zeros = Array.from({ length: ADDRESS_GROUPS - left.length - right.length }, () => '0');
  const digits = [...left, ...zeros, ...right].map((group) => group.padStart(4, '0'));
  return Buffer.from(digits.join(''), 'hex');
}

function parseGroups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

export function createCqlTypeError(value: unknown, type: CqlType, takes: string): CqlTypeError {
  return new CqlTypeError(`${getTypeName(type)}: ${takes} due, not ${formatValue(value)}`);
}

const MAX_FORMATTED_LENGTH = 40;

function formatValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(
      value.length > MAX_FORMATTED_LENGTH ? `${value.slice(0, MAX_FORMATTED_LENGTH)}…` : value,
    );
  if (typeof value === 'object')
    return Array.isArray(value) ? 'an array' : `a ${getClassName(value)}`;
  return String(value).slice(0, MAX_FORMATTED_LENGTH);
}

function getClassName(value: object | null): string {
  return value === null
    ? 'null'
    : ((value.constructor as { readonly name: string } | undefined)?.name ?? 'Object');
}
