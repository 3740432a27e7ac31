/**
 * Keeps the reply of one write for the client's retries. A store that is
 * exactly once answers retries itself, so its operations have no retention.
 */
import type { Codec, EncodedMessage } from '../../../protocol/codec/codec.ts';
import type {
  RepeatableWrite,
  SubmitterRecord,
} from '../clients/client-table.ts';
import {
  CompletedWrite,
  encodeShortFailure,
  measureReply,
  type RetainedReply,
} from './retained-reply.ts';

export interface ReplyRetentionOwner {
  readonly record: SubmitterRecord;
  readonly codec: Codec;
}

type OwnWrite = RepeatableWrite & { readonly id: number };

export class ReplyRetention {
  readonly #write: OwnWrite;
  readonly #owner: ReplyRetentionOwner;

  constructor(write: OwnWrite, owner: ReplyRetentionOwner) {
    this.#write = write;
    this.#owner = owner;
  }

  /** Whether there is room for the reply now. Reserves nothing. */
  hasRoomFor(reply: RetainedReply): boolean {
    const bytes = measureReply(reply);
    if (!this.#owner.record.tryReserve(bytes)) return false;
    this.#owner.record.release(bytes);
    return true;
  }

  /**
   * Ends the write with a view, whose reply is kept if there is room for it.
   */
  endWithView(reply: RetainedReply | undefined): void {
    const bytes = measureReply(reply);
    const isKept = bytes === 0 || this.#owner.record.tryReserve(bytes);
    this.end(isKept ? reply : undefined);
  }

  /**
   * Ends the write with a failure. It is kept in any case, if need be
   * shortened: a retry must not report that the write took effect.
   */
  endWithFailure(message: EncodedMessage, error: unknown): void {
    const { record, codec } = this.#owner;
    if (record.tryReserve(message.length)) return this.end({ message });
    const reply = encodeShortFailure(this.#write.id, error, codec);
    record.reserve(measureReply(reply));
    return this.end(reply);
  }

  /** @param reply memory for it is reserved already */
  end(reply: RetainedReply | undefined): void {
    const { id } = this.#write;
    this.#owner.record.onEnded(this.#write, new CompletedWrite(id, reply));
  }
}
