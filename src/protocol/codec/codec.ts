/** Codecs turn rows into frames and back. All of them carry the same values: JSON's, bytes, bigint, Date, undefined. */
import { CorrectableError } from '../../correctable/errors.ts';

/** A frame or value in its encoded form. */
export type Encoded = string | Bytes;

/** Bytes that no other thread shares: TypeScript says so since 5.7, and before has no word for it. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** A row in its encoded form: in binary, where it stands, which costs less to say than a view of it to make. */
export type EncodedRow = string | Span;

/** Bytes that stand in a block of memory among others. */
export interface Span {
  readonly block: Bytes;
  readonly start: number;
  readonly length: number;
}

/** How deep a value stands in its row: what is written on its own has to fit into one. */
export const VALUE_DEPTH = 1;

/** A field of a row that has been encoded already by `Codec.encodeValue`. */
export class EncodedField {
  readonly data: Encoded;
  constructor(data: Encoded) {
    this.data = data;
  }
}

/** Takes the place of a row that could be told from its neighbours, but holds a value outside the domain. */
export class UndecodableRow {
  readonly row: unknown;
  /** Path to the bad value, from the row on. */
  readonly path: readonly PropertyKey[];
  readonly reason: string;
  constructor(row: unknown, path: readonly PropertyKey[], reason: string) {
    this.row = row;
    this.path = path;
    this.reason = reason;
  }
}

/**
 * A way to write frames. A frame is an array of rows; rows are encoded one by one, so that one bad row fails alone and
 * frames can be split at a size limit.
 */
export interface Codec {
  /** The websocket subprotocol that stands for this codec. */
  readonly subprotocol: string;
  /**
   * Encodes one value. Throws `INVALID_VALUE`, naming the field, for what is outside the domain; `where` says what the
   * value is, for example `args`.
   */
  encodeValue(value: unknown, where?: string): Encoded;
  /** Encodes one row, whose fields may be `EncodedField`s. Throws like `encodeValue`; `fields` are their names. */
  encodeRow(row: readonly unknown[], fields?: readonly string[]): EncodedRow;
  /** Size of an encoded row, in bytes. */
  byteLength(encoded: EncodedRow): number;
  /** Joins encoded rows to one frame. */
  frame(rows: readonly EncodedRow[]): Encoded;
  /**
   * Reads a frame. Its elements are untrusted: each is an `UndecodableRow` or a value to check. Throws `PROTOCOL` when
   * the frame cannot be read at all.
   */
  decode(frame: Encoded): unknown[];
}

/** A value that a codec does not carry; collects the path to it on the way up. */
export class OutsideDomain extends Error {
  readonly path: PropertyKey[] = [];

  toError(path: readonly PropertyKey[]): CorrectableError {
    const field = path.map(String).join('.');
    return new CorrectableError('INVALID_VALUE', `${field}: ${this.message}`, { field });
  }
}

/** Largest number of rows in one frame: lets the two ends work at the same time instead of taking turns. */
export const ROWS_PER_FRAME_MAX = 320;

const ROW_OVERHEAD_BYTES = 1;
const FRAME_OVERHEAD_BYTES = 8;

/**
 * Splits encoded rows into as few frames as will do, of about as many rows, of at most `bytesMax`. Each row must fit on
 * its own.
 */
export function packFrames(codec: Codec, rows: readonly EncodedRow[], bytesMax: number): Encoded[] {
  if (rows.length <= ROWS_PER_FRAME_MAX && boundOfFrame(rows) <= bytesMax) return [codec.frame(rows)];
  const frames: Encoded[] = [];
  const batchRows = Math.ceil(rows.length / Math.ceil(rows.length / ROWS_PER_FRAME_MAX));
  for (let i = 0; i < rows.length; i += batchRows) {
    const batch = rows.length <= batchRows ? rows : rows.slice(i, i + batchRows);
    if (boundOfFrame(batch) <= bytesMax) frames.push(codec.frame(batch));
    else splitBySize(codec, batch, bytesMax, frames);
  }
  return frames;
}

function splitBySize(codec: Codec, rows: readonly EncodedRow[], bytesMax: number, frames: Encoded[]): void {
  let pending: EncodedRow[] = [];
  let bytes = FRAME_OVERHEAD_BYTES;
  for (const row of rows) {
    const size = codec.byteLength(row) + ROW_OVERHEAD_BYTES;
    if (pending.length > 0 && bytes + size > bytesMax) {
      frames.push(codec.frame(pending));
      pending = [];
      bytes = FRAME_OVERHEAD_BYTES;
    }
    pending.push(row);
    bytes += size;
  }
  frames.push(codec.frame(pending));
}

/** Whether a row fits into a frame of its own. */
export function fitsFrame(codec: Codec, row: EncodedRow, bytesMax: number): boolean {
  if (FRAME_OVERHEAD_BYTES + boundOf(row) <= bytesMax) return true;
  return codec.byteLength(row) + ROW_OVERHEAD_BYTES + FRAME_OVERHEAD_BYTES <= bytesMax;
}

/** A size, in bytes, that the frame of these rows does not exceed; found without looking at the text. */
function boundOfFrame(rows: readonly EncodedRow[]): number {
  let bytes = FRAME_OVERHEAD_BYTES;
  for (const row of rows) bytes += boundOf(row);
  return bytes;
}

function boundOf(row: EncodedRow): number {
  return (typeof row === 'string' ? 3 * row.length : row.length) + ROW_OVERHEAD_BYTES;
}
