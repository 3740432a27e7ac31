/**
 * How an update ended, kept for a repetition of it: without its arguments, its
 * context, or the memory of its row.
 */
import {
  CorrectableError,
  isCorrectableError,
} from '../../../correctable/errors.ts';
import type { Codec, EncodedMessage } from '../../../protocol/codec/codec.ts';
import { toWellFormed } from '../../../protocol/codec/tagged-values.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import type { Outlet, RepeatableWrite } from '../clients/client-table.ts';
import { createViewMessage } from './view-messages.ts';

/** What is sent of an update whose result there was no room to keep. */
const RESULT_NOT_RETAINED =
  'the write took effect; its result is not kept, since too much waits for an ack of this client';

/** An update that ended with a view or a failure. */
export class CompletedWrite implements RepeatableWrite {
  readonly #id: number;
  /**
   * What was taken for it; none where it ended with a view for which there was
   * no room.
   */
  #reply: RetainedReply | undefined;

  /** @param reply for which there is room, and which counts already */
  constructor(id: number, reply: RetainedReply | undefined) {
    this.#id = id;
    this.#reply = reply && copyReply(reply);
  }

  repeat(outlet: Outlet): void {
    const id = this.#id;
    const reply = this.#reply;
    if (reply === undefined)
      outlet.push(
        toFailMessage(id, new CorrectableError('UNKNOWN', RESULT_NOT_RETAINED)),
      );
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
  /** What takes no memory of its own need not be kept in its encoded form. */
  | {
      readonly value: SizedValue;
      readonly level: number;
      readonly seq: number;
      readonly isFinal?: boolean;
    };

/**
 * Values of a fixed size. A string may be a part of a large one, and keep all
 * of that.
 */
export type SizedValue = null | undefined | boolean | number;

/** How much is kept of the message of a failure for which there is no room. */
const MAX_SHORT_TEXT_LENGTH = 96;
/** How long such a row may be where it says more than a message. */
const MAX_SHORT_FAILURE_LENGTH = 256;

export function hasFixedSize(value: unknown): value is SizedValue {
  return (
    value === null ||
    value === undefined ||
    typeof value === 'boolean' ||
    typeof value === 'number'
  );
}

/** The memory that the reply takes, in bytes. */
export function measureReply(reply: RetainedReply | undefined): number {
  return reply !== undefined && 'message' in reply ? reply.message.length : 0;
}

/**
 * The same reply in memory of its own: a small one would keep all of the block
 * that it was written in.
 */
function copyReply(reply: RetainedReply): RetainedReply {
  if (!('message' in reply)) return reply;
  const { message } = reply;
  if (typeof message === 'string') {
    // Text that was put together keeps its parts, and what those are parts of,
    // until one of its characters is read.
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

/** A failure in few bytes, whatever it says. */
export function encodeShortFailure(
  id: number,
  error: unknown,
  codec: Codec,
): RetainedReply {
  const short = isCorrectableError(error) ? shortenError(error) : error;
  const row = codec.encodeMessage(toFailMessage(id, short));
  if (
    !isCorrectableError(short) ||
    short.domain === undefined ||
    row.length <= MAX_SHORT_FAILURE_LENGTH
  ) {
    return { message: row };
  }
  const { name } = short.domain;
  // A client that gets `DOMAIN` reads its data: another code if that is gone.
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
