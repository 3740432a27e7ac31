/**
 * Codecs convert messages to frames and back. All of them carry the same values: JSON's, bytes,
 * bigint, Date, undefined.
 */
import { CorrectableError } from '../../correctable/errors.ts';

/** A frame or value in its encoded form. */
export type EncodedData = string | Bytes;

/**
 * Bytes that no other thread shares. TypeScript distinguishes these types since 5.7, and has no
 * name for them before.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/**
 * A message in its encoded form. In binary it is the place of the bytes, which costs less than a
 * view of them.
 */
export type EncodedMessage = string | Span;

/** Bytes in a block of memory that contains others as well. */
export interface Span {
  readonly block: Bytes;
  readonly start: number;
  readonly length: number;
}

/**
 * The depth of a value in its message. A value that is encoded by itself has to fit into a message.
 */
export const VALUE_DEPTH = 1;

/** A field of a message that `Codec.encodeValue` has encoded already. */
export class EncodedField {
  readonly data: EncodedData;
  constructor(data: EncodedData) {
    this.data = data;
  }
}

/**
 * Replaces a message that could be separated from its neighbors, but holds a value outside the
 * domain.
 */
export class UndecodableMessage {
  readonly message: unknown;
  /** Path to the bad value, starting at the message. */
  readonly path: readonly PropertyKey[];
  readonly reason: string;
  constructor(message: unknown, path: readonly PropertyKey[], reason: string) {
    this.message = message;
    this.path = path;
    this.reason = reason;
  }
}

/**
 * A frame is an array of messages that are encoded one by one. So a bad message fails alone, and
 * frames can be split.
 */
export interface Codec {
  /** The websocket subprotocol of this codec. */
  readonly subprotocol: string;
  /** Encodes one value. Throws `INVALID_VALUE` with the path, which begins with `where`. */
  encodeValue(value: unknown, where?: string): EncodedData;
  /**
   * Encodes one row, whose fields may be `EncodedField`s. Throws like `encodeValue`; `fields` are
   * their names.
   */
  encodeMessage(message: readonly unknown[], fields?: readonly string[]): EncodedMessage;
  byteLength(encoded: EncodedMessage): number;
  frame(messages: readonly EncodedMessage[]): EncodedData;
  /**
   * Reads untrusted messages. Each is an `UndecodableMessage` or a value to check. Throws
   * `PROTOCOL` if the data is no frame.
   */
  decode(frame: EncodedData): unknown[];
}

/**
 * Reports a value that a codec cannot encode. Collects the path to it while the recursion returns.
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
 * Largest number of messages in one frame. The limit lets both ends work at the same time instead
 * of taking turns.
 */
export const MAX_MESSAGES_PER_FRAME = 320;

const MESSAGE_OVERHEAD_BYTES = 1;
const FRAME_OVERHEAD_BYTES = 8;

/**
 * Splits encoded rows into few frames of similar size, of at most `maxBytes`. Each row must fit on
 * its own.
 */
export function packFrames(
  codec: Codec,
  messages: readonly EncodedMessage[],
  maxBytes: number,
): EncodedData[] {
  if (messages.length <= MAX_MESSAGES_PER_FRAME && getMaxFrameBytes(messages) <= maxBytes)
    return [codec.frame(messages)];
  const frames: EncodedData[] = [];
  const batchSize = Math.ceil(
    messages.length / Math.ceil(messages.length / MAX_MESSAGES_PER_FRAME),
  );
  for (let i = 0; i < messages.length; i += batchSize) {
    const batch = messages.length <= batchSize ? messages : messages.slice(i, i + batchSize);
    if (getMaxFrameBytes(batch) <= maxBytes) frames.push(codec.frame(batch));
    else splitBySize(codec, batch, maxBytes, frames);
  }
  return frames;
}

function splitBySize(
  codec: Codec,
  messages: readonly EncodedMessage[],
  maxBytes: number,
  frames: EncodedData[],
): void {
  let pending: EncodedMessage[] = [];
  let bytes = FRAME_OVERHEAD_BYTES;
  for (const message of messages) {
    const size = codec.byteLength(message) + MESSAGE_OVERHEAD_BYTES;
    if (pending.length > 0 && bytes + size > maxBytes) {
      frames.push(codec.frame(pending));
      pending = [];
      bytes = FRAME_OVERHEAD_BYTES;
    }
    pending.push(message);
    bytes += size;
  }
  frames.push(codec.frame(pending));
}

/** Returns whether a message fits into a frame of its own. */
export function canFitFrame(codec: Codec, message: EncodedMessage, maxBytes: number): boolean {
  if (FRAME_OVERHEAD_BYTES + getMaxMessageBytes(message) <= maxBytes) return true;
  return codec.byteLength(message) + MESSAGE_OVERHEAD_BYTES + FRAME_OVERHEAD_BYTES <= maxBytes;
}

/**
 * Returns a size in bytes that the frame of these messages does not exceed. It does not read the
 * text, so it may be too large.
 */
function getMaxFrameBytes(messages: readonly EncodedMessage[]): number {
  let bytes = FRAME_OVERHEAD_BYTES;
  for (const message of messages) bytes += getMaxMessageBytes(message);
  return bytes;
}

function getMaxMessageBytes(message: EncodedMessage): number {
  return (
    (typeof message === 'string' ? 3 * message.length : message.length) + MESSAGE_OVERHEAD_BYTES
  );
}
