/** The readable codec: subprotocol `correctables.v1+json`, text frames. */
import { CorrectableError } from '../../correctable/errors.ts';
import {
  EncodedField,
  PortabilityError,
  UndecodableMessage,
  VALUE_DEPTH,
  type Codec,
  type EncodedData,
} from './codec.ts';
import { fromJsonValue, toJsonField, toJsonValue } from './json-values.ts';
import { SUBPROTOCOL } from './version.ts';

/** Encodes messages as JSON. See `json-values.ts` for values that JSON lacks. */
export const jsonCodec: Codec = {
  subprotocol: `${SUBPROTOCOL}+json`,

  encodeValue(value, where = 'value') {
    return JSON.stringify(toJsonField(value, where, VALUE_DEPTH));
  },

  encodeMessage(message, fields = []) {
    if (message.some((field) => field instanceof EncodedField))
      return encodeSpliced(message, fields);
    try {
      return JSON.stringify(toJsonValue(message));
    } catch (error) {
      if (!(error instanceof PortabilityError)) throw error;
      const [index, ...path] = error.path;
      throw error.toError([fields[Number(index)] ?? 'row', ...path]);
    }
  },

  byteLength(encoded) {
    return getUtf8Length(encoded as string);
  },

  frame(messages) {
    return `[${messages.join(',')}]`;
  },

  decode(frame) {
    const messages = parse(frame);
    const mayBeBroken = SURROGATE_ESCAPE.test(frame as string);
    for (let i = 0; i < messages.length; i++) messages[i] = decodeMessage(messages[i], mayBeBroken);
    return messages;
  },
};

/** Text that JSON writes unchanged between quotes. */
const PLAIN_TEXT = /^[\w -]*$/;

/**
 * A text frame is UTF-8, which has no halves of surrogate pairs. So they can only appear as
 * escapes.
 */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

function encodeSpliced(message: readonly unknown[], fields: readonly string[]): string {
  let text = '[';
  for (let i = 0; i < message.length; i++) {
    if (i > 0) text += ',';
    const field = message[i];
    if (typeof field === 'number' && Number.isFinite(field)) text += field;
    else if (typeof field === 'string' && PLAIN_TEXT.test(field)) text += `"${field}"`;
    else if (field instanceof EncodedField) text += field.data as string;
    else text += JSON.stringify(toJsonField(field, fields[i] ?? 'row', VALUE_DEPTH));
  }
  return `${text}]`;
}

function parse(frame: EncodedData): unknown[] {
  if (typeof frame !== 'string')
    throw new CorrectableError('PROTOCOL', 'a frame of the JSON codec must be text');
  let messages: unknown;
  try {
    messages = JSON.parse(frame);
  } catch (cause) {
    throw new CorrectableError('PROTOCOL', 'the frame is not JSON', { cause });
  }
  if (!Array.isArray(messages))
    throw new CorrectableError('PROTOCOL', 'a frame must be an array of rows');
  return messages;
}

function decodeMessage(message: unknown, mayBeBroken: boolean): unknown {
  try {
    const decoded = fromJsonValue(message);
    if (mayBeBroken) toJsonValue(decoded);
    return decoded;
  } catch (error) {
    if (!(error instanceof PortabilityError)) throw error;
    return new UndecodableMessage(message, error.path, error.message);
  }
}

function getUtf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes. That is two bytes for each unit, as for U+0080
    // to U+07FF.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
