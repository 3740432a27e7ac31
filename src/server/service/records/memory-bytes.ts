/**
 * How many bytes values and records take on the heap, as a site counts its memory. The counts
 * follow from the values alone, so that a site counts the same before and after a restart. They
 * were measured with Node 20 on a 64-bit machine, and are rounded up: a site that counts too little
 * would end without a warning.
 */

/** The bytes of a string without its characters, and of an object without fields. */
const CELL_BYTES = 24;
const NUMBER_BYTES = 8;
/**
 * One field of an object. Objects with the same fields share their names, but not those that use
 * them as keys.
 */
const PROPERTY_BYTES = 32;
/** The bytes of one element of an array. An array grows by more than one element at a time. */
const ELEMENT_BYTES = 12;

/** A row with its key, apart from the characters of the key and the states of its fields. */
export const ROW_BYTES = 250;
/** A field of a row, written or not. */
export const COLUMN_BYTES = 8;
/** An entry of an index. Its value and its key are those of the row. */
export const INDEX_ENTRY_BYTES = 64;
/** A removal that is remembered. */
export const REMOVAL_BYTES = 190;
/** The state of a field that has one value. */
export const STATE_BYTES = 48;
/** A stamp with the vector of its operation. */
export const STAMP_BYTES = 120;
/** An operation in memory, apart from its effects and values. */
const OPERATION_BYTES = 600;
const EFFECT_BYTES = 120;
/** One name or interval that an operation has read. */
const READ_BYTES = 80;

/**
 * Matches a character that needs two bytes. V8 knows that a string of one-byte characters has none,
 * so this takes the same time for any length of such a string.
 */
const WIDE_CHARACTER = /[^\0-\u{ff}]/u;

/** Below this length a search costs more than what it saves. */
const SHORT_LENGTH = 16;

export function measureText(text: string): number {
  const { length } = text;
  const isNarrow = length > SHORT_LENGTH && !WIDE_CHARACTER.test(text);
  return CELL_BYTES + (isNarrow ? length : 2 * length);
}

/** Returns about how many bytes plain data takes. */
export function measureValue(value: unknown): number {
  if (typeof value === 'number') return NUMBER_BYTES;
  if (typeof value === 'string') return measureText(value);
  if (typeof value !== 'object' || value === null) return CELL_BYTES;
  if (ArrayBuffer.isView(value)) return 4 * CELL_BYTES + value.byteLength;
  let bytes = 2 * CELL_BYTES;
  // These are loops, because every value that is written is measured.
  if (Array.isArray(value)) for (const item of value) bytes += ELEMENT_BYTES + measureValue(item);
  else
    for (const key in value)
      bytes += PROPERTY_BYTES + measureValue((value as Record<string, unknown>)[key]);
  return bytes;
}

/** The parts of an operation or a record that may be large. */
interface MeasuredRecord {
  readonly effects?: readonly { readonly value?: unknown }[];
  readonly reads?: readonly unknown[];
  readonly ranges?: readonly unknown[];
  readonly args?: unknown;
  readonly reply?: unknown;
  /** The operation of a hold. */
  readonly operation?: string | object;
}

const NONE: readonly never[] = [];

/** Returns about how many bytes an operation or a record of a log takes. */
export function measureRecord(record: unknown): number {
  const {
    effects = NONE,
    reads = NONE,
    ranges = NONE,
    args,
    reply,
    operation,
  } = record as MeasuredRecord;
  let bytes = OPERATION_BYTES + READ_BYTES * (reads.length + ranges.length);
  for (const { value } of effects) bytes += EFFECT_BYTES + measureValue(value);
  if (args !== undefined) bytes += measureValue(args);
  if (reply !== undefined) bytes += measureValue(reply);
  return typeof operation === 'object' ? bytes + measureRecord(operation) : bytes;
}
