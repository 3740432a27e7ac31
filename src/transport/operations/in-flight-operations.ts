/**
 * The operations that have no final yet, by number, and the effects of the server's messages on
 * them.
 */
import { mergeDetails, type ViewDetails } from '../../correctable/binding.ts';
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import { confirm, type ConfirmMessage } from '../../protocol/messages/confirm.ts';
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
 * Creates the error of an operation that was not answered. An update that may have been sent may
 * have taken effect.
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
 * Error codes of admission control. A server sends such an error before it looks up whether the
 * operation was executed. So the error does not rule out that another server has executed it.
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

/** Returns the error of an operation that the server of its present connection failed. */
export function toOperationError(
  operation: InFlightOperation,
  error: CorrectableError,
): CorrectableError {
  const { wasSentBefore, connection } = operation;
  if (!wasSentBefore || !ADMISSION_ERROR_CODES.has(error.code)) return error;
  // If a server has kept one record of this client since the operation was sent, it would know
  // whether it had executed the operation.
  const memory = connection?.memoryId;
  return memory !== undefined && !operation.isUnknownTo(memory)
    ? error
    : createNoReplyError(operation, error);
}

const NO_OPERATIONS: readonly InFlightOperation[] = [];
const NO_DETAILS: ViewDetails = {};

/**
 * All operations of one client that have no final yet. A message counts only on the connection on
 * which its operation was submitted.
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
   * The number up to which all updates have ended. A read in flight does not count, because it is
   * resent.
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

  /** Removes an operation. Later messages of the server about it are ignored. */
  remove(operation: InFlightOperation): void {
    if (!this.has(operation)) return;
    this.#operations.delete(operation.id);
    operation.detachFromConnection();
    operation.removeAbortListener?.();
    // The caller may keep the context, which must not keep the encoded arguments.
    if (operation.context.submissionStatus === operation)
      operation.context.submissionStatus = undefined;
  }

  /** Returns the operation that a message on `connection` belongs to. */
  #findOnConnection(id: number, connection: OperationConnection): InFlightOperation | undefined {
    const operation = this.#operations.get(id);
    return operation?.connection === connection ? operation : undefined;
  }

  /**
   * Returns the operation that a view at `level` belongs to. Fails the operation if there is no
   * such level.
   */
  #findForView(
    id: number,
    level: number,
    connection: OperationConnection,
  ): InFlightOperation | undefined {
    const operation = this.#findOnConnection(id, connection);
    if (operation === undefined || this.#levels[level] !== undefined) return operation;
    this.#failMalformed(operation, `a view at level ${level}, which does not exist`);
    return undefined;
  }

  handleView(message: ViewMessage, connection: OperationConnection): void {
    const { at } = view;
    const level = message[at.level];
    const operation = this.#findForView(message[at.id], level, connection);
    if (operation === undefined) return;
    const name = this.#levels[level] as string;
    storeSessionToken(operation, message[at.token]);
    const isEarly = level < operation.strongest;
    const last = !isEarly || message[KIND_AT] === 'final';
    if (last) this.remove(operation);
    if (operation.isCancelled) return;
    const value = message[at.value];
    const input = toViewDetails(message[at.version], message[at.meta], last && isEarly);
    if (last) return void operation.sink.view(value, name, input);
    const own = deepCopy(value);
    const seq = operation.sink.view(value, name, input);
    operation.recordView(
      message[at.seq],
      new ConfirmableView(seq, input ?? NO_DETAILS, own, value),
    );
  }

  handleConfirm(message: ConfirmMessage, connection: OperationConnection): void {
    const { at } = confirm;
    const level = message[at.level];
    const operation = this.#findForView(message[at.id], level, connection);
    if (operation === undefined) return;
    const name = this.#levels[level] as string;
    storeSessionToken(operation, message[at.token]);
    const last = level >= operation.strongest;
    if (operation.isCancelled) {
      if (last) this.remove(operation);
      return;
    }
    const known = operation.findView(message[at.seq]);
    if (known === undefined)
      return this.#failMalformed(
        operation,
        `the server confirmed view ${message[at.seq]}, which it never sent`,
      );
    if (last) this.remove(operation);
    const input = toViewDetails(message[at.version], message[at.meta]);
    if (known.isUnmodified()) {
      if (!last)
        operation.recordView(
          message[at.seq],
          known.withDetails(mergeDetails(known.details, input)),
        );
      operation.sink.confirm(name, known.seq, input);
      return;
    }
    const merged = mergeDetails(known.details, input);
    const value = known.copyValue();
    const seq = operation.sink.view(value, name, merged);
    if (!last) operation.recordView(message[at.seq], known.withDetails(merged, seq, value));
  }

  handleFail(message: FailMessage, connection: OperationConnection): void {
    const { at } = fail;
    const level = message[at.level];
    const operation = this.#findOnConnection(message[at.id], connection);
    if (operation === undefined) return;
    const name = level === undefined || level === null ? undefined : this.#levels[level];
    const error = fromFailMessage(message, name, operation.name);
    if (name !== undefined && (level ?? 0) < operation.strongest) {
      if (!operation.isCancelled) operation.sink.fail(error, name);
    } else if (connection.isDraining && error.code === 'UNAVAILABLE' && !operation.isCancelled) {
      // The operation was sent before the `goaway` message arrived. The server has not begun the
      // operation, so the next connection can submit it.
      operation.detachFromConnection();
      if (!operation.wasSentBefore) operation.home = operation.site = undefined;
      this.#rejected.push(operation);
    } else this.#end(operation, toOperationError(operation, error));
  }

  /** Returns the operations that servers which go away have rejected since the last call. */
  takeRejected(): readonly InFlightOperation[] {
    return this.#rejected.length === 0 ? NO_OPERATIONS : this.#rejected.splice(0);
  }

  /** Handles a malformed message on `connection` that seems to belong to operation `id`. */
  handleMalformed(id: number, error: CorrectableError, connection: OperationConnection): void {
    const operation = this.#findOnConnection(id, connection);
    if (operation !== undefined) this.abandon(operation, error);
  }

  /** Ends an operation that gets no reply. */
  abandon(operation: InFlightOperation, cause: CorrectableError): void {
    this.#end(operation, createNoReplyError(operation, cause));
  }

  /** Ends all operations that are in flight now. */
  abandonAll(cause: CorrectableError): void {
    for (const operation of this.#select(() => true)) this.abandon(operation, cause);
  }

  getUnsubmitted(): InFlightOperation[] {
    return this.#select(({ connection }) => connection === undefined);
  }

  /**
   * Handles the end of a connection. Its unanswered operations wait for another one, except
   * abandoned ones, which were reported already.
   */
  handleConnectionLoss(connection: OperationConnection): void {
    for (const operation of this.#select((item) => item.connection === connection)) {
      if (operation.isCancelled) this.remove(operation);
      else operation.handleConnectionLoss();
    }
  }

  // Returns an array, because the end of one operation may start others.
  #select(requested: (operation: InFlightOperation) => boolean): InFlightOperation[] {
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

function storeSessionToken({ context }: InFlightOperation, token: string | undefined): void {
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
  if (meta === undefined || meta === null) return hasVersion ? { version } : undefined;
  return hasVersion ? { version, meta } : { meta };
}
