/**
 * One operation in the hands of the hosted binding: the sink that turns its views into rows. A view whose encoded value
 * the client already has travels as `confirm`, without payload (Correctables, OSDI 2016, §5.2). The operation's own
 * `equals` plays no part in that: it says what means the same, not what is the same.
 */
import type { Sink, ViewDetails } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { EncodedField, type Codec, type Encoded } from '../../protocol/codec.ts';
import type { Row } from '../../protocol/rows.ts';
import { failRow } from '../../protocol/wire-errors.ts';
import type { HostedContext } from './hosted-context.ts';

/** Where the rows of a submission go: the client's present connection. */
export interface Outlet {
  push(row: Row): void;
  /** The last row about the operation was pushed. */
  ended(submission: Submission): void;
}

/** What a submission is made from. */
export interface SubmissionDetails {
  readonly id: number;
  readonly codec: Codec;
  /** The levels of the hosted binding. */
  readonly levels: readonly string[];
  /** Index of the strongest requested level: a view at it or above is the last. */
  readonly strongest: number;
  readonly context: HostedContext;
  /** Told of what a binding does against its interface, and of errors that are not passed on. */
  readonly onAnomaly: (what: string, error?: unknown) => void;
}

interface HeldView {
  readonly level: number;
  readonly value: Encoded;
  readonly details: ViewDetails | undefined;
}

/** How an operation ended: kept for a repetition. */
type Final = { readonly view: HeldView; readonly seq: number } | { readonly error: unknown };

/** An operation under way, or ended with its reply kept for a repetition. */
export class Submission implements Sink {
  readonly id: number;
  readonly #details: SubmissionDetails;
  #outlet: Outlet | undefined;
  /** By the sequence number given to the binding; a view outside the domain or after the end leaves a gap. */
  #views: (HeldView | undefined)[] = [];
  #final: Final | undefined;
  #count = 0;
  /** After a repetition every view carries its payload: the client may have missed the one to refer to. */
  #repeated = false;

  constructor(details: SubmissionDetails, outlet: Outlet) {
    this.id = details.id;
    this.#details = details;
    this.#outlet = outlet;
  }

  get ended(): boolean {
    return this.#final !== undefined;
  }

  update(value: unknown, level: string, details?: ViewDetails): number {
    const seq = this.#count++;
    const index = this.#accept(level);
    if (index === undefined) return seq;
    let encoded: Encoded;
    try {
      encoded = this.#details.codec.encodeValue(value);
    } catch (error) {
      this.fail(error);
      return seq;
    }
    const view = { level: index, value: encoded, details };
    const same = this.#seqOfSame(view);
    this.#views[seq] = view;
    if (same === undefined) this.#emit(view, seq);
    else this.#emitConfirm(view, same, details);
    this.#endAt(view, seq);
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const index = this.#accept(level);
    if (index === undefined) return;
    const known = this.#views[seq];
    if (known === undefined) {
      this.fail(new CorrectableError('PROTOCOL', `the store confirmed view ${seq}, which it never gave`));
      return;
    }
    const view = { level: index, value: known.value, details: mergeDetails(known.details, details) };
    if (this.#repeated) this.#emit(view, seq);
    else this.#emitConfirm(view, seq, details);
    this.#endAt(view, seq);
  }

  fail(error: unknown, level?: string): void {
    if (this.#final !== undefined) return this.#details.onAnomaly('a failure after the end', error);
    const index = level === undefined ? -1 : this.#details.levels.indexOf(level);
    this.#details.onAnomaly('an operation failed', error);
    if (index >= 0) {
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
      this.#views.forEach((view, seq) => view !== undefined && this.#emit(view, seq));
      return;
    }
    if ('error' in this.#final) outlet.push(failRow(this.id, this.#final.error));
    else this.#emit(this.#final.view, this.#final.seq);
    outlet.ended(this);
  }

  /** The connection is gone, but its client may come back. */
  detach(): void {
    this.#outlet = undefined;
  }

  /** Nobody wants the views any more. */
  cancel(): void {
    this.#outlet = undefined;
    this.#details.context.abort();
  }

  #accept(level: string): number | undefined {
    if (this.#final !== undefined) {
      this.#details.onAnomaly('a view after the end');
      return undefined;
    }
    const index = this.#details.levels.indexOf(level);
    if (index >= 0) return index;
    this.#details.onAnomaly(`a view at the unknown level ${level}`);
    return undefined;
  }

  /** The number of a view that the client has and that is the same as `view` but for the level. */
  #seqOfSame(view: HeldView): number | undefined {
    if (this.#repeated) return undefined;
    const seq = this.#views.findIndex((held) => held !== undefined && canConfirm(held, view));
    return seq < 0 ? undefined : seq;
  }

  #emit({ level, value, details }: HeldView, seq: number): void {
    this.#outlet?.push([this.id, 'view', level, seq, new EncodedField(value), ...tail(details)]);
  }

  #emitConfirm({ level }: HeldView, seq: number, details: ViewDetails | undefined): void {
    this.#outlet?.push([this.id, 'confirm', level, seq, ...tail(details)]);
  }

  #endAt(view: HeldView, seq: number): void {
    if (view.level >= this.#details.strongest) this.#end({ view, seq });
  }

  #end(final: Final): void {
    this.#final = final;
    this.#views = [];
    const outlet = this.#outlet;
    this.#outlet = undefined;
    outlet?.ended(this);
  }
}

function tail(details: ViewDetails | undefined): [version?: unknown, meta?: Readonly<Record<string, unknown>>] {
  if (details?.meta !== undefined) return [details.version ?? null, details.meta];
  return details?.version === undefined ? [] : [details.version];
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
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
