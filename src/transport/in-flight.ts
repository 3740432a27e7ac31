/** The operations that have no final yet, by number, and what the server's rows do to them. */
import type { Sink, ViewDetails } from '../correctable/binding.ts';
import { CorrectableError } from '../correctable/errors.ts';
import type { Encoded } from '../protocol/codec.ts';
import type { ConfirmRow } from '../protocol/confirm.ts';
import type { FailRow } from '../protocol/fail.ts';
import type { ViewRow } from '../protocol/view.ts';
import { errorOf } from '../protocol/wire-errors.ts';

/** One operation under way. */
export interface InFlightOperation {
  readonly id: number;
  readonly row: Encoded;
  /** Index of the strongest requested level: a view at it or above ends the operation. */
  readonly strongest: number;
  readonly sink: Sink;
  /** Whether it was submitted on the present connection. */
  sent: boolean;
  /** Sequence numbers of the sink by those of the server, for the present submission. */
  seqs: number[];
  /** Stops listening to the caller's signal. */
  release: (() => void) | undefined;
}

/** All operations of one connection that have no final yet. */
export class InFlight {
  readonly #levels: readonly string[];
  readonly #operations = new Map<number, InFlightOperation>();
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

  has(id: number): boolean {
    return this.#operations.has(id);
  }

  /** Forgets an operation; what the server still says about it is ignored. */
  remove(id: number): InFlightOperation | undefined {
    const operation = this.#operations.get(id);
    if (operation === undefined) return undefined;
    this.#operations.delete(id);
    operation.release?.();
    return operation;
  }

  view([id, , level, seq, value, version, meta]: ViewRow): void {
    const operation = this.#operations.get(id);
    const name = this.#levels[level];
    if (operation === undefined || name === undefined) return;
    if (level >= operation.strongest) this.remove(id);
    operation.seqs[seq] = operation.sink.update(value, name, details(version, meta));
  }

  confirm([id, , level, seq, version, meta]: ConfirmRow): void {
    const operation = this.#operations.get(id);
    const name = this.#levels[level];
    if (operation === undefined || name === undefined) return;
    const known = operation.seqs[seq];
    if (known === undefined) {
      this.failOne(id, new CorrectableError('PROTOCOL', `the server confirmed view ${seq}, which it never sent`));
      return;
    }
    if (level >= operation.strongest) this.remove(id);
    operation.sink.confirm(name, known, details(version, meta));
  }

  fail(row: FailRow): void {
    const [id, , , , level] = row;
    const name = level === undefined || level === null ? undefined : this.#levels[level];
    if (name === undefined) this.failOne(id, errorOf(row));
    else this.#operations.get(id)?.sink.fail(errorOf(row, name), name);
  }

  failOne(id: number, error: CorrectableError): void {
    this.remove(id)?.sink.fail(error);
  }

  failAll(error: CorrectableError): void {
    for (const id of [...this.#operations.keys()]) this.failOne(id, error);
  }

  /** The rows to submit on a new connection, oldest first; views of the old one can no longer be confirmed. */
  resubmissions(): InFlightOperation[] {
    const operations = [...this.#operations.values()];
    for (const operation of operations) {
      operation.seqs = [];
      operation.sent = true;
    }
    // The old connection may have lost what was acknowledged on it.
    this.#acked = 0;
    return operations;
  }

  /** Whether an answer to anything submitted on the present connection is still to come. */
  awaitsAnswers(): boolean {
    for (const operation of this.#operations.values()) if (operation.sent) return true;
    return false;
  }

  /** None is on its way any more: the connection is gone. */
  markUnsent(): void {
    for (const operation of this.#operations.values()) operation.sent = false;
  }

  /** The number up to which all operations have ended, if it moved by at least `step` since the last call. */
  takeWatermark(step: number): number | undefined {
    const oldest: number | undefined = this.#operations.keys().next().value;
    const watermark = oldest === undefined ? this.#lastId : oldest - 1;
    if (watermark < this.#acked + step) return undefined;
    this.#acked = watermark;
    return watermark;
  }
}

function details(version: unknown, meta: ViewRow[6]): ViewDetails | undefined {
  const hasVersion = version !== undefined && version !== null;
  const hasMeta = meta !== undefined && meta !== null;
  if (!hasVersion && !hasMeta) return undefined;
  return { ...(hasVersion && { version }), ...(hasMeta && { meta }) };
}
