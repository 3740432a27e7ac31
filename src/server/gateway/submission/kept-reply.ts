/** How an update ended, kept for a repetition of it: by itself, without the memory that it was written in. */
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import type { Codec, EncodedRow } from '../../../protocol/codec/codec.ts';
import { wellFormed } from '../../../protocol/codec/value-domain.ts';
import { failRow } from '../../../protocol/wire-errors.ts';

/** An ending that can be told again. */
export type KeptReply =
  | { readonly row: EncodedRow }
  /** What takes no memory of its own need not be kept in its encoded form. */
  | { readonly value: SizedValue; readonly level: number; readonly seq: number; readonly isFinal?: boolean };

/** Values of a fixed size. A string may be a part of a large one, and keep all of that. */
export type SizedValue = null | undefined | boolean | number;

/** How much is kept of the message of a failure for which there is no room. */
const SHORT_LENGTH = 96;
/** How long such a row may be where it says more than a message. */
const SHORT_ROW_LENGTH = 256;

export function isSized(value: unknown): value is SizedValue {
  return value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number';
}

/** The memory that the reply takes, in bytes. */
export function bytesOf(reply: KeptReply | undefined): number {
  return reply !== undefined && 'row' in reply ? reply.row.length : 0;
}

/** The block of memory that the reply lies in among other rows, if it does. */
export function blockOf(reply: KeptReply): Uint8Array | undefined {
  if (!('row' in reply)) return undefined;
  const { row } = reply;
  // Text that was put together keeps its parts, and what those are parts of, until one of its characters is read.
  if (typeof row === 'string') return void row.charCodeAt(0);
  return row.length < row.block.length ? row.block : undefined;
}

/** The same reply in memory of its own. */
export function apart(reply: KeptReply): KeptReply {
  if (!('row' in reply) || typeof reply.row === 'string') return reply;
  const { block, start, length } = reply.row;
  return { row: { block: block.slice(start, start + length), start: 0, length } };
}

/** A failure in few bytes, whatever it says. */
export function shortFailure(id: number, error: unknown, codec: Codec): KeptReply {
  const short = isCorrectableError(error) ? shortened(error) : error;
  const row = codec.encodeRow(failRow(id, short));
  if (!isCorrectableError(short) || short.domain === undefined || row.length <= SHORT_ROW_LENGTH) {
    return { row };
  }
  const { name } = short.domain;
  // Whoever finds `DOMAIN` reads what it says: another code where that is gone.
  const message = `${short.message}: refused with '${name.slice(0, SHORT_LENGTH)}', of which the rest was not kept`;
  const without = new CorrectableError('FINAL_FAILED', wellFormed(message));
  return { row: codec.encodeRow(failRow(id, without)) };
}

function shortened({ code, message, retryable, retryAfterMs, domain }: CorrectableError): CorrectableError {
  const text = wellFormed(message.slice(0, SHORT_LENGTH));
  return new CorrectableError(code, text, { retryable, retryAfterMs, domain });
}
