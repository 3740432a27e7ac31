/** The operations that have no final yet, by number, and what the server's rows do to them. */
import { mergeDetails, type ViewDetails } from '../../correctable/binding.ts';
import { CorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import { confirm, type ConfirmRow } from '../../protocol/rows/confirm.ts';
import { KIND } from '../../protocol/rows/define-row.ts';
import { fail, type FailRow } from '../../protocol/rows/fail.ts';
import { NumberedTable } from '../../protocol/numbered-table.ts';
import { view, type ViewRow } from '../../protocol/rows/view.ts';
import { errorOf } from '../../protocol/wire-errors.ts';
import { SeenView, type Carrier, type InFlightOperation } from './in-flight-operation.ts';
import { copied } from '../../values/copy.ts';
import { WireSession } from './submit-row.ts';

/** The error of an operation that was not answered: an update that may have left may have taken effect. */
function unanswered(operation: InFlightOperation, cause: CorrectableError): CorrectableError {
  const { name, effect, mayHaveLeft } = operation;
  if (effect === 'update' && mayHaveLeft) {
    const message = `${name}: the update was sent, but its answer never came, so it may have taken effect: ${cause.message}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  const { code, message, retryable, retryAfterMs, field } = cause;
  const fate = effect === 'update' ? '; nothing was done' : '';
  return new CorrectableError(code, `${name}: ${message}${fate}`, { retryable, retryAfterMs, field, cause });
}

/**
 * What a server says at its door, before it looks for what was done: of an update that another one may have executed
 * before, it says nothing.
 */
const SAID_AT_THE_DOOR: ReadonlySet<ErrorCode> = new Set([
  'OVERLOADED',
  'UNAVAILABLE',
  'FORBIDDEN',
  'UNAUTHENTICATED',
  'UNSUPPORTED',
  'INVALID_ARGUMENT',
  'UNKNOWN_LEVEL',
  'PROTOCOL',
  'EXPIRED_ID',
  'ABORTED',
]);

/** The error of an operation that the server of its present line failed. */
export function failedBy(operation: InFlightOperation, error: CorrectableError): CorrectableError {
  const { sentBefore, line } = operation;
  if (!sentBefore || !SAID_AT_THE_DOOR.has(error.code)) return error;
  // One that has remembered this client ever since would know of it.
  const memory = line?.memory;
  return memory !== undefined && !operation.isUnknownTo(memory) ? error : unanswered(operation, error);
}

const NONE: readonly InFlightOperation[] = [];
const NO_DETAILS: ViewDetails = {};

/** All operations of one client that have no final yet. Rows count only on the line that an operation was submitted on. */
export class InFlight {
  readonly #levels: readonly string[];
  readonly #operations = new NumberedTable<InFlightOperation>();
  #lastId = 0;
  #lastUpdate = 0;
  #refused: InFlightOperation[] = [];
  #watermark = 0;

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
    if (operation.effect === 'update') this.#lastUpdate = operation.id;
  }

  has(operation: InFlightOperation): boolean {
    return this.#operations.get(operation.id) === operation;
  }

  /** The number of the newest operation. */
  get lastId(): number {
    return this.#lastId;
  }

  /** The number up to which all updates have ended; a read under way holds nothing back, since it is asked anew. */
  get watermark(): number {
    while (this.#watermark < this.#lastUpdate && this.#operations.get(this.#watermark + 1)?.effect !== 'update') {
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
    operation.leaveLine();
    operation.release?.();
    // What the caller keeps must not keep the encoded arguments.
    if (operation.context.whereabouts === operation) operation.context.whereabouts = undefined;
  }

  /** The operation that a row on `line` is about. */
  #onLine(id: number, line: Carrier): InFlightOperation | undefined {
    const operation = this.#operations.get(id);
    return operation?.line === line ? operation : undefined;
  }

  view(row: ViewRow, line: Carrier): void {
    const { at } = view;
    const level = row[at.level];
    const operation = this.#onLine(row[at.id], line);
    if (operation === undefined) return;
    const name = this.#levels[level];
    if (name === undefined) return this.#spoil(operation, `a view at level ${level}, which does not exist`);
    learn(operation, row[at.token]);
    const isEarly = level < operation.strongest;
    const last = !isEarly || row[KIND] === 'final';
    if (last) this.remove(operation);
    if (operation.cancelled) return;
    const value = row[at.value];
    const given = details(row[at.version], row[at.meta], last && isEarly);
    if (last) return void operation.sink.update(value, name, given);
    const own = copied(value);
    const seq = operation.sink.update(value, name, given);
    operation.saw(row[at.seq], new SeenView(seq, given ?? NO_DETAILS, own, value));
  }

  confirm(row: ConfirmRow, line: Carrier): void {
    const { at } = confirm;
    const level = row[at.level];
    const operation = this.#onLine(row[at.id], line);
    if (operation === undefined) return;
    const name = this.#levels[level];
    if (name === undefined) return this.#spoil(operation, `a view at level ${level}, which does not exist`);
    learn(operation, row[at.token]);
    const last = level >= operation.strongest;
    if (operation.cancelled) {
      if (last) this.remove(operation);
      return;
    }
    const known = operation.seen(row[at.seq]);
    if (known === undefined)
      return this.#spoil(operation, `the server confirmed view ${row[at.seq]}, which it never sent`);
    if (last) this.remove(operation);
    const given = details(row[at.version], row[at.meta]);
    if (known.isUntouched()) {
      if (!last) operation.saw(row[at.seq], known.with(mergeDetails(known.details, given)));
      operation.sink.confirm(name, known.seq, given);
      return;
    }
    const merged = mergeDetails(known.details, given);
    const value = known.again();
    const seq = operation.sink.update(value, name, merged);
    if (!last) operation.saw(row[at.seq], known.with(merged, seq, value));
  }

  fail(row: FailRow, line: Carrier): void {
    const { at } = fail;
    const level = row[at.level];
    const operation = this.#onLine(row[at.id], line);
    if (operation === undefined) return;
    const name = level === undefined || level === null ? undefined : this.#levels[level];
    const error = errorOf(row, name, operation.name);
    if (name !== undefined && (level ?? 0) < operation.strongest) {
      if (!operation.cancelled) operation.sink.fail(error, name);
    } else if (line.retired && error.code === 'UNAVAILABLE' && !operation.cancelled) {
      // It crossed the `goaway`: that server has not begun with it, the next one may.
      operation.leaveLine();
      if (!operation.sentBefore) operation.home = operation.site = undefined;
      this.#refused.push(operation);
    } else this.#end(operation, failedBy(operation, error));
  }

  /** Those that servers which go away would not take since the last call. */
  takeRefused(): readonly InFlightOperation[] {
    return this.#refused.length === 0 ? NONE : this.#refused.splice(0);
  }

  /** A row on `line` that seems to be about operation `id` makes no sense. */
  spoiled(id: number, error: CorrectableError, line: Carrier): void {
    const operation = this.#onLine(id, line);
    if (operation !== undefined) this.abandon(operation, error);
  }

  /** Ends an operation to which no answer comes. */
  abandon(operation: InFlightOperation, cause: CorrectableError): void {
    this.#end(operation, unanswered(operation, cause));
  }

  /** Ends all that are under way now. */
  abandonAll(cause: CorrectableError): void {
    for (const operation of this.#select(() => true)) this.abandon(operation, cause);
  }

  /** Those that wait to be submitted, oldest first. */
  unsubmitted(): InFlightOperation[] {
    return this.#select(({ line }) => line === undefined);
  }

  /**
   * A line is gone: what it did not answer waits to be submitted on another. What was given up meanwhile does not: whoever
   * was told that it may have taken effect looks, and must not find later that it had not yet.
   */
  unbind(line: Carrier): void {
    for (const operation of this.#select((each) => each.line === line)) {
      if (operation.cancelled) this.remove(operation);
      else operation.unbind();
    }
  }

  // As a list, since those that end may lead to others that begin.
  #select(wanted: (operation: InFlightOperation) => boolean): InFlightOperation[] {
    const operations: InFlightOperation[] = [];
    this.#operations.forEach((operation) => void (wanted(operation) && operations.push(operation)));
    return operations.sort((a, b) => a.id - b.id);
  }

  #spoil(operation: InFlightOperation, message: string): void {
    this.abandon(operation, new CorrectableError('PROTOCOL', message));
  }

  #end(operation: InFlightOperation, error: CorrectableError): void {
    this.remove(operation);
    if (!operation.cancelled) operation.sink.fail(error);
  }
}

function learn({ context }: InFlightOperation, token: string | undefined): void {
  if (token !== undefined && context.session instanceof WireSession) context.session.learn(token);
}

function details(version: unknown, meta: ViewRow[typeof view.at.meta], isFinal = false): ViewDetails | undefined {
  const hasVersion = version !== undefined && version !== null;
  if (isFinal) return { version: version ?? undefined, meta: meta ?? undefined, final: true } as ViewDetails;
  if (meta === undefined || meta === null) return hasVersion ? { version } : undefined;
  return hasVersion ? { version, meta } : { meta };
}
