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
import { CorrectableError } from '../../correctable/errors.ts';
import { EncodedField, type Codec, type Encoded, type EncodedRow } from '../../protocol/codec.ts';
import type { ConfirmRow } from '../../protocol/confirm.ts';
import type { ServerRow } from '../../protocol/rows.ts';
import type { Move } from '../../protocol/submit.ts';
import { view, type ViewRow } from '../../protocol/view.ts';
import { failRow } from '../../protocol/wire-errors.ts';

/** Where the rows of a submission go: the client's present connection. */
export interface Outlet {
  push(row: ServerRow): void;
  /** Pushes a row that the client's codec has encoded. */
  pushEncoded(row: EncodedRow): void;
  /** The last row about the operation was pushed. */
  ended(submission: Submission): void;
}

/** What all submissions of one client share. */
export interface SubmissionOwner {
  /** Unique name of the client: with an operation's number it names the operation. */
  readonly key: string;
  readonly codec: Codec;
  /** The levels of the hosted binding. */
  readonly levels: readonly string[];
  /** Up to this number the client has acknowledged all its operations. */
  readonly acknowledged: number;
  /** Told of failures, and of what a binding does against its interface. */
  onAnomaly(operation: string, what: string, error?: unknown): void;
}

/** What a submission is made from. */
export interface SubmissionParts {
  readonly id: number;
  /** Name of the operation, for reports. */
  readonly name: string;
  /** Index of the strongest requested level: a view at it or above is the last. */
  readonly strongest: number;
  readonly deadlineAt: number | undefined;
  readonly trace: unknown;
  readonly session?: BindingSession | undefined;
  /** Where it was sent first, if it has moved. */
  readonly move?: Move | undefined;
}

interface HeldView {
  readonly level: number;
  readonly value: Encoded;
  readonly details: ViewDetails | undefined;
}

interface RowTail extends ViewDetails {
  readonly token?: string;
}

/** How an operation ended: kept for a repetition. */
type Final =
  | { readonly row: EncodedRow }
  /** What nobody can change need not be kept in its encoded form. */
  | { readonly scalar: unknown; readonly level: number; readonly seq: number }
  | { readonly view: HeldView; readonly seq: number }
  | { readonly error: unknown };

/** An operation under way, or ended with its reply kept for a repetition. */
export class Submission implements Sink, InvocationContext {
  readonly id: number;
  readonly session: BindingSession | undefined;
  readonly deadlineAt: number | undefined;
  readonly trace: unknown;
  readonly #owner: SubmissionOwner;
  readonly #name: string;
  readonly #move: Move | undefined;
  readonly #strongest: number;
  #outlet: Outlet | undefined;
  /** By the sequence number given to the binding; what could not be sent leaves a gap. */
  #views: (HeldView | undefined)[] | undefined;
  #final: Final | undefined;
  #count = 0;
  /** After a repetition every view carries its payload: the client may have missed the one to refer to. */
  #repeated = false;
  #controller: AbortController | undefined;
  #abandoned = false;

  constructor(owner: SubmissionOwner, parts: SubmissionParts, outlet: Outlet) {
    this.id = parts.id;
    this.deadlineAt = parts.deadlineAt;
    this.trace = parts.trace;
    this.session = parts.session;
    this.#move = parts.move;
    this.#owner = owner;
    this.#name = parts.name;
    this.#strongest = parts.strongest;
    this.#outlet = outlet;
  }

  get operationId(): string {
    return `${this.#owner.key}/${this.id}`;
  }

