/** How an update ended, kept for a repetition of it: without its arguments, its context, or the memory of its row. */
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import type { Codec, EncodedRow } from '../../../protocol/codec/codec.ts';
import { wellFormed } from '../../../protocol/codec/value-domain.ts';
import { failRow } from '../../../protocol/wire-errors.ts';
import type { Outlet, RepeatableUpdate } from './submission-parts.ts';
import { viewRow } from './view-rows.ts';

/** What is told of an update whose result there was no room to keep. */
const NOT_KEPT = 'the update took effect; its result is not kept, since too much waits for an ack of this client';

/** An update that ended with a view or a failure. */
export class EndedUpdate implements RepeatableUpdate {
  readonly #id: number;
  /** What was taken for it; none where it ended with a view for which there was no room. */
  #reply: KeptReply | undefined;

  /** @param reply for which there is room, and which counts already */
  constructor(id: number, reply: KeptReply | undefined) {
    this.#id = id;
    this.#reply = reply && apart(reply);
  }

  repeat(outlet: Outlet): void {
    const id = this.#id;
    const reply = this.#reply;
    if (reply === undefined) outlet.push(failRow(id, new CorrectableError('UNKNOWN', NOT_KEPT)));
    else if ('row' in reply) outlet.pushEncoded(reply.row);
    else outlet.push(viewRow(id, reply.level, reply.seq, reply.value, reply.isFinal ? { final: true } : undefined));
  }

  detach(): void {}

  forget(): number {
    const bytes = bytesOf(this.#reply);
    this.#reply = undefined;
    return bytes;
  }
}

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

/** The same reply in memory of its own: a small one would keep all of the block that it was written in. */
function apart(reply: KeptReply): KeptReply {
  if (!('row' in reply)) return reply;
  const { row } = reply;
  if (typeof row === 'string') {
    // Text that was put together keeps its parts, and what those are parts of, until one of its characters is read.
    row.charCodeAt(0);
    return reply;
  }
  const { block, start, length } = row;
  return length < block.length ? { row: { block: block.slice(start, start + length), start: 0, length } } : reply;
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
