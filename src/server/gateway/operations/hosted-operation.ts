/**
 * One operation of a client at the hosted binding. If the client has the encoded value of a view
 * already, the view travels as `confirm`, without a payload (Correctables, OSDI 2016, §5.2). The
 * operation's own `equals` is not used.
 */
import {
  type BindingSession,
  type Sink,
  type ViewDetails,
  mergeDetails,
} from '../../../correctable/binding.ts';
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { EncodedField, type EncodedMessage } from '../../../protocol/codec/codec.ts';
import { EncodingSink } from '../../../protocol/hosting.ts';
import { confirm } from '../../../protocol/messages/confirm.ts';
import { encodeMessageOf } from '../../../protocol/messages/define-message.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import type { Outlet, RepeatableOperation } from '../clients/client-table.ts';
import type { ConnectionLoad } from '../limits/in-flight-load.ts';
import { OVERLOADED_RETRY_MS } from '../limits/limits.ts';
import { ignoreRejection } from './call-hook.ts';
import { isConfirmable, type ConfirmableView } from './confirmable-views.ts';
import { HeldViews } from './held-views.ts';
import { HostedContext, type SignalEvents } from './hosted-context.ts';
import type { OperationFigures } from './operation-stats.ts';
import { truncateError, sanitizeError } from './sanitize-error.ts';
import type { SubmissionOwner, SubmissionOptions } from './submission-types.ts';
import {
  createConfirmMessage,
  coversDetails,
  encodeView,
  createTail,
  createViewMessage,
} from './view-messages.ts';

/** The failure of a write whose result can neither be sent now nor retained. */
const RESULT_NOT_SENT =
  'the write took effect; its result was not sent, since too much waits to be sent to this client';

/** The view with which an operation ends. */
export interface LastView {
  readonly seq: number;
  readonly level: number;
  readonly value: unknown;
  readonly details: ViewDetails | undefined;
}

/** Memory for a held view beside its message, in bytes. */
const CONFIRMABLE_VIEW_BYTES = 128;

