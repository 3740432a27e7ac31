/**
 * One operation in the hands of the hosted binding: the sink that turns its views into rows, and the context that it
 * runs in. A view whose encoded value the client already has travels as `confirm`, without payload (Correctables, OSDI
 * 2016, §5.2). The operation's own `equals` plays no part in that: it says what means the same, not what is the same.
 */
import type {
  BindingSession,
  InvocationContext,
  Sink,
  SubmissionOrigin,
  ViewDetails,
  Whereabouts,
} from '../../../correctable/binding.ts';
import { mergeDetails } from '../../../correctable/binding.ts';
import { systemClock, wallAheadMs } from '../../../correctable/clock.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { EncodedField, type EncodedRow } from '../../../protocol/codec/codec.ts';
import { EncodingSink } from '../../../protocol/codec/encoding-sink.ts';
import { confirm } from '../../../protocol/rows/confirm.ts';
import { encodeAs } from '../../../protocol/rows/define-row.ts';
import type { Move } from '../../../protocol/rows/submit.ts';
import { failRow } from '../../../protocol/wire-errors.ts';
import { EndedUpdate, bytesOf, isSized, shortFailure, type KeptReply } from './kept-reply.ts';
import { guardedController } from './guarded-signal.ts';
import { HeldViews, isHeld, type HeldView } from './held-views.ts';
import { absorb } from './hooks.ts';
import { OVERLOADED_RETRY_MS } from '../limits/limits.ts';
import type { Load, LoadPlace } from '../limits/load.ts';
import type { Outlet, RepeatableUpdate, SubmissionOwner, SubmissionParts } from './submission-parts.ts';
import { fittingError, toldError } from './told-error.ts';
import { confirmRow, covers, encodeView, tailOf, viewRow } from './view-rows.ts';

/** The ending of an update whose result can neither be sent now nor asked for later. */
const NOT_TOLD = 'the update took effect; its result is not told, since too much waits to be sent to this client';

/** What a view that is held takes beside what is written of it, in bytes. */
const HELD_BYTES = 128;

/** An operation under way. */
export class HostedOperation extends EncodingSink implements Sink, InvocationContext, RepeatableUpdate {
  readonly id: number;
  session: BindingSession | undefined;
  trace: unknown;
  /** The store's to set. */
  whereabouts: Whereabouts | undefined = undefined;
  readonly #owner: SubmissionOwner;
  readonly #name: string;
  readonly isUpdate: boolean;
  readonly #move: Move | undefined;
  readonly #idempotencyKey: string | undefined;
  readonly #strongest: number;
  /** When its time is up, by the clock of the process. */
  readonly #dueAt: number | undefined;
  #outlet: Outlet | undefined;
  /** Those that the store or we may confirm; made when a view is not the last. */
  #views: HeldViews | undefined;
  #hasEnded = false;
  /** Its own until the store is done with it, whether anybody waits or not. */
  readonly #place: LoadPlace;
  #isAwaited = false;
  /** Whether its reply is to be kept, since the client may ask for it again. */
  #isKept: boolean;
  /** What is kept of it at present. */
  #bytes = 0;
  #count = 0;
  /** After a repetition every view carries its payload: the client may have missed the one to refer to. */
  #repeated = false;
  #controller: AbortController | undefined;
  /** Nobody waits for it any more. */
  #abandoned = false;

  constructor(owner: SubmissionOwner, parts: SubmissionParts, outlet: Outlet) {
    super();
    this.id = parts.id;
    this.#dueAt = parts.deadlineAt;
    this.trace = parts.trace;
    this.session = parts.session;
    this.#move = parts.move;
    this.#idempotencyKey = parts.idempotencyKey;
    this.#owner = owner;
    this.#name = parts.name;
    this.isUpdate = parts.isUpdate;
    this.#isKept = parts.isKept;
    this.#strongest = parts.strongest;
    this.#place = parts.place;
    this.#outlet = outlet;
  }

  get deadlineAt(): number | undefined {
    return this.#dueAt === undefined ? undefined : this.#dueAt + wallAheadMs(systemClock);
  }

  get operationId(): string {
    return `${this.#owner.record.key}/${this.id}`;
  }

  /** With its principal in front, so that none gets the reply of another. No client in this process can give such a key. */
  get idempotencyKey(): string | undefined {
    const { key } = this.#owner.record;
    return this.#idempotencyKey === undefined
      ? undefined
      : `\0${key.slice(0, key.indexOf('/') + 1)}${this.#idempotencyKey}`;
  }

