/** The operations that have no final yet, by number, and what the server's rows do to them. */
import type { InvocationContext, Sink, ViewDetails } from '../correctable/binding.ts';
import { CorrectableError, type ErrorCode } from '../correctable/errors.ts';
import type { Effect } from '../correctable/operation.ts';
import type { EncodedRow } from '../protocol/codec.ts';
import type { ConfirmRow } from '../protocol/confirm.ts';
import type { FailRow } from '../protocol/fail.ts';
import { NumberedTable } from '../protocol/numbered-table.ts';
import type { ViewRow } from '../protocol/view.ts';
import { errorOf } from '../protocol/wire-errors.ts';
import { WireSession } from './wire-session.ts';

/** One operation under way. */
export class InFlightOperation {
  readonly id: number;
  /** The submission as it is sent, and sent again after a reconnect. */
  readonly row: EncodedRow;
  readonly effect: Effect;
  /** Index of the strongest requested level: a view at it or above ends the operation. */
  readonly strongest: number;
  readonly sink: Sink;
  readonly context: InvocationContext;
  /** Whether it was submitted on the present connection. */
  sent = false;
  /** Whether it was submitted on an earlier connection, which may have executed it. */
  sentBefore = false;
  /**
   * Nobody wants the views any more. A read is forgotten at once; an update is kept until the server is known to have
   * it, since it runs to its end.
   */
  cancelled = false;
  /** Where it went: the site that it was sent to first, the one it was sent to last, and how often it moved. */
  home: string | undefined = undefined;
  site: string | undefined = undefined;
  hop = 0;
  /** Sequence numbers of the sink by those of the server, for the present submission; made when a view is not the last. */
  seqs: number[] | undefined = undefined;
  /** Stops listening to the caller's signal. */
  release: (() => void) | undefined = undefined;

  constructor(
    id: number,
    row: EncodedRow,
    target: Pick<InFlightOperation, 'effect' | 'strongest' | 'sink' | 'context'>,
  ) {
    this.id = id;
    this.row = row;
    this.effect = target.effect;
    this.strongest = target.strongest;
    this.sink = target.sink;
    this.context = target.context;
  }
}

/** All operations of one connection that have no final yet. */
export class InFlight {
  readonly #levels: readonly string[];
  readonly #operations = new NumberedTable<InFlightOperation>();
  #lastId = 0;
  #acked = 0;

  constructor(levels: readonly string[]) {
    this.#levels = levels;
  }

  get size(): number {
    return this.#operations.size;
  }

  nextId(): number {
    return ++this.#lastId;
  }

  add(operation: InFlightOperation): void {
    this.#operations.set(operation.id, operation);
  }

  /** The number of the newest operation. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Calls `use` for each operation, oldest first, until it returns false. */
  forEach(use: (operation: InFlightOperation) => unknown): void {
    this.#operations.forEach(use);
  }

  /** Forgets an operation; what the server still says about it is ignored. */
  remove(id: number): InFlightOperation | undefined {
    const operation = this.#operations.get(id);
    if (operation !== undefined) this.#end(operation);
    return operation;
  }

  #end(operation: InFlightOperation): void {
    this.#operations.delete(operation.id);
    operation.release?.();
  }

  view(row: ViewRow): void {
    const id = row[0];
    const level = row[2];
    const operation = this.#operations.get(id);
    const name = this.#levels[level];
    if (operation === undefined || name === undefined) return;
    learn(operation, row[7]);
    const last = level >= operation.strongest;
    if (last) this.#end(operation);
    if (operation.cancelled) return;
    const given = operation.sink.update(row[4], name, details(row[5], row[6]));
    if (!last) (operation.seqs ??= [])[row[3]] = given;
  }

  confirm(row: ConfirmRow): void {
    const id = row[0];
    const level = row[2];
    const operation = this.#operations.get(id);
    const name = this.#levels[level];
    if (operation === undefined || name === undefined) return;
    learn(operation, row[6]);
    const last = level >= operation.strongest;
    if (operation.cancelled) {
      if (last) this.#end(operation);
      return;
    }
    const known = operation.seqs?.[row[3]];
    if (known === undefined) {
      const message = `the server confirmed view ${row[3]}, which it never sent`;
      return this.failOne(id, new CorrectableError('PROTOCOL', message));
    }
    if (last) this.#end(operation);
    operation.sink.confirm(name, known, details(row[4], row[5]));
  }

  fail(row: FailRow): void {
    const [id, , , , level] = row;
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    const name = level === undefined || level === null ? undefined : this.#levels[level];
    const error = errorOf(row, name);
    if (name !== undefined && (level ?? 0) < operation.strongest) operation.sink.fail(error, name);
    else if (operation.sentBefore && SAYS_NOTHING_OF_EARLIER.has(error.code))
      this.failOne(id, outcome(operation, error));
    else this.failOne(id, error);
  }

  failOne(id: number, error: CorrectableError): void {
    const operation = this.remove(id);
    if (operation?.cancelled === false) operation.sink.fail(error);
  }

  failAll(error: CorrectableError): void {
    this.#operations.forEach((operation) => this.failOne(operation.id, outcome(operation, error)));
  }

  /** The rows to submit on a new connection, oldest first; views of the old one can no longer be confirmed. */
  resubmissions(): InFlightOperation[] {
    const operations: InFlightOperation[] = [];
    this.#operations.forEach((operation) => {
      operation.seqs = undefined;
      operations.push(operation);
    });
    // The old connection may have lost what was acknowledged on it.
    this.#acked = 0;
    return operations;
  }

  /** Whether an answer to anything submitted on the present connection is still to come. */
  awaitsAnswers(): boolean {
    let awaited = false;
    this.#operations.forEach(({ sent }) => !(awaited = sent));
    return awaited;
  }

  /** None is on its way any more: the connection is gone. */
  markUnsent(): void {
    this.#operations.forEach((operation) => {
      operation.sentBefore ||= operation.sent;
      operation.sent = false;
    });
  }

  /** The number up to which all operations have ended, if it moved since the last call. */
  takeWatermark(): number | undefined {
    let watermark = this.#lastId;
    this.#operations.forEach(({ id }) => {
      watermark = id - 1;
      return false;
    });
    if (watermark === this.#acked) return undefined;
    this.#acked = watermark;
    return watermark;
  }
}

function learn({ context }: InFlightOperation, token: string | undefined): void {
  if (token !== undefined && context.session instanceof WireSession) context.session.learn(token);
}

/** Answers of a server that did not execute a repetition; one before it, since restarted, may have. */
const SAYS_NOTHING_OF_EARLIER: ReadonlySet<ErrorCode> = new Set(['OVERLOADED', 'UNAVAILABLE', 'FORBIDDEN']);

/** What is known of an operation without an answer: an update that was sent may have taken effect. */
function outcome({ effect, sent, sentBefore }: InFlightOperation, cause: CorrectableError): CorrectableError {
  if (effect === 'read' || !(sent || sentBefore)) return cause;
  const message = `the update was sent, but its answer never came, so it may have taken effect: ${cause.message}`;
  return new CorrectableError('UNKNOWN', message, { cause });
}

function details(version: unknown, meta: ViewRow[6]): ViewDetails | undefined {
  const hasVersion = version !== undefined && version !== null;
  if (meta === undefined || meta === null) return hasVersion ? { version } : undefined;
  return hasVersion ? { version, meta } : { meta };
}