export class HostedOperation
  extends EncodingSink
  implements Sink, RepeatableOperation, SignalEvents
{
  readonly id: number;
  readonly isWrite: boolean;
  /** What the hosted binding reads about the operation. */
  readonly context: HostedContext;
  readonly #owner: SubmissionOwner;
  readonly #options: SubmissionOptions;
  readonly #strongest: number;
  #outlet: Outlet | undefined;
  /**
   * Views that the store or the gateway may confirm. Created for the first view that is not the
   * last.
   */
  #views: HeldViews | undefined;
  #hasEnded = false;
  #isAwaited = false;
  #viewCount = 0;
  /**
   * After a repetition, every view carries its payload: the client may have missed the view to
   * which a confirmation would refer.
   */
  #isRepeated = false;
  /**
   * The figures that count the operation. Without a contract they are known from its first view on.
   */
  #ownFigures: OperationFigures | undefined;
  /** Whether no client waits for it any more. */
  #isAbandoned = false;

  constructor(
    owner: SubmissionOwner,
    options: SubmissionOptions,
    outlet: Outlet,
    session: BindingSession | undefined,
    trace: unknown,
  ) {
    super();
    this.id = options.id;
    this.isWrite = options.isWrite;
    this.context = new HostedContext(owner, options, session, trace, this);
    this.#options = options;
    this.#owner = owner;
    this.#ownFigures = options.figures;
    this.#strongest = options.strongest;
    this.#outlet = outlet;
  }

  /** The store returned a promise: the operation ends when it settles. */
  awaitPromise(): void {
    this.#isAwaited = true;
  }

  view(value: unknown, level: string, details?: ViewDetails): number {
    const seq = this.#viewCount++;
    try {
      const index = this.#accept(level);
      if (index === undefined || this.#isWasted(index, details)) return seq;
      this.#countView(index);
      // This is the only view of the operation. No confirmation can refer to it, so only the
      // message is needed.
      if (this.#views === undefined && this.#isLast(index, details))
        this.#finish(value, index, seq, details);
      else this.#showView(value, index, seq, details);
    } catch (error) {
      this.#onBroken(error);
    }
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    try {
      const index = this.#accept(level);
      if (index === undefined || this.#isWasted(index, details)) return;
      this.#countView(index);
      this.#confirm(index, seq, details);
    } catch (error) {
      this.#onBroken(error);
    }
  }

  fail(error: unknown, level?: string): void {
    try {
      const index = level === undefined ? this.#strongest : this.#accept(level);
      if (index !== undefined) this.#fail(error, index);
    } catch (problem) {
      this.#onBroken(problem);
    }
  }

  /**
   * Called when the binding has ended the operation. If there is no final view by now, the
   * operation fails.
   */
  close(): void {
    if (this.#hasEnded) return;
    if (this.#isOver()) return this.#leave();
    this.fail(
      new CorrectableError(
        'CLOSED_WITHOUT_FINAL',
        'the store ended the operation without a final view',
      ),
    );
  }

  repeat(outlet: Outlet, load: ConnectionLoad): void {
    this.#outlet = outlet;
    this.#isRepeated = true;
    this.#options.slot.moveTo(load);
    this.#views?.forEach((view) => {
      view.sentSeq = undefined;
      this.#emit(view);
    });
  }

  /** Detaches the operation from its connection, which is closed. The client may reconnect. */
  detach(): void {
    this.#outlet = undefined;
  }

  /** Detaches the client: no client wants the views any more. */
  abandon(): void {
    this.#outlet = undefined;
    this.#isAbandoned = true;
    if (!this.isWrite) this.#release();
    const hasReadSignal = this.context.abort();
    if (hasReadSignal) this.#leaveUnlessAwaited();
  }

  onAbortedSignalRead(): void {
    this.#leaveUnlessAwaited();
  }

  onListenerThrew(error: unknown): void {
    this.#reportAnomaly('a listener of the store failed', error);
  }

  #finish(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    let message: EncodedMessage;
    try {
      message = this.#encode(level, seq, value, details);
    } catch (error) {
      return this.#onUnsendable(error, level);
    }
    return this.#deliver(message, { value, level, seq, details });
  }

  #showView(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    const view: ConfirmableView = {
      seq,
      level,
      value: '',
      details,
      sentSeq: undefined,
      sentDetails: undefined,
      bytes: 0,
    };
    try {
      view.value = this.#owner.codec.encodeValue(value);
      // A confirmation cannot express "final" below the requested level: such a final view is sent
      // in full.
      const isLow = details?.final === true && level < this.#strongest;
      const same = this.#isRepeated || isLow ? undefined : this.#views?.findSame(view);
      if (same !== undefined) this.#emitConfirm(view, same, details);
      else if (this.#isLast(level, details)) this.#conclude(view);
      else this.#emit(view);
    } catch (error) {
      return this.#onUnsendable(error, level, seq);
    }
    this.#hold(view);
  }

  #confirm(level: number, seq: number, details: ViewDetails | undefined): void {
    const known = this.#views?.get(seq);
    if (known === undefined) {
      const message = `the store confirmed view ${seq}, which it never gave, or long ago`;
      return this.#fail(new CorrectableError('PROTOCOL', message), this.#strongest);
    }
    if (!isConfirmable(known)) return this.#onUnsendable(known.error, level);
    const combined =
      known.details && details ? mergeDetails(known.details, details) : (details ?? known.details);
    const view: ConfirmableView = { ...known, level, details: combined };
    try {
      if (details?.final === true && level < this.#strongest) return this.#conclude(view);
      const target = this.#views?.findSentTarget(known);
      // If the client has exactly the store's view, the new details are all that is sent.
      if (target === known && known.sentDetails === known.details)
        this.#emitConfirm(view, target, details);
      else if (target !== undefined && coversDetails(view.details, target.sentDetails)) {
        this.#emitConfirm(view, target, view.details);
      } else if (level >= this.#strongest) this.#conclude(view);
      else this.#emit(view);
    } catch (error) {
      return this.#onUnsendable(error, level);
    }
    return this.#hold(view);
  }

  /**
   * Handles a failure. It ends the operation, unless only a level below the strongest one failed.
   */
  #fail(error: unknown, level: number): void {
    if (this.#hasEnded) return this.#reportAnomaly('a failure after the end', error);
    if (this.#isOver()) return this.#leave();
    this.#reportAnomaly('an operation failed', error);
    const reported = truncateError(sanitizeError(error), this.#owner);
    this.#figures.countFailure(level, reported);
    if (level < this.#strongest) return this.#outlet?.push(toFailMessage(this.id, reported, level));
    return this.#endWith(reported);
  }

  #endWith(error: unknown): void {
    const message = this.#owner.codec.encodeMessage(toFailMessage(this.id, error));
    this.#outlet?.pushEncoded(message);
    this.#release();
    this.keepFailure(message, error);
    this.#end();
  }

  get #figures(): OperationFigures {
    const { stats, name } = this.#options;
    return this.#ownFigures ?? stats.find(name);
  }

  #countView(level: number): void {
    const { stats, name, receivedAt } = this.#options;
    this.#ownFigures ??= stats.open(name);
    this.#ownFigures.countView(level, systemClock.now() - receivedAt);
  }

  /** Counts whether the final view has the value of the last preliminary one, if there was one. */
  #countOutcome({ value }: ConfirmableView): void {
    const isSame = this.#views?.isLatest(value);
    if (isSame === true) this.#figures.confirmed += 1;
    if (isSame === false) this.#figures.corrected += 1;
  }

  /**
   * Returns whether this is an abandoned read: no client waits for it, and its reply is not kept.
   */
  #isOver(): boolean {
    return this.#isAbandoned && !this.isWrite;
  }

  /** Whether no view can follow this one. */
  #isLast(level: number, details: ViewDetails | undefined): boolean {
    return level >= this.#strongest || details?.final === true;
  }

  /**
   * Returns whether no client wants a view at this level. If the view is the last one, the
   * operation ends.
   */
  #isWasted(level: number, details: ViewDetails | undefined): boolean {
    if (!this.#isOver()) return false;
    if (this.#isLast(level, details)) this.#leave();
    return true;
  }

  /** Returns the index of the level, or `undefined` if the call comes too late. */
  #accept(level: string): number | undefined {
    const index = this.#owner.levels.indexOf(level);
    if (!this.#hasEnded && index >= 0) return index;
    this.#reportAnomaly(index >= 0 ? 'a view after the end' : 'an unknown level');
    return undefined;
  }

  #emit(view: ConfirmableView): void {
    const message = this.createMessage(view);
    view.bytes = CONFIRMABLE_VIEW_BYTES + message.length;
    if (this.#outlet === undefined) return;
    if (this.#outlet.isFull)
      return this.#outlet.push(toFailMessage(this.id, overfullError(), view.level));
    this.#outlet.pushEncoded(message);
    // After the operation was resent, no message refers to an earlier one.
    if (this.#isRepeated) return;
    view.sentSeq = view.seq;
    view.sentDetails = view.details;
  }

  /** Sends that the value of `target` holds at the level of `view` too, with these details. */
  #emitConfirm(
    view: ConfirmableView,
    target: ConfirmableView,
    details: ViewDetails | undefined,
  ): void {
    const message = createConfirmMessage(
      this.id,
      view.level,
      target.sentSeq as number,
      createTail(details, this.context.session),
    );
    const encoded = encodeMessageOf(confirm, message, this.#owner.codec);
    const isLast = view.level >= this.#strongest;
    const kept = isLast ? this.encodeKept(view) : undefined;
    this.#outlet?.pushEncoded(encoded);
    if (isLast) this.#countOutcome(view);
    if (isLast) return this.#endAs(kept, view);
    const detailsBytes = details === view.details ? encoded.length : this.#measureDetails(view);
    view.bytes = CONFIRMABLE_VIEW_BYTES + view.value.length + detailsBytes;
    view.sentSeq = target.sentSeq;
    view.sentDetails = view.details;
    target.sentDetails = view.details;
    return undefined;
  }

  #conclude(view: ConfirmableView): void {
    const message = this.createMessage(view);
    this.#countOutcome(view);
    this.#deliver(message, view);
  }

  #deliver(message: EncodedMessage, view: LastView): void {
    if (this.#outlet?.isFull === true && !this.hasRoomFor(message, view)) {
      const error = this.isWrite
        ? new CorrectableError('UNKNOWN', RESULT_NOT_SENT)
        : overfullError();
      return this.#fail(error, this.#strongest);
    }

    this.#outlet?.pushEncoded(message);
    return this.#endAs(message, view);
  }

  /** Ends with a view. */
  #endAs(message: EncodedMessage | undefined, view: LastView): void {
    this.#release();
    this.keepView(message, view);
    this.#end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#leave();
    const outlet = this.#outlet;
    this.#outlet = undefined;
    outlet?.onEnded(this.id);
  }

  /**
   * Ends an aborted operation, unless the store returned a promise. A store that has read the
   * aborted signal may stop without an answer.
   */
  #leaveUnlessAwaited(): void {
    if (!this.#isAwaited) this.#leave();
  }

  /** Called when the store has ended the operation. Releases its memory and its session. */
  #leave(): void {
    this.#options.slot.release();
    const session = this.context.release();
    if (session === undefined) return;
    try {
      ignoreRejection(session.close?.());
    } catch (error) {
      this.#reportAnomaly('a session could not be closed', error);
    }
  }

  /**
   * Keeps the view, so that the store can confirm it, and so that it can be sent again if the
   * operation is resent.
   */
  #hold(view: ConfirmableView): void {
    if (!this.#hasEnded) this.#openViews().hold(view, overfullError);
  }

  #openViews(): HeldViews {
    return (this.#views ??= new HeldViews(this.#owner.record));
  }

  #release(): void {
    this.#views?.release();
    this.#views = undefined;
  }

  /**
   * Handles a view that cannot be sent: its level fails. A write was executed all the same, which
   * the failure reports.
   */
  #onUnsendable(problem: unknown, level: number, seq?: number): void {
    const isTyped = problem instanceof CorrectableError;
    const reason = isTyped ? problem.message : 'the server made a mistake';
    if (!isTyped) this.#reportAnomaly('a view could not be sent', problem);
    if (level < this.#strongest) {
      const error = isTyped ? problem : new CorrectableError('FINAL_FAILED', reason);
      if (seq !== undefined) this.#openViews().drop(seq, error);
      return this.#fail(error, level);
    }
    if (!this.isWrite) return this.#fail(problem, this.#strongest);
    const message = `the write took effect, but its result cannot be sent: ${reason}`;
    const field = isTyped ? problem.field : undefined;
    return this.#fail(new CorrectableError('UNKNOWN', message, { field }), this.#strongest);
  }

  /** Returns the size of the view's details, in bytes. */
  #measureDetails({ level, details }: ConfirmableView): number {
    return encodeMessageOf(
      confirm,
      createConfirmMessage(this.id, level, 0, details),
      this.#owner.codec,
    ).length;
  }

  /** Returns whether there is room to keep the reply for a resend. */
  protected hasRoomFor(_message: EncodedMessage, _view: LastView): boolean {
    return false;
  }

  /**
   * Encodes the whole view in place of a confirmation, if the reply is kept. Called before the
   * confirmation is sent, because the encoding may fail.
   */
  protected encodeKept(_view: ConfirmableView): EncodedMessage | undefined {
    return undefined;
  }

  /** Called when the operation ends with this view. A subclass may keep it. */
  protected keepView(_message: EncodedMessage | undefined, _view: LastView): void {}

  /** Called when the operation ends with this failure. A subclass may keep it. */
  protected keepFailure(_message: EncodedMessage, _error: unknown): void {}

  /** Called when the operation ends with a failure that cannot be encoded. */
  protected keepNothing(): void {}

  protected createMessage({ seq, level, value, details }: ConfirmableView): EncodedMessage {
    return this.#encode(level, seq, new EncodedField(value), details);
  }

  #encode(
    level: number,
    seq: number,
    value: unknown,
    details: ViewDetails | undefined,
  ): EncodedMessage {
    return encodeView(
      createViewMessage(this.id, level, seq, value, createTail(details, this.context.session)),
      this.#owner,
    );
  }

  /** The gateway has failed. Its error must not reach the store. */
  #onBroken(error: unknown): void {
    this.#reportAnomaly('the gateway failed at a view', error);
    if (this.#hasEnded) return;
    const reported = this.isWrite
      ? new CorrectableError(
          'UNKNOWN',
          'the server made a mistake; the write may have taken effect',
        )
      : new CorrectableError('FINAL_FAILED', 'the server made a mistake');
    try {
      this.#endWith(reported);
    } catch {
      // Even the failure cannot be encoded. Sending the original failure closes the connection.
      this.#outlet?.push(toFailMessage(this.id, reported));
      this.keepNothing();
      this.#end();
    }
  }

  #reportAnomaly(description: string, error?: unknown): void {
    this.#owner.onAnomaly(this.#options.name, description, error);
  }
}

function overfullError(): CorrectableError {
  const message = 'too much waits to be sent to this client';
  return new CorrectableError('OVERLOADED', message, {
    retryAfterMs: OVERLOADED_RETRY_MS,
  });
}
