/**
 * Retains the reply of a write, so that a resend gets the same reply. The arguments, the context,
 * and the memory block of the message are released.
 */
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import type { Codec, EncodedMessage } from '../../../protocol/codec/codec.ts';
import { toWellFormed } from '../../../protocol/codec/tagged-values.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import type { Outlet, RepeatableWrite } from '../clients/client-table.ts';
import { createViewMessage } from './view-messages.ts';

/** The answer to a repetition if there was no room to retain the result. */
const RESULT_NOT_RETAINED =
  'the write took effect; its result is not kept, since too much waits for an ack of this client';

/** A write that ended with a view or a failure. */
export class CompletedWrite implements RepeatableWrite {
  readonly #id: number;
  /** `undefined` if the write ended with a view for which there was no room. */
  #reply: RetainedReply | undefined;

  /** @param reply memory for it is reserved already */
  constructor(id: number, reply: RetainedReply | undefined) {
    this.#id = id;
    this.#reply = reply && copyReply(reply);
  }

  repeat(outlet: Outlet): void {
    const id = this.#id;
    const reply = this.#reply;
    if (reply === undefined)
      outlet.push(toFailMessage(id, new CorrectableError('UNKNOWN', RESULT_NOT_RETAINED)));
    else if ('message' in reply) outlet.pushEncoded(reply.message);
    else
      outlet.push(
        createViewMessage(
          id,
          reply.level,
          reply.seq,
          reply.value,
          reply.isFinal ? { final: true } : undefined,
        ),
      );
  }

  forget(): number {
    const bytes = measureReply(this.#reply);
    this.#reply = undefined;
    return bytes;
  }
}

export type RetainedReply =
  | { readonly message: EncodedMessage }
  /** A value of fixed size is kept unencoded, because it needs no additional memory. */
  | {
      readonly value: SizedValue;
      readonly level: number;
      readonly seq: number;
      readonly isFinal?: boolean;
    };

/**
 * Values of a fixed size. A string has no fixed size: it may be a part of a large string, and keep
 * all of it in memory.
 */
export type SizedValue = null | undefined | boolean | number;

/** The length of a shortened failure's text. */
const MAX_SHORT_TEXT_LENGTH = 96;
/** The longest encoded failure that keeps the data of its domain error. */
const MAX_SHORT_FAILURE_LENGTH = 256;

export function hasFixedSize(value: unknown): value is SizedValue {
  return (
    value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number'
  );
}

/** Returns the memory that the reply takes, in bytes. */
export function measureReply(reply: RetainedReply | undefined): number {
  return reply !== undefined && 'message' in reply ? reply.message.length : 0;
}

/**
 * Copies the reply into separate memory: a small reply would keep the whole memory block alive in
 * which it was encoded.
 */
function copyReply(reply: RetainedReply): RetainedReply {
  if (!('message' in reply)) return reply;
  const { message } = reply;
  if (typeof message === 'string') {
    // Read a character: until then, V8 keeps a concatenated string as references to its parts,
    // which may belong to large strings.
    message.charCodeAt(0);
    return reply;
  }
  const { block, start, length } = message;
  return length < block.length
    ? {
        message: {
          block: block.slice(start, start + length),
          start: 0,
          length,
        },
      }
    : reply;
}

/** Encodes a failure in few bytes. */
export function encodeShortFailure(id: number, error: unknown, codec: Codec): RetainedReply {
  const short = isCorrectableError(error) ? shortenError(error) : error;
  const encoded = codec.encodeMessage(toFailMessage(id, short));
  if (
    !isCorrectableError(short) ||
    short.domain === undefined ||
    encoded.length <= MAX_SHORT_FAILURE_LENGTH
  ) {
    return { message: encoded };
  }
  const { name } = short.domain;
  // Without its data, a domain error needs another code, because a client that gets `DOMAIN` reads
  // the data.
  const message = `${short.message}: refused with '${name.slice(0, MAX_SHORT_TEXT_LENGTH)}', of which the rest was not kept`;
  const without = new CorrectableError('FINAL_FAILED', toWellFormed(message));
  return { message: codec.encodeMessage(toFailMessage(id, without)) };
}

function shortenError({
  code,
  message,
  retryable,
  retryAfterMs,
  domain,
}: CorrectableError): CorrectableError {
  const text = toWellFormed(message.slice(0, MAX_SHORT_TEXT_LENGTH));
  return new CorrectableError(code, text, { retryable, retryAfterMs, domain });
}