  get origin(): SubmissionOrigin {
    const { key, acknowledged } = this.#owner;
    return { client: key, sequence: this.id, acknowledged, home: this.#move?.[0], hop: this.#move?.[1] };
  }

  /** Whether a submission that has moved `hop` times supersedes this one: it has no result, and may never get one. */
  isSuperseded(hop: number): boolean {
    const hasResult = this.#final !== undefined && !('error' in this.#final);
    return !hasResult && hop > (this.#move?.[1] ?? 0);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abandoned) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  update(value: unknown, level: string, details?: ViewDetails): number {
    const seq = this.#count++;
    const index = this.#accept(level);
    if (index === undefined) return seq;
    // Nothing to confirm, and nothing after it that could confirm it: the row is all that is ever needed.
    if (index >= this.#strongest && this.#views === undefined) this.#finish(value, index, seq, details);
    else this.#show(value, index, seq, details);
    return seq;
  }

  #finish(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    let row: EncodedRow;
    try {
      row = this.#owner.codec.encodeRow(viewRow(this.id, level, seq, value, this.#tail(details)), VIEW_FIELDS);
    } catch (error) {
      return this.fail(error);
    }
    this.#outlet?.pushEncoded(row);
    const isPlain = isScalar(value) && details === undefined && this.session === undefined;
    this.#end(isPlain ? { scalar: value, level, seq } : { row });
  }

  #show(value: unknown, level: number, seq: number, details: ViewDetails | undefined): void {
    let view: HeldView;
    try {
      view = { level, value: this.#owner.codec.encodeValue(value), details };
    } catch (error) {
      return this.fail(error);
    }
    const same = this.#seqOfSame(view);
    if (same === undefined) this.#emit(view, seq);
    else this.#emitConfirm(view, same, view.details);
    this.#keep(view, seq);
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const index = this.#accept(level);
    if (index === undefined) return;
    const known = this.#views?.[seq];
    if (known === undefined) {
      this.fail(new CorrectableError('PROTOCOL', `the store confirmed view ${seq}, which it never gave`));
      return;
    }
    const view = { level: index, value: known.value, details: mergeDetails(known.details, details) };
    if (this.#repeated) this.#emit(view, seq);
    else this.#emitConfirm(view, seq, details);
    this.#keep(view, seq);
  }

  fail(error: unknown, level?: string): void {
    if (this.#final !== undefined) return this.#anomaly('a failure after the end', error);
    this.#anomaly('an operation failed', error);
    const index = level === undefined ? -1 : this.#owner.levels.indexOf(level);
    if (index >= 0 && index < this.#strongest) {
      this.#outlet?.push(failRow(this.id, error, index));
      return;
    }
    this.#outlet?.push(failRow(this.id, error));
    this.#end({ error });
  }

  /** The binding is done with the operation; without a final by now there will be none. */
  close(): void {
    if (this.#final !== undefined) return;
    this.fail(new CorrectableError('CLOSED_WITHOUT_FINAL', 'the store ended the operation without a final view'));
  }

  /** Sends the rows to a new connection, beginning with what is known already, in full. */
  repeat(outlet: Outlet): void {
    this.#outlet = outlet;
    this.#repeated = true;
    if (this.#final === undefined) {
      this.#views?.forEach((view, seq) => view !== undefined && this.#emit(view, seq));
      return;
    }
    if ('row' in this.#final) outlet.pushEncoded(this.#final.row);
    else if ('scalar' in this.#final) {
      const { scalar, level, seq } = this.#final;
      outlet.push(viewRow(this.id, level, seq, scalar, undefined));
    } else if ('error' in this.#final) outlet.push(failRow(this.id, this.#final.error));
    else this.#emit(this.#final.view, this.#final.seq);
    outlet.ended(this);
  }

  /** The connection is gone, but its client may come back. */
  detach(): void {
    this.#outlet = undefined;
  }

  /** Nobody wants the views any more. */
  abandon(): void {
    this.#outlet = undefined;
    this.#abandoned = true;
    this.#controller?.abort();
  }

  #accept(level: string): number | undefined {
    const index = this.#owner.levels.indexOf(level);
    if (this.#final === undefined && index >= 0) return index;
    this.#anomaly(index >= 0 ? 'a view after the end' : 'a view at an unknown level');
    return undefined;
  }

  /** The number of a view that the client has and that is the same as `view` but for the level. */
  #seqOfSame(view: HeldView): number | undefined {
    if (this.#repeated || this.#views === undefined) return undefined;
    const seq = this.#views.findIndex((held) => held !== undefined && canConfirm(held, view));
    return seq < 0 ? undefined : seq;
  }

  #emit({ level, value, details }: HeldView, seq: number): void {
    this.#outlet?.push(viewRow(this.id, level, seq, new EncodedField(value), this.#tail(details)));
  }

  #emitConfirm({ level }: HeldView, seq: number, details: ViewDetails | undefined): void {
    this.#outlet?.push(confirmRow(this.id, level, seq, this.#tail(details)));
  }

  /** What follows the value in a row: in a session, the token that goes with it as well. */
  #tail(details: ViewDetails | undefined): RowTail | undefined {
    const token = this.session?.tokens?.[0];
    return token === undefined ? details : { ...details, token };
  }

  #keep(view: HeldView, seq: number): void {
    if (view.level >= this.#strongest) this.#end({ view, seq });
    else (this.#views ??= [])[seq] = view;
  }

  #end(final: Final): void {
    this.#final = final;
    this.#views = undefined;
    const outlet = this.#outlet;
    this.#outlet = undefined;
    outlet?.ended(this);
  }

  #anomaly(what: string, error?: unknown): void {
    this.#owner.onAnomaly(this.#name, what, error);
  }
}

const VIEW_FIELDS = view.fields;

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

// Spelt out, since a row is made for every view: spreading what is there costs more than all the rest.
function viewRow(id: number, level: number, seq: number, value: unknown, details: RowTail | undefined): ViewRow {
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, 'view', level, seq, value, version, meta, token];
  }
  if (details?.meta !== undefined) return [id, 'view', level, seq, value, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, 'view', level, seq, value, details.version];
  return [id, 'view', level, seq, value];
}

function confirmRow(id: number, level: number, seq: number, details: RowTail | undefined): ConfirmRow {
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, 'confirm', level, seq, version, meta, token];
  }
  if (details?.meta !== undefined) return [id, 'confirm', level, seq, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, 'confirm', level, seq, details.version];
  return [id, 'confirm', level, seq];
}

function mergeDetails(earlier: ViewDetails | undefined, later: ViewDetails | undefined): ViewDetails | undefined {
  return earlier === undefined || later === undefined ? (later ?? earlier) : { ...earlier, ...later };
}

/** The client keeps the details that a confirmation does not replace: it must replace all there are. */
function canConfirm(held: HeldView, view: HeldView): boolean {
  if (held.details?.version !== undefined && view.details?.version === undefined) return false;
  if (held.details?.meta !== undefined && view.details?.meta === undefined) return false;
  return sameEncoding(held.value, view.value);
}

function sameEncoding(a: Encoded, b: Encoded): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
