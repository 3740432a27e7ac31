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
} from '../../correctable/binding.ts';
import { systemClock, wallAheadMs } from '../../correctable/clock.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { mergeDetails } from '../../correctable/values.ts';
import { EncodedField, type EncodedRow } from '../../protocol/codec.ts';
import type { Move } from '../../protocol/submit.ts';
import { failRow } from '../../protocol/wire-errors.ts';
import { HeldViews, type HeldView } from './held-views.ts';
import { OVERLOADED_RETRY_MS } from './limits.ts';
import { apart, bytesOf, type Reply } from './reply.ts';
import type { Outlet, SubmissionOwner, SubmissionParts } from './submission-parts.ts';
import { toldError } from './told-error.ts';
import { CONFIRM_FIELDS, confirmRow, covers, encodeView, tailOf, viewRow } from './view-rows.ts';

/** The ending of an update whose reply could not be kept. */
const NOT_KEPT = 'the update took effect; its result is not kept, since too much waits for an ack of this client';

/** An operation under way, or ended with its reply kept for a repetition. */
export class Submission implements Sink, InvocationContext {
  readonly id: number;
  readonly session: BindingSession | undefined;
  readonly trace: unknown;
  readonly #owner: SubmissionOwner;
  readonly #name: string;
  readonly #isUpdate: boolean;
  readonly #move: Move | undefined;
  readonly #strongest: number;
  /** When its time is up, by the clock of the process. */
  readonly #dueAt: number | undefined;
  #outlet: Outlet | undefined;
  /** Those that the store or we may confirm; made when a view is not the last. */
  #views: HeldViews | undefined;
  #hasEnded = false;
  /** Of an update that has ended. */
  #reply: Reply | undefined;
  /** Nobody will ask for the reply again. */
  #isForgotten = false;
  /** What is kept of it at present. */
  #bytes = 0;
  #count = 0;
  /** After a repetition every view carries its payload: the client may have missed the one to refer to. */
  #repeated = false;
  #controller: AbortController | undefined;
  #abandoned = false;

  constructor(owner: SubmissionOwner, parts: SubmissionParts, outlet: Outlet) {
    this.id = parts.id;
    this.#dueAt = parts.deadlineAt;
    this.trace = parts.trace;
    this.session = parts.session;
    this.#move = parts.move;
    this.#owner = owner;
    this.#name = parts.name;
    this.#isUpdate = parts.isUpdate;
    this.#strongest = parts.strongest;
    this.#outlet = outlet;
  }

  get deadlineAt(): number | undefined {
    return this.#dueAt === undefined ? undefined : this.#dueAt + wallAheadMs(systemClock);
  }

  get operationId(): string {
    return `${this.#owner.key}/${this.id}`;
  }

