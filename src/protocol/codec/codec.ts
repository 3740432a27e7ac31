/**
 * Codecs turn rows into frames and back. All of them carry the same values:
 * JSON's, bytes, bigint, Date, undefined.
 */
import { CorrectableError } from '../../correctable/errors.ts';

/** A frame or value in its encoded form. */
export type EncodedData = string | Bytes;

/**
 * Bytes that no other thread shares: TypeScript says so since 5.7, and before
 * has no word for it.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/**
 * A row in its encoded form: in binary, where it stands, which costs less to
 * say than a view of it to make.
 */
export type EncodedMessage = string | Span;

/** Bytes that stand in a block of memory among others. */
export interface Span {
  readonly block: Bytes;
  readonly start: number;
  readonly length: number;
}

/**
 * How deep a value stands in its row: what is written on its own has to fit
 * into one.
 */
export const VALUE_DEPTH = 1;

/** A field of a row that has been encoded already by `Codec.encodeValue`. */
export class EncodedField {
  readonly data: EncodedData;
  constructor(data: EncodedData) {
    this.data = data;
  }
}

/**
 * Takes the place of a row that could be separated from its neighbors, but
 * holds a value outside the domain.
 */
export class UndecodableMessage {
  readonly message: unknown;
  /** Path to the bad value, from the row on. */
  readonly path: readonly PropertyKey[];
  readonly reason: string;
  constructor(row: unknown, path: readonly PropertyKey[], reason: string) {
    this.message = row;
    this.path = path;
    this.reason = reason;
  }
}

/**
 * A frame is an array of rows, encoded one by one: a bad row fails alone, and
 * frames can be split.
 */
export interface Codec {
  /** The websocket subprotocol that stands for this codec. */
  readonly subprotocol: string;
  /**
   * Encodes one value. Throws `INVALID_VALUE` with the path, which begins with
   * `where`.
   */
  encodeValue(value: unknown, where?: string): EncodedData;
  /**
   * Encodes one row, whose fields may be `EncodedField`s. Throws like
   * `encodeValue`; `fields` are their names.
   */
  encodeMessage(
    row: readonly unknown[],
    fields?: readonly string[],
  ): EncodedMessage;
  byteLength(encoded: EncodedMessage): number;
  frame(rows: readonly EncodedMessage[]): EncodedData;
  /**
   * Reads untrusted rows: each is an `UndecodableMessage` or a value to check.
   * Throws `PROTOCOL` for no frame.
   */
  decode(frame: EncodedData): unknown[];
}

/**
 * A value that a codec does not carry; collects the path to it on the way up.
 */
export class PortabilityError extends Error {
  readonly path: PropertyKey[] = [];

  toError(path: readonly PropertyKey[]): CorrectableError {
    const field = path.map(String).join('.');
    return new CorrectableError('INVALID_VALUE', `${field}: ${this.message}`, {
      field,
    });
  }
}

/**
 * Largest number of rows in one frame: lets the two ends work at the same time
 * instead of taking turns.
 */
export const MAX_MESSAGES_PER_FRAME = 320;

const MESSAGE_OVERHEAD_BYTES = 1;
const FRAME_OVERHEAD_BYTES = 8;

/**
 * Splits encoded rows into few frames of similar size, of at most `maxBytes`.
 * Each row must fit on its own.
 */
export function packFrames(
  codec: Codec,
  rows: readonly EncodedMessage[],
  maxBytes: number,
): EncodedData[] {
  if (
    rows.length <= MAX_MESSAGES_PER_FRAME &&
    getMaxFrameBytes(rows) <= maxBytes
  )
    return [codec.frame(rows)];
  const frames: EncodedData[] = [];
  const batchRows = Math.ceil(
    rows.length / Math.ceil(rows.length / MAX_MESSAGES_PER_FRAME),
  );
  for (let i = 0; i < rows.length; i += batchRows) {
    const batch =
      rows.length <= batchRows ? rows : rows.slice(i, i + batchRows);
    if (getMaxFrameBytes(batch) <= maxBytes) frames.push(codec.frame(batch));
    else splitBySize(codec, batch, maxBytes, frames);
  }
  return frames;
}

function splitBySize(
  codec: Codec,
  rows: readonly EncodedMessage[],
  maxBytes: number,
  frames: EncodedData[],
): void {
  let pending: EncodedMessage[] = [];
  let bytes = FRAME_OVERHEAD_BYTES;
  for (const row of rows) {
    const size = codec.byteLength(row) + MESSAGE_OVERHEAD_BYTES;
    if (pending.length > 0 && bytes + size > maxBytes) {
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
export function canFitFrame(
  codec: Codec,
  row: EncodedMessage,
  maxBytes: number,
): boolean {
  if (FRAME_OVERHEAD_BYTES + getMaxMessageBytes(row) <= maxBytes) return true;
  return (
    codec.byteLength(row) + MESSAGE_OVERHEAD_BYTES + FRAME_OVERHEAD_BYTES <=
    maxBytes
  );
}

/**
 * A size, in bytes, that the frame of these rows does not exceed; found without
 * looking at the text.
 */
function getMaxFrameBytes(rows: readonly EncodedMessage[]): number {
  let bytes = FRAME_OVERHEAD_BYTES;
  for (const row of rows) bytes += getMaxMessageBytes(row);
  return bytes;
}

function getMaxMessageBytes(row: EncodedMessage): number {
  return (
    (typeof row === 'string' ? 3 * row.length : row.length) +
    MESSAGE_OVERHEAD_BYTES
  );
}