  get origin(): SubmissionOrigin {
    const { key, acked } = this.#owner.record;
    return { client: key, sequence: this.id, acknowledged: acked, home: this.#move?.[0], hop: this.#move?.[1] };
  }

  get signal(): AbortSignal {
    if (this.#abandoned) {
      this.#mayHaveStopped();
      return AbortSignal.abort();
    }
    this.#controller ??= guardedController((error) => this.#anomaly('a listener of the store failed', error));
    return this.#controller.signal;
  }

  /** The store has given a promise, whose end is the end of the operation. */
  awaits(): void {
    this.#isAwaited = true;
  }

  update(value: unknown, level: string, details?: ViewDetails): number {
    const seq = this.#count++;
    try {
      const index = this.#accept(level);
      if (index === undefined || this.#isWasted(index, details)) return seq;
      // Nothing to confirm, and nothing after it that could confirm it: the row is all that is ever needed.
      if (this.#views === undefined && this.#isLast(index, details)) this.#finish(value, index, seq, details);
      else this.#show(value, index, seq, details);
    } catch (error) {
      this.#broke(error);
    }
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    try {
      const index = this.#accept(level);
      if (index !== undefined && !this.#isWasted(index, details)) this.#confirm(index, seq, details);
    } catch (error) {
      this.#broke(error);
    }
  }

  fail(error: unknown, level?: string): void {
    try {
      const index = level === undefined ? this.#strongest : this.#accept(level);
      if (index !== undefined) this.#fail(error, index);
    } catch (problem) {
      this.#broke(problem);
    }
  }

  /** The binding is done with the operation; without a final by now there will be none. */
  close(): void {
    if (this.#hasEnded) return;
    if (this.#isOver()) return this.#leave();
    this.fail(new CorrectableError('CLOSED_WITHOUT_FINAL', 'the store ended the operation without a final view'));
  }

  repeat(outlet: Outlet, load: Load): void {
    this.#outlet = outlet;
    this.#repeated = true;
    this.#place.moveTo(load);
    this.#views?.forEach((view) => {
      view.at = undefined;
      this.#emit(view);
    });
  }

  detach(): void {
    this.#outlet = undefined;
  }

  /** Nobody wants the views any more. */
  abandon(): void {
    this.#outlet = undefined;
    this.#abandoned = true;
    if (!this.isUpdate) this.#release();
    if (this.#controller === undefined) return;
    this.#controller.abort();
    this.#mayHaveStopped();
  }

  /** What is held meanwhile is given back at the end. */
  forget(): number {
    this.#isKept = false;
    return 0;
  }

  #finish(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    let row: EncodedRow;
    try {
      row = this.#encode(level, seq, value, details);
    } catch (error) {
      return this.#cannotTell(error, level);
    }
    if (!this.#isKept) return this.#deliver(row);
    const isBare = this.session === undefined && details?.version === undefined && details?.meta === undefined;
    const isFinal = details?.final === true;
    return this.#deliver(row, isBare && isSized(value) ? { value, level, seq, isFinal } : { row });
  }

  #show(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    const view: HeldView = { seq, level, value: '', details, at: undefined, told: undefined, bytes: 0 };
    try {
      view.value = this.#owner.codec.encodeValue(value);
      // A confirmation cannot say that nothing more comes below what was asked for: such a final travels in full.
      const isLow = details?.final === true && level < this.#strongest;
      const same = this.#repeated || isLow ? undefined : this.#views?.sameAs(view);
      if (same !== undefined) this.#emitConfirm(view, same, details);
      else if (this.#isLast(level, details)) this.#conclude(view);
      else this.#emit(view);
    } catch (error) {
      return this.#cannotTell(error, level, seq);
    }
    this.#hold(view);
  }

  #confirm(level: number, seq: number, details: ViewDetails | undefined): void {
    const known = this.#views?.get(seq);
    if (known === undefined) {
      const message = `the store confirmed view ${seq}, which it never gave, or long ago`;
      return this.#fail(new CorrectableError('PROTOCOL', message), this.#strongest);
    }
    if (!isHeld(known)) return this.#cannotTell(known.error, level);
    const view: HeldView = { ...known, level, details: merged(known.details, details) };
    try {
      if (details?.final === true && level < this.#strongest) return this.#conclude(view);
      const target = this.#views?.targetOf(known);
      // Where the client has just what the store means, what is new is all there is to say.
      if (target === known && known.told === known.details) this.#emitConfirm(view, target, details);
      else if (target !== undefined && covers(view.details, target.told)) {
        this.#emitConfirm(view, target, view.details);
      } else if (level >= this.#strongest) this.#conclude(view);
      else this.#emit(view);
    } catch (error) {
      return this.#cannotTell(error, level);
    }
    return this.#hold(view);
  }

  /** Ends the operation as a whole, unless it failed only at a level below the strongest. */
  #fail(error: unknown, level: number): void {
    if (this.#hasEnded) return this.#anomaly('a failure after the end', error);
    if (this.#isOver()) return this.#leave();
    this.#anomaly('an operation failed', error);
    const told = fittingError(toldError(error), this.#owner);
    if (level < this.#strongest) return this.#outlet?.push(failRow(this.id, told, level));
    return this.#endWith(told);
  }

  /** A failure is kept in any case: who asks again must not be told that the update took effect. */
  #endWith(error: unknown): void {
    const row = this.#owner.codec.encodeRow(failRow(this.id, error));
    this.#outlet?.pushEncoded(row);
    this.#release();
    this.#end(this.#isKept ? this.#kept(row, error) : undefined);
  }

  #kept(row: EncodedRow, error: unknown): KeptReply {
    if (this.#owner.record.take(row.length)) return { row };
    const reply = shortFailure(this.id, error, this.#owner.codec);
    this.#owner.record.charge(bytesOf(reply));
    return reply;
  }

  /** Whether nobody waits for it and nothing of it is kept: a read that was abandoned. */
  #isOver(): boolean {
    return this.#abandoned && !this.isUpdate;
  }

  /** Whether nothing more can come after such a view. */
  #isLast(level: number, details: ViewDetails | undefined): boolean {
    return level >= this.#strongest || details?.final === true;
  }

  /** Whether nobody wants a view at this level; if it is the last one, the store is done. */
  #isWasted(level: number, details: ViewDetails | undefined): boolean {
    if (!this.#isOver()) return false;
    if (this.#isLast(level, details)) this.#leave();
    return true;
  }

  /** The index of the level, if a call of the sink still counts. */
  #accept(level: string): number | undefined {
    const index = this.#owner.levels.indexOf(level);
    if (!this.#hasEnded && index >= 0) return index;
    this.#anomaly(index >= 0 ? 'a view after the end' : 'an unknown level');
    return undefined;
  }

  #emit(view: HeldView): void {
    const row = this.#rowOf(view);
    view.bytes = HELD_BYTES + row.length;
    if (this.#outlet === undefined) return;
    if (this.#outlet.isFull) return this.#outlet.push(failRow(this.id, overfull(), view.level));
    this.#outlet.pushEncoded(row);
    // After a repetition nothing refers to an earlier row.
    if (this.#repeated) return;
    view.at = view.seq;
    view.told = view.details;
  }

  /** Says that the value of `target` holds at the level of `view` too, with these details. */
  #emitConfirm(view: HeldView, target: HeldView, details: ViewDetails | undefined): void {
    const row = confirmRow(this.id, view.level, target.at as number, tailOf(details, this.session));
    const encoded = encodeAs(confirm, row, this.#owner.codec);
    const isLast = view.level >= this.#strongest;
    const reply: KeptReply | undefined = isLast && this.#isKept ? { row: this.#rowOf(view) } : undefined;
    this.#outlet?.pushEncoded(encoded);
    if (isLast) return this.#endAs(reply);
    view.bytes = HELD_BYTES + view.value.length + (details === view.details ? encoded.length : this.#sizeOf(view));
    view.at = target.at;
    view.told = view.details;
    target.told = view.details;
    return undefined;
  }

  /** Sends the last view in full. */
  #conclude(view: HeldView): void {
    const row = this.#rowOf(view);
    this.#deliver(row, { row });
  }

  #deliver(row: EncodedRow, reply?: KeptReply): void {
    if (this.#outlet?.isFull === true && !(this.#isKept && this.#canKeep(bytesOf(reply)))) {
      return this.#fail(this.isUpdate ? new CorrectableError('UNKNOWN', NOT_TOLD) : overfull(), this.#strongest);
    }
    this.#outlet?.pushEncoded(row);
    return this.#endAs(reply);
  }

  #canKeep(bytes: number): boolean {
    if (!this.#owner.record.take(bytes)) return false;
    this.#owner.record.give(bytes);
    return true;
  }

  /** Ends with a view, whose reply is kept if there is room for it. */
  #endAs(reply: KeptReply | undefined): void {
    this.#release();
    const bytes = bytesOf(reply);
    const isKept = this.#isKept && (bytes === 0 || this.#owner.record.take(bytes));
    this.#end(isKept ? reply : undefined);
  }

  /** Ends; what `reply` takes has been taken. */
  #end(reply: KeptReply | undefined): void {
    this.#hasEnded = true;
    if (this.#isKept) this.#owner.record.ended(this, new EndedUpdate(this.id, reply));
    this.#leave();
    const outlet = this.#outlet;
    this.#outlet = undefined;
    outlet?.ended(this.id);
  }

  /** Who takes the signal is told, and may say nothing more; of a promise the end is waited for. */
  #mayHaveStopped(): void {
    if (!this.#isAwaited) this.#leave();
  }

  /** The store is done with it: nothing that came with it is kept, nor what the store has made of that. */
  #leave(): void {
    this.#place.leave();
    const { session } = this;
    this.session = this.trace = this.whereabouts = this.#controller = undefined;
    if (session !== undefined) this.#closeSession(session);
  }

  #closeSession(session: BindingSession): void {
    try {
      absorb(session.close?.());
    } catch (error) {
      this.#anomaly('a session could not be closed', error);
    }
  }

  /** Keeps the view for a confirmation by the store, and for a repetition. */
  #hold(view: HeldView): void {
    if (this.#hasEnded) return;
    const views = this.#roomFor(view.seq);
    const hasRoom = this.#owner.record.take(view.bytes);
    if (hasRoom) this.#bytes += view.bytes;
    views.set(hasRoom ? view : { seq: view.seq, error: overfull() });
  }

  /** The views that are held, without the one that view `seq` takes the place of. */
  #roomFor(seq: number): HeldViews {
    const views = (this.#views ??= new HeldViews());
    const freed = views.makeRoom(seq);
    if (freed > 0) this.#owner.record.give(freed);
    this.#bytes -= freed;
    return views;
  }

  #release(): void {
    this.#views?.clear();
    this.#views = undefined;
    if (this.#bytes > 0) this.#owner.record.give(this.#bytes);
    this.#bytes = 0;
  }

  /**
   * A view cannot be sent. Below the strongest level only that level fails. What an update has done is done: that is
   * told, and why its result is not.
   */
  #cannotTell(problem: unknown, level: number, seq?: number): void {
    const isTyped = problem instanceof CorrectableError;
    const why = isTyped ? problem.message : 'the server made a mistake';
    if (!isTyped) this.#anomaly('a view could not be sent', problem);
    if (level < this.#strongest) {
      const error = isTyped ? problem : new CorrectableError('FINAL_FAILED', why);
      if (seq !== undefined) this.#roomFor(seq).set({ seq, error });
      return this.#fail(error, level);
    }
    if (!this.isUpdate) return this.#fail(problem, this.#strongest);
    const message = `the update took effect, but its result cannot be told: ${why}`;
    return this.#fail(
      new CorrectableError('UNKNOWN', message, { field: isTyped ? problem.field : undefined }),
      this.#strongest,
    );
  }

  /** What the details of the view take, in bytes. */
  #sizeOf({ level, details }: HeldView): number {
    return encodeAs(confirm, confirmRow(this.id, level, 0, details), this.#owner.codec).length;
  }

  #rowOf({ seq, level, value, details }: HeldView): EncodedRow {
    return this.#encode(level, seq, new EncodedField(value), details);
  }

  #encode(level: number, seq: number, value: unknown, details: ViewDetails | undefined): EncodedRow {
    return encodeView(viewRow(this.id, level, seq, value, tailOf(details, this.session)), this.#owner);
  }

  /** Nothing that happens here may reach the store. */
  #broke(error: unknown): void {
    this.#anomaly('the gateway failed at a view', error);
    if (this.#hasEnded) return;
    const told = this.isUpdate
      ? new CorrectableError('UNKNOWN', 'the server made a mistake; the update may have taken effect')
      : new CorrectableError('FINAL_FAILED', 'the server made a mistake');
    try {
      this.#endWith(told);
    } catch {
      // Not even that can be written, as the connection will see, which ends then.
      this.#outlet?.push(failRow(this.id, told));
      this.#end(undefined);
    }
  }

  #anomaly(what: string, error?: unknown): void {
    this.#owner.onAnomaly(this.#name, what, error);
  }
}

function merged(earlier: ViewDetails | undefined, later: ViewDetails | undefined): ViewDetails | undefined {
  return earlier === undefined || later === undefined ? (later ?? earlier) : mergeDetails(earlier, later);
}

function overfull(): CorrectableError {
  const message = 'too much waits to be sent to this client';
  return new CorrectableError('OVERLOADED', message, { retryAfterMs: OVERLOADED_RETRY_MS });
}
