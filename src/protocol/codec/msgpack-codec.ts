/** The compact codec: subprotocol `correctables.v1+msgpack`, binary frames. */
import { CorrectableError } from '../../correctable/errors.ts';
import {
  EncodedField,
  PortabilityError,
  UndecodableMessage,
  VALUE_DEPTH,
  type Codec,
  type Span,
} from './codec.ts';
import * as reader from './msgpack-reader.ts';
import * as writer from './msgpack-writer.ts';
import { SUBPROTOCOL } from './version.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Encodes messages as MessagePack. See `msgpack-writer.ts` for the encoding of values. */
export const msgpackCodec: Codec = {
  subprotocol: `${SUBPROTOCOL}+msgpack`,

  encodeValue(value, where = 'value') {
    writer.beginWriting();
    try {
      writer.writeValue(value, VALUE_DEPTH);
    } catch (error) {
      throw toEncodeError(error, where);
    }
    return writer.takeWritten();
  },

  encodeMessage(message, fields) {
    writer.beginWriting();
    let i = 0;
    try {
      writer.writeArrayHead(message.length);
      for (; i < message.length; i++) {
        const field = message[i];
        if (typeof field === 'object' && field instanceof EncodedField)
          writer.writeEncoded(field.data as Bytes);
        else writer.writeValue(field, VALUE_DEPTH);
      }
    } catch (error) {
      throw toEncodeError(error, fields?.[i] ?? 'row');
    }
    return writer.takeSpan();
  },

  byteLength(encoded) {
    return encoded.length;
  },

  frame(messages) {
    let bytes = writer.getArrayHeadBytes(messages.length);
    for (let i = 0; i < messages.length; i++) bytes += (messages as readonly Span[])[i]!.length;
    writer.beginWriting(bytes);
    writer.writeArrayHead(messages.length);
    for (let i = 0; i < messages.length;) i = writeSpans(messages as readonly Span[], i);
    return writer.takeWritten();
  },

  decode(frame) {
    if (typeof frame === 'string') {
      throw new CorrectableError('PROTOCOL', 'a frame of the msgpack codec must be binary');
    }
    try {
      return readMessages(frame);
    } catch (cause) {
      if (!(cause instanceof reader.MalformedFrameError)) throw cause;
      throw new CorrectableError('PROTOCOL', `the frame is not MessagePack: ${cause.message}`, {
        cause,
      });
    } finally {
      reader.closeFrame();
    }
  },
};

/**
 * Drops the bytes written of a value. The error names the path of what is outside the domain, which
 * begins with `where`.
 */
function toEncodeError(error: unknown, where: string): unknown {
  writer.rewindWriter();
  return error instanceof PortabilityError ? error.toError([where, ...error.path]) : error;
}

/**
 * Writes the messages from `first` on that are side by side in memory. Returns the index after the
 * last one.
 */
function writeSpans(messages: readonly Span[], first: number): number {
  const { block, start } = messages[first] as Span;
  let end = start;
  let next = first;
  for (; next < messages.length; next++) {
    const message = messages[next] as Span;
    if (message.start !== end || message.block !== block) break;
    end += message.length;
  }
  writer.writeSpan(block, start, end);
  return next;
}

/**
 * Arrays to copy, by length. An array that grows takes three times the memory of one that is
 * created for its elements.
 */
const BLANK_MESSAGES: readonly unknown[][] = Array.from({ length: 12 }, (_, length) =>
  Array.from({ length }, () => undefined),
);

function readMessages(frame: Uint8Array): unknown[] {
  reader.openFrame(frame);
  const length = reader.readArrayHead();
  if (length === undefined)
    throw new CorrectableError('PROTOCOL', 'a frame must be an array of rows');
  const messages: unknown[] = [];
  for (let i = 0; i < length; i++) messages.push(readMessage());
  if (reader.getPosition() < frame.length)
    throw new reader.MalformedFrameError('something follows the rows');
  return messages;
}

/**
 * Reads a message. Skips a message that holds a value outside the domain, so that its neighbors can
 * be read.
 */
function readMessage(): unknown {
  const from = reader.getPosition();
  const length = reader.readArrayHead();
  if (length === undefined) return readUndecodable(from);
  const message = BLANK_MESSAGES[length]?.slice() ?? [];
  let at = 0;
  try {
    for (; at < length; at++) message[at] = reader.readValue(VALUE_DEPTH);
    return message;
  } catch (error) {
    return createUndecodableMessage(error, from, message.slice(0, at), [at]);
  }
}

/** Returns anything but an array, because the check of messages handles arrays. */
function readUndecodable(from: number): unknown {
  try {
    return reader.readValue(0);
  } catch (error) {
    return createUndecodableMessage(error, from, undefined, []);
  }
}

function createUndecodableMessage(
  error: unknown,
  from: number,
  message: unknown,
  path: readonly PropertyKey[],
): UndecodableMessage {
  if (!(error instanceof PortabilityError)) throw error;
  reader.skipFrom(from);
  return new UndecodableMessage(message, [...path, ...error.path], error.message);
}
