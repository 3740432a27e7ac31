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

/** Rows as MessagePack; see `msgpack-writer.ts` for how values are written. */
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

  encodeMessage(row, fields) {
    writer.beginWriting();
    let i = 0;
    try {
      writer.writeArrayHead(row.length);
      for (; i < row.length; i++) {
        const field = row[i];
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

  frame(rows) {
    let bytes = writer.getArrayHeadBytes(rows.length);
    for (let i = 0; i < rows.length; i++)
      bytes += (rows as readonly Span[])[i]!.length;
    writer.beginWriting(bytes);
    writer.writeArrayHead(rows.length);
    for (let i = 0; i < rows.length;)
      i = writeSpans(rows as readonly Span[], i);
    return writer.takeWritten();
  },

  decode(frame) {
    if (typeof frame === 'string') {
      throw new CorrectableError(
        'PROTOCOL',
        'a frame of the msgpack codec must be binary',
      );
    }
    try {
      return readMessages(frame);
    } catch (cause) {
      if (!(cause instanceof reader.MalformedFrameError)) throw cause;
      throw new CorrectableError(
        'PROTOCOL',
        `the frame is not MessagePack: ${cause.message}`,
        {
          cause,
        },
      );
    } finally {
      reader.closeFrame();
    }
  },
};

/**
 * Forgets what was written of a value; what is outside the domain is named by
 * its path, which begins with `where`.
 */
function toEncodeError(error: unknown, where: string): unknown {
  writer.rewindWriter();
  return error instanceof PortabilityError
    ? error.toError([where, ...error.path])
    : error;
}

/**
 * Writes the rows from `first` on that lie side by side in memory; returns the
 * index of the one after them.
 */
function writeSpans(rows: readonly Span[], first: number): number {
  const { block, start } = rows[first] as Span;
  let end = start;
  let next = first;
  for (; next < rows.length; next++) {
    const row = rows[next] as Span;
    if (row.start !== end || row.block !== block) break;
    end += row.length;
  }
  writer.writeSpan(block, start, end);
  return next;
}

/**
 * To be copied, by length: an array that grows takes three times the memory of
 * one that is made for its elements.
 */
const BLANK_MESSAGES: readonly unknown[][] = Array.from(
  { length: 12 },
  (_, length) => Array.from({ length }, () => undefined),
);

function readMessages(frame: Uint8Array): unknown[] {
  reader.openFrame(frame);
  const length = reader.readArrayHead();
  if (length === undefined)
    throw new CorrectableError('PROTOCOL', 'a frame must be an array of rows');
  const rows: unknown[] = [];
  for (let i = 0; i < length; i++) rows.push(readMessage());
  if (reader.getPosition() < frame.length)
    throw new reader.MalformedFrameError('something follows the rows');
  return rows;
}

/**
 * Reads a row; one that holds what is outside the domain is passed over, so
 * that its neighbors can be read.
 */
function readMessage(): unknown {
  const from = reader.getPosition();
  const length = reader.readArrayHead();
  if (length === undefined) return readUndecodable(from);
  const row = BLANK_MESSAGES[length]?.slice() ?? [];
  let at = 0;
  try {
    for (; at < length; at++) row[at] = reader.readValue(VALUE_DEPTH);
    return row;
  } catch (error) {
    return createUndecodableMessage(error, from, row.slice(0, at), [at]);
  }
}

/** Anything but an array, which is for the check of rows to refuse. */
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
  row: unknown,
  path: readonly PropertyKey[],
): UndecodableMessage {
  if (!(error instanceof PortabilityError)) throw error;
  reader.skipFrom(from);
  return new UndecodableMessage(row, [...path, ...error.path], error.message);
}