  get origin(): SubmissionOrigin {
    const { key, acknowledged } = this.#owner;
    return { client: key, sequence: this.id, acknowledged, home: this.#move?.[0], hop: this.#move?.[1] };
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abandoned) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Whether a submission that has moved `hop` times supersedes this one: it has no result, and may never get one. */
  isSuperseded(hop: number): boolean {
    const hasResult = this.#reply !== undefined && !('row' in this.#reply && this.#reply.isFailure);
    return !hasResult && hop > (this.#move?.[1] ?? 0);
  }

  update(value: unknown, level: string, details?: ViewDetails): number {
    const seq = this.#count++;
    try {
      const index = this.#accept(level);
      if (index === undefined) return seq;
      // Nothing to confirm, and nothing after it that could confirm it: the row is all that is ever needed.
      if (index >= this.#strongest && this.#views === undefined) this.#finish(value, index, seq, details);
      else this.#show(value, index, seq, details);
    } catch (error) {
      this.#broke(error);
    }
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    try {
      const index = this.#accept(level);
      if (index !== undefined) this.#confirm(index, seq, details);
    } catch (error) {
      this.#broke(error);
    }
  }

  fail(error: unknown, level?: string): void {
    try {
      this.#fail(error, level === undefined ? -1 : this.#owner.levels.indexOf(level));
    } catch (problem) {
      this.#broke(problem);
    }
  }

  /** The binding is done with the operation; without a final by now there will be none. */
  close(): void {
    if (this.#hasEnded) return;
    this.fail(new CorrectableError('CLOSED_WITHOUT_FINAL', 'the store ended the operation without a final view'));
  }

  /** Sends the rows to a new connection, beginning with what is known already, in full. */
  repeat(outlet: Outlet): void {
    this.#outlet = outlet;
    this.#repeated = true;
    if (!this.#hasEnded) {
      this.#views?.forEach((view, seq) => {
        view.at = undefined;
        this.#emit(view, seq);
      });
      return;
    }
    const reply = this.#reply;
    this.#outlet = undefined;
    if (reply === undefined) outlet.push(failRow(this.id, new CorrectableError('UNKNOWN', NOT_KEPT)));
    else if ('row' in reply) outlet.pushEncoded(reply.row);
    else outlet.push(viewRow(this.id, reply.level, reply.seq, reply.scalar, undefined));
    outlet.ended(this.id);
  }

  /** The connection is gone, but its client may come back: what is held meanwhile is held by itself. */
  detach(): void {
    this.#outlet = undefined;
    this.#views?.setApart();
  }

  /** Nobody wants the views any more. */
  abandon(): void {
    this.#outlet = undefined;
    this.#abandoned = true;
    if (!this.#isUpdate) this.#release();
    this.#controller?.abort();
  }

  /** Nobody will ask for the reply again. */
  forget(): void {
    this.#isForgotten = true;
    this.#reply = undefined;
    if (this.#hasEnded) this.#release();
  }

  #finish(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    let row: EncodedRow;
    try {
      row = this.#encode(level, seq, value, details);
    } catch (error) {
      return this.#cannotTell(error, level);
    }
    const isPlain = isScalar(value) && details === undefined && this.session === undefined;
    this.#deliver(row, isPlain ? { scalar: value, level, seq } : { row, isFailure: false });
  }

  #show(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    const view: HeldView = { level, value: '', details, at: undefined, told: undefined };
    try {
      view.value = this.#owner.codec.encodeValue(value);
      const same = this.#repeated ? undefined : this.#views?.sameAs(view);
      if (same !== undefined) this.#emitConfirm(view, same, seq, details);
      else if (level >= this.#strongest) this.#conclude(view, seq);
      else this.#emit(view, seq);
    } catch (error) {
      return this.#cannotTell(error, level, seq);
    }
    this.#hold(view, seq);
  }

  #confirm(level: number, seq: number, details: ViewDetails | undefined): void {
    const known = this.#views?.get(seq);
    if (known === undefined) {
      return this.#fail(new CorrectableError('PROTOCOL', `the store confirmed view ${seq}, which it never gave`), -1);
    }
    if (known instanceof CorrectableError) return this.#cannotTell(known, level);
    const view: HeldView = { ...known, level, details: merged(known.details, details) };
    try {
      const target = this.#views?.targetOf(known);
      // Where the client has just what the store means, what is new is all there is to say.
      if (target === known && known.told === known.details) this.#emitConfirm(view, target, seq, details);
      else if (target !== undefined && covers(view.details, target.told)) {
        this.#emitConfirm(view, target, seq, view.details);
      } else if (level >= this.#strongest) this.#conclude(view, seq);
      else this.#emit(view, seq);
    } catch (error) {
      return this.#cannotTell(error, level);
    }
    return this.#views?.set(seq, view);
  }

  /** Ends the operation as a whole, unless it failed only at a level below the strongest. */
  #fail(error: unknown, level: number): void {
    if (this.#hasEnded || this.#isOver()) return this.#anomaly('a failure after the end', error);
    this.#anomaly('an operation failed', error);
    const told = toldError(error);
    if (level >= 0 && level < this.#strongest) return this.#outlet?.push(failRow(this.id, told, level));
    const row = this.#owner.codec.encodeRow(failRow(this.id, told));
    this.#outlet?.pushEncoded(row);
    return this.#end({ row, isFailure: true });
  }

  /** Whether nobody waits for it and nothing of it is kept: a read that was abandoned. */
  #isOver(): boolean {
    return this.#abandoned && !this.#isUpdate;
  }

  #accept(level: string): number | undefined {
    if (this.#isOver()) return undefined;
    const index = this.#owner.levels.indexOf(level);
    if (!this.#hasEnded && index >= 0) return index;
    this.#anomaly(index >= 0 ? 'a view after the end' : 'a view at an unknown level');
    return undefined;
  }

  #emit(view: HeldView, seq: number): void {
    const row = this.#rowOf(view, seq);
    if (this.#outlet === undefined) return;
    if (this.#outlet.isFull) return this.#outlet.push(failRow(this.id, overfull(), view.level));
    this.#outlet.pushEncoded(row);
    // After a repetition nothing refers to an earlier row.
    if (this.#repeated) return;
    view.at = seq;
    view.told = view.details;
  }

  /** Says that the value of `target` holds at the level of `view` too, which is number `seq`, with these details. */
  #emitConfirm(view: HeldView, target: HeldView, seq: number, details: ViewDetails | undefined): void {
    const row = confirmRow(this.id, view.level, target.at as number, tailOf(details, this.session));
    const encoded = this.#owner.codec.encodeRow(row, CONFIRM_FIELDS);
    const isLast = view.level >= this.#strongest;
    const isKept = isLast && this.#isUpdate && !this.#isForgotten;
    const reply: Reply | undefined = isKept ? { row: this.#rowOf(view, seq), isFailure: false } : undefined;
    this.#outlet?.pushEncoded(encoded);
    if (isLast) return this.#end(reply);
    view.at = target.at;
    view.told = view.details;
    target.told = view.details;
    return undefined;
  }

  /** Sends the last view in full. */
  #conclude(view: HeldView, seq: number): void {
    const row = this.#rowOf(view, seq);
    this.#deliver(row, { row, isFailure: false });
  }

  #deliver(row: EncodedRow, reply: Reply): void {
    const bytes = bytesOf(reply);
    if (this.#outlet?.isFull === true && !(this.#isUpdate && this.#canKeep(bytes))) {
      return this.#fail(this.#isUpdate ? new CorrectableError('UNKNOWN', NOT_KEPT) : overfull(), -1);
    }
    this.#outlet?.pushEncoded(row);
    return this.#end(reply);
  }

  #canKeep(bytes: number): boolean {
    if (!this.#owner.take(bytes)) return false;
    this.#owner.give(bytes);
    return true;
  }

  #end(reply: Reply | undefined): void {
    this.#release();
    this.#hasEnded = true;
    if (this.#isUpdate && !this.#isForgotten && reply !== undefined) {
      const bytes = bytesOf(reply);
      if (bytes === 0 || this.#owner.take(bytes)) {
        this.#bytes = bytes;
        this.#reply = apart(reply);
      }
    }
    const outlet = this.#outlet;
    this.#outlet = undefined;
    outlet?.ended(this.id);
  }

  /** Keeps the view for a confirmation by the store, and for a repetition. */
  #hold(view: HeldView, seq: number): void {
    if (this.#hasEnded) return;
    const bytes = view.value.length;
    const isHeld = this.#owner.take(bytes);
    if (isHeld) this.#bytes += bytes;
    (this.#views ??= new HeldViews()).set(seq, isHeld ? view : overfull());
  }

  #release(): void {
    this.#views = undefined;
    if (this.#bytes > 0) this.#owner.give(this.#bytes);
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
      if (seq !== undefined) (this.#views ??= new HeldViews()).set(seq, error);
      return this.#fail(error, level);
    }
    if (!this.#isUpdate) return this.#fail(problem, -1);
    const message = `the update took effect, but its result cannot be told: ${why}`;
    return this.#fail(new CorrectableError('UNKNOWN', message, { field: isTyped ? problem.field : undefined }), -1);
  }

  #rowOf({ level, value, details }: HeldView, seq: number): EncodedRow {
    return this.#encode(level, seq, new EncodedField(value), details);
  }

  #encode(level: number, seq: number, value: unknown, details: ViewDetails | undefined): EncodedRow {
    return encodeView(viewRow(this.id, level, seq, value, tailOf(details, this.session)), this.#owner);
  }

  /** Nothing that happens here may reach the store. */
  #broke(error: unknown): void {
    this.#anomaly('the gateway failed at a view', error);
    if (this.#hasEnded) return;
    const told = this.#isUpdate
      ? new CorrectableError('UNKNOWN', 'the server made a mistake; the update may have taken effect')
      : new CorrectableError('FINAL_FAILED', 'the server made a mistake');
    this.#outlet?.push(failRow(this.id, told));
    this.#end(undefined);
  }

  #anomaly(what: string, error?: unknown): void {
    this.#owner.onAnomaly(this.#name, what, error);
  }
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

function merged(earlier: ViewDetails | undefined, later: ViewDetails | undefined): ViewDetails | undefined {
  return earlier === undefined || later === undefined ? (later ?? earlier) : mergeDetails(earlier, later);
}

function overfull(): CorrectableError {
  const message = 'too much waits to be sent to this client';
  return new CorrectableError('OVERLOADED', message, { retryAfterMs: OVERLOADED_RETRY_MS });
}
