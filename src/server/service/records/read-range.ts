/**
 * Ordered scans, and their intervals as certification compares them. So a row that comes into an
 * interval later is noticed.
 */
import { describeKind, createInternalError } from './internal-errors.ts';

/**
 * A value that orders rows: numbers before strings, and strings by UTF-16 code units, so that the
 * order is the same at every site.
 */
export type Scalar = string | number;

/** One position in an order: the value that a row is ordered by, then its primary key. */
export interface Entry {
  readonly value: Scalar;
  readonly key: string;
}

/** The part of an order to read. You can combine bounds. */
export interface ScanOptions<V extends Scalar = Scalar> {
  /** Only this value. */
  readonly equals?: V | undefined;
  /** Only strings that start with this. */
  readonly prefix?: string | undefined;
  /** Start of the range, included. */
  readonly from?: V | undefined;
  /** End of the range, not included. */
  readonly before?: V | undefined;
  /** Maximum number of results. */
  readonly limit?: number | undefined;
  /** Reads from the end backwards. */
  readonly reverse?: boolean | undefined;
}

/**
 * An interval of one order of a table: of its primary keys, or of the values of an indexed field.
 */
export interface ReadRange {
  readonly table: string;
  /** The indexed field, absent for primary keys. */
  readonly field?: string;
  /** First value inside. */
  readonly from?: Scalar;
  /** First value outside. */
  readonly before?: Scalar;
  /** Last value inside. */
  readonly upTo?: Scalar;
}

export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number';
}

/** The order of values. */
export function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order of entries: by value, then by primary key. */
export function compareEntries(a: Entry, b: Entry): number {
  return compareScalars(a.value, b.value) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** Whether `value` is not yet below the interval's start. */
export const isAtOrAfterStart = (range: ReadRange, value: Scalar): boolean =>
  range.from === undefined || compareScalars(value, range.from) >= 0;

/** Whether `value` is not past the interval's end. */
export const isBeforeEnd = (range: ReadRange, value: Scalar): boolean =>
  (range.before === undefined || compareScalars(value, range.before) < 0) &&
  (range.upTo === undefined || compareScalars(value, range.upTo) <= 0);

/** Whether the interval holds `value`. */
export const isInRange = (range: ReadRange, value: Scalar): boolean =>
  isAtOrAfterStart(range, value) && isBeforeEnd(range, value);

/**
 * Returns the interval of the options. Throws `INVALID_ARGUMENT` if the limit is not an integer
 * from 0 on.
 */
export function toReadRange(
  table: string,
  field: string | undefined,
  options: ScanOptions,
): ReadRange {
  const { equals, prefix, limit } = options;
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 0)) {
    const message = `limit must be an integer from 0 on, not ${describeKind(limit)}.`;
    throw createInternalError('INVALID_ARGUMENT', message, `${field ?? table}.limit`);
  }
  let { from, before } = options;
  if (prefix !== undefined) {
    if (from === undefined || compareScalars(prefix, from) > 0) from = prefix;
    const end = getPrefixEnd(prefix);
    if (end !== undefined && (before === undefined || compareScalars(end, before) < 0))
      before = end;
  }
  let upTo: Scalar | undefined;
  if (equals !== undefined) {
    if (from === undefined || compareScalars(equals, from) > 0) from = equals;
    upTo = equals;
  }
  return createBoundedRange(table, field, { from, before, upTo });
}

/** Returns the part of the interval that a scan has read when its limit stopped it at `last`. */
export function getScannedRange(range: ReadRange, last: Scalar, reverse: boolean): ReadRange {
  const { table, field, from, before, upTo } = range;
  return createBoundedRange(
    table,
    field,
    reverse ? { from: last, before, upTo } : { from, before, upTo: last },
  );
}

interface RangeBounds {
  readonly from: Scalar | undefined;
  readonly before: Scalar | undefined;
  readonly upTo: Scalar | undefined;
}

function createBoundedRange(
  table: string,
  field: string | undefined,
  { from, before, upTo }: RangeBounds,
): ReadRange {
  return {
    table,
    ...(field === undefined ? {} : { field }),
    ...(from === undefined ? {} : { from }),
    ...(before === undefined ? {} : { before }),
    ...(upTo === undefined ? {} : { upTo }),
  };
}

/**
 * Returns the first string after all that begin with `prefix`, in whole characters, or `undefined`
 * if there is none.
 */
function getPrefixEnd(prefix: string): string | undefined {
  const characters = [...prefix];
  for (let end = characters.length - 1; end >= 0; end -= 1) {
    const next = getNextCharacter(characters[end]?.codePointAt(0) as number);
    if (next !== undefined) return characters.slice(0, end).join('') + String.fromCodePoint(next);
  }
  return undefined;
}

const LAST_UNIT = 0xffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;
const FIRST_PAIR = 0x1_0000;
const LAST_PAIR = 0x10_ffff;

/** Surrogate pairs come before the last characters of one code unit. */
function getNextCharacter(character: number): number | undefined {
  if (character === LAST_UNIT) return undefined;
  if (character === BEFORE_SURROGATES) return FIRST_PAIR;
  return character === LAST_PAIR ? AFTER_SURROGATES : character + 1;
}
