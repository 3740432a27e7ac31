/**
 * A write whose reply is kept for the client's retries. A store that is exactly once answers
 * retries itself, so its writes are plain `HostedOperation`s.
 */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { EncodedMessage } from '../../../protocol/codec/codec.ts';
import type { Outlet, RepeatableWrite } from '../clients/client-table.ts';
import type { ConfirmableView } from './confirmable-views.ts';
import { HostedOperation, type LastView } from './hosted-operation.ts';
import {
  CompletedWrite,
  encodeShortFailure,
  hasFixedSize,
  measureReply,
  type RetainedReply,
} from './retained-reply.ts';
import type { SubmissionOptions, SubmissionOwner } from './submission-types.ts';

export class RetainedWrite extends HostedOperation implements RepeatableWrite {
  readonly #owner: SubmissionOwner;
  /** Whether the reply will not be requested again. */
  #isForgotten = false;

  constructor(
    owner: SubmissionOwner,
    options: SubmissionOptions,
    outlet: Outlet,
    session: BindingSession | undefined,
    trace: unknown,
  ) {
    super(owner, options, outlet, session, trace);
    this.#owner = owner;
  }

  /**
   * Marks the reply as not needed any more. The memory of its views is released when the write
   * ends.
   */
  forget(): number {
    this.#isForgotten = true;
    return 0;
  }

  /** Checks the room without reserving it: `keepView` reserves it. */
  protected override hasRoomFor(message: EncodedMessage, view: LastView): boolean {
    if (this.#isForgotten) return false;
    const bytes = measureReply(this.#toReply(message, view));
    if (!this.#owner.record.tryReserve(bytes)) return false;
    this.#owner.record.release(bytes);
    return true;
  }

  protected override encodeKept(view: ConfirmableView): EncodedMessage | undefined {
    return this.#isForgotten ? undefined : this.createMessage(view);
  }

  /** Keeps the view if there is room for it. */
  protected override keepView(message: EncodedMessage | undefined, view: LastView): void {
    const reply = message === undefined ? undefined : this.#toReply(message, view);
    const bytes = measureReply(reply);
    const isKept = bytes === 0 || (!this.#isForgotten && this.#owner.record.tryReserve(bytes));
    this.#keep(isKept ? reply : undefined);
  }

  /**
   * Keeps the failure in any case. If there is too little room, keeps it shortened, because a
   * resend must not be answered as if the write had taken effect.
   */
  protected override keepFailure(message: EncodedMessage, error: unknown): void {
    if (this.#isForgotten) return;
    const { record, codec } = this.#owner;
    if (record.tryReserve(message.length)) return this.#keep({ message });
    const reply = encodeShortFailure(this.id, error, codec);
    record.reserve(measureReply(reply));
    this.#keep(reply);
  }

  protected override keepNothing(): void {
    this.#keep(undefined);
  }

  /**
   * Converts the view to a reply. A value of fixed size without details needs no additional memory.
   */
  #toReply(message: EncodedMessage, { value, level, seq, details }: LastView): RetainedReply {
    const isBare =
      this.context.session === undefined &&
      details?.version === undefined &&
      details?.meta === undefined;
    return isBare && hasFixedSize(value)
      ? { value, level, seq, isFinal: details?.final === true }
      : { message };
  }

  /** @param reply memory for it is reserved already */
  #keep(reply: RetainedReply | undefined): void {
    if (this.#isForgotten) return;
    this.#owner.record.onEnded(this, new CompletedWrite(this.id, reply));
  }
}
