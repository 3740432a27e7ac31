/**
 * The operations that have no final yet, by number, and what the server's rows
 * do to them.
 */
import { mergeDetails, type ViewDetails } from '../../correctable/binding.ts';
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import {
  confirm,
  type ConfirmMessage,
} from '../../protocol/messages/confirm.ts';
import { KIND_AT } from '../../protocol/messages/define-message.ts';
import { fail, type FailMessage } from '../../protocol/messages/fail.ts';
import { SequenceMap } from '../../protocol/sequence-map.ts';
import { view, type ViewMessage } from '../../protocol/messages/view.ts';
import { fromFailMessage } from '../../protocol/errors.ts';
import {
  ConfirmableView,
  type OperationConnection,
  type InFlightOperation,
} from './in-flight-operation.ts';
import { deepCopy } from '../../values/deep-copy.ts';
import { WireSession } from './submit-message.ts';

/**
 * The error of an operation that was not answered: an update that may have left
 * may have taken effect.
 */
function createNoReplyError(
  operation: InFlightOperation,
  cause: CorrectableError,
): CorrectableError {
  const { name, access, mayHaveBeenSent } = operation;
  if (access === 'write' && mayHaveBeenSent) {
    const message = `${name}: the write was sent, but its answer never came, so it may have taken effect: ${cause.message}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  const { code, message, retryable, retryAfterMs, field } = cause;
  const fate = access === 'write' ? '; nothing was done' : '';
  return new CorrectableError(code, `${name}: ${message}${fate}`, {
    retryable,
    retryAfterMs,
    field,
    cause,
  });
}

/**
 * Errors of admission, before a server checks what was done: no proof if
 * another server may have executed it.
 */
const ADMISSION_ERROR_CODES: ReadonlySet<ErrorCode> = new Set([
  'OVERLOADED',
  'UNAVAILABLE',
  'FORBIDDEN',
  'UNAUTHENTICATED',
  'UNSUPPORTED',
  'INVALID_ARGUMENT',
  'UNKNOWN_LEVEL',
  'PROTOCOL',
  'REPLY_EXPIRED',
  'ABORTED',
]);

/** The error of an operation that the server of its present line failed. */
export function toOperationError(
  operation: InFlightOperation,
  error: CorrectableError,
): CorrectableError {
  const { wasSentBefore, connection } = operation;
  if (!wasSentBefore || !ADMISSION_ERROR_CODES.has(error.code)) return error;
  // One that has remembered this client ever since would know of it.
  const memory = connection?.memoryId;
  return memory !== undefined && !operation.isUnknownTo(memory)
    ? error
    : createNoReplyError(operation, error);
}

const NO_OPERATIONS: readonly InFlightOperation[] = [];
const NO_DETAILS: ViewDetails = {};

/**
 * All operations of one client that have no final yet. Rows count only on the
 * line that an operation was submitted on.
 */
export class InFlightOperations {
  readonly #levels: readonly string[];
  readonly #operations = new SequenceMap<InFlightOperation>();
  /** The number of the newest operation. */
  lastId = 0;
  #lastWriteId = 0;
  #rejected: InFlightOperation[] = [];
  #watermark = 0;

  constructor(levels: readonly string[]) {
    this.#levels = levels;
  }

  get size(): number {
    return this.#operations.size;
  }

  nextId(): number {
    return ++this.lastId;
  }

  add(operation: InFlightOperation): void {
    this.#operations.set(operation.id, operation);
    if (operation.access === 'write') this.#lastWriteId = operation.id;
  }

  has(operation: InFlightOperation): boolean {
    return this.#operations.get(operation.id) === operation;
  }

  /**
   * The number up to which all updates have ended; a read in flight holds
   * nothing back, since it is resent.
   */
  get watermark(): number {
    while (
      this.#watermark < this.#lastWriteId &&
      this.#operations.get(this.#watermark + 1)?.access !== 'write'
    ) {
      this.#watermark++;
    }
    return this.#watermark;
  }

  /** Calls `use` for each operation, oldest first, until it returns false. */
  forEach(use: (operation: InFlightOperation) => unknown): void {
    this.#operations.forEach(use);
  }

  /** Forgets an operation; what the server still says about it is ignored. */
  remove(operation: InFlightOperation): void {
    if (!this.has(operation)) return;
    this.#operations.delete(operation.id);
    operation.detachFromConnection();
    operation.removeAbortListener?.();
    // What the caller keeps must not keep the encoded arguments.
    if (operation.context.submissionStatus === operation)
      operation.context.submissionStatus = undefined;
  }

  /** The operation that a row on `line` is about. */
  #findOnConnection(
    id: number,
    line: OperationConnection,
  ): InFlightOperation | undefined {
    const operation = this.#operations.get(id);
    return operation?.connection === line ? operation : undefined;
  }

  handleView(row: ViewMessage, line: OperationConnection): void {
    const { at } = view;
    const level = row[at.level];
    const operation = this.#findOnConnection(row[at.id], line);
    if (operation === undefined) return;
    const name = this.#levels[level];
    if (name === undefined)
      return this.#failMalformed(
        operation,
        `a view at level ${level}, which does not exist`,
      );
    storeSessionToken(operation, row[at.token]);
    const isEarly = level < operation.strongest;
    const last = !isEarly || row[KIND_AT] === 'final';
    if (last) this.remove(operation);
    if (operation.isCancelled) return;
    const value = row[at.value];
    const input = toViewDetails(row[at.version], row[at.meta], last && isEarly);
    if (last) return void operation.sink.view(value, name, input);
    const own = deepCopy(value);
    const seq = operation.sink.view(value, name, input);
    operation.recordView(
      row[at.seq],
      new ConfirmableView(seq, input ?? NO_DETAILS, own, value),
    );
  }

  handleConfirm(row: ConfirmMessage, line: OperationConnection): void {
    const { at } = confirm;
    const level = row[at.level];
    const operation = this.#findOnConnection(row[at.id], line);
    if (operation === undefined) return;
    const name = this.#levels[level];
    if (name === undefined)
      return this.#failMalformed(
        operation,
        `a view at level ${level}, which does not exist`,
      );
    storeSessionToken(operation, row[at.token]);
    const last = level >= operation.strongest;
    if (operation.isCancelled) {
      if (last) this.remove(operation);
      return;
    }
    const known = operation.findView(row[at.seq]);
    if (known === undefined)
      return this.#failMalformed(
        operation,
        `the server confirmed view ${row[at.seq]}, which it never sent`,
      );
    if (last) this.remove(operation);
    const input = toViewDetails(row[at.version], row[at.meta]);
    if (known.isUnmodified()) {
      if (!last)
        operation.recordView(
          row[at.seq],
          known.withDetails(mergeDetails(known.details, input)),
        );
      operation.sink.confirm(name, known.seq, input);
      return;
    }
    const merged = mergeDetails(known.details, input);
    const value = known.copyValue();
    const seq = operation.sink.view(value, name, merged);
    if (!last)
      operation.recordView(row[at.seq], known.withDetails(merged, seq, value));
  }

  handleFail(row: FailMessage, line: OperationConnection): void {
    const { at } = fail;
    const level = row[at.level];
    const operation = this.#findOnConnection(row[at.id], line);
    if (operation === undefined) return;
    const name =
      level === undefined || level === null ? undefined : this.#levels[level];
    const error = fromFailMessage(row, name, operation.name);
    if (name !== undefined && (level ?? 0) < operation.strongest) {
      if (!operation.isCancelled) operation.sink.fail(error, name);
    } else if (
      line.isDraining &&
      error.code === 'UNAVAILABLE' &&
      !operation.isCancelled
    ) {
      // It crossed the `goaway`: that server has not begun with it, the next
      // one may.
      operation.detachFromConnection();
      if (!operation.wasSentBefore) operation.home = operation.site = undefined;
      this.#rejected.push(operation);
    } else this.#end(operation, toOperationError(operation, error));
  }

  /** Those that servers which go away would not take since the last call. */
  takeRejected(): readonly InFlightOperation[] {
    return this.#rejected.length === 0
      ? NO_OPERATIONS
      : this.#rejected.splice(0);
  }

  /** A row on `line` that seems to be about operation `id` makes no sense. */
  handleMalformed(
    id: number,
    error: CorrectableError,
    line: OperationConnection,
  ): void {
    const operation = this.#findOnConnection(id, line);
    if (operation !== undefined) this.abandon(operation, error);
  }

  /** Ends an operation to which no answer comes. */
  abandon(operation: InFlightOperation, cause: CorrectableError): void {
    this.#end(operation, createNoReplyError(operation, cause));
  }

  /** Ends all that are in flight now. */
  abandonAll(cause: CorrectableError): void {
    for (const operation of this.#select(() => true))
      this.abandon(operation, cause);
  }

  getUnsubmitted(): InFlightOperation[] {
    return this.#select(({ connection }) => connection === undefined);
  }

  /**
   * A connection is gone: its unanswered operations wait for another one,
   * except abandoned ones, already reported.
   */
  handleConnectionLoss(line: OperationConnection): void {
    for (const operation of this.#select((item) => item.connection === line)) {
      if (operation.isCancelled) this.remove(operation);
      else operation.handleConnectionLoss();
    }
  }

  // As a list, since those that end may lead to others that begin.
  #select(
    requested: (operation: InFlightOperation) => boolean,
  ): InFlightOperation[] {
    const operations: InFlightOperation[] = [];
    this.#operations.forEach(
      (operation) => void (requested(operation) && operations.push(operation)),
    );
    return operations.sort((a, b) => a.id - b.id);
  }

  #failMalformed(operation: InFlightOperation, message: string): void {
    this.abandon(operation, new CorrectableError('PROTOCOL', message));
  }

  #end(operation: InFlightOperation, error: CorrectableError): void {
    this.remove(operation);
    if (!operation.isCancelled) operation.sink.fail(error);
  }
}

function storeSessionToken(
  { context }: InFlightOperation,
  token: string | undefined,
): void {
  if (token !== undefined && context.session instanceof WireSession)
    context.session.addToken(token);
}

function toViewDetails(
  version: unknown,
  meta: ViewMessage[typeof view.at.meta],
  isFinal = false,
): ViewDetails | undefined {
  const hasVersion = version !== undefined && version !== null;
  if (isFinal)
    return {
      version: version ?? undefined,
      meta: meta ?? undefined,
      final: true,
    } as ViewDetails;
  if (meta === undefined || meta === null)
    return hasVersion ? { version } : undefined;
  return hasVersion ? { version, meta } : { meta };
}
