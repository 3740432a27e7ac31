/**
 * Operations on their way out: each is submitted on the line that is open when it comes, waits for one where there is
 * none, and is submitted again where a line went without having answered.
 */
import type { InvocationContext, Sink } from '../correctable/binding.ts';
import { CorrectableError } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { NumberedTable } from '../protocol/numbered-table.ts';
import { strongestOf } from '../protocol/rows/levels.ts';
import { submitFields } from '../protocol/rows/submit-fields.ts';
import { Cancellation } from './operations/cancellation.ts';
import { InFlight } from './operations/in-flight.ts';
import { InFlightOperation } from './operations/in-flight-operation.ts';
import type { Line } from './line/line.ts';
import type { ConnectionSettings } from './settings/options.ts';
import type { Outage } from './operations/outage.ts';
import { requireSendable, submitRow } from './operations/submit-row.ts';
import type { Scheduling } from './settings/scheduling.ts';

/** What the sender reports. */
export interface SenderEvents {
  /** An operation was submitted on the open line. */
  expectAnswer(isLarge: boolean): void;
  /** A line that was kept for its answers has gone. */
  retired(): void;
}

/** The operations of one client, and the lines that they are on. */
export class Sender {
  readonly inFlight: InFlight;
  readonly #settings: ConnectionSettings;
  readonly #levels: readonly string[];
  readonly #outage: Outage;
  readonly #events: SenderEvents;
  readonly #cancellation: Cancellation;
  readonly #retiring: RetiringLines;
  /** Where operations are submitted. */
  #line: Line | undefined;
  /** Those for which the server of the open line has no room yet. */
  readonly #waiting = new NumberedTable<InFlightOperation>();
  #tickAtMs: number | undefined;

  constructor(settings: ConnectionSettings, levels: readonly string[], outage: Outage, events: SenderEvents) {
    this.#settings = settings;
    this.#levels = levels;
    this.#outage = outage;
    this.#events = events;
    this.inFlight = new InFlight(levels);
    this.#cancellation = new Cancellation(this.inFlight, settings.scheduling, (operation) =>
      this.#cancelled(operation),
    );
    this.#retiring = new RetiringLines(settings.scheduling, (line) => this.#unbind(line));
  }

  /** Whether answers may still come on lines that nothing is submitted on any more. */
  get awaitsRetired(): boolean {
    return this.#retiring.size > 0;
  }

  /** Throws why the operation cannot be submitted at all. */
  submit(operation: Operation, levels: readonly string[], sink: Sink, context: InvocationContext): void {
    const submitted = this.#register(operation, levels, sink, context);
    context.whereabouts = submitted;
    this.#sendOrWait(submitted);
  }

  /** From now on operations go out on `line`, first those that wait, under the numbers that they have. */
  resume(line: Line): void {
    this.#line = line;
    this.acknowledge();
    this.#waiting.clear();
    for (const operation of this.inFlight.unsubmitted()) this.#waiting.set(operation.id, operation);
    this.#sendWaiting();
  }

  /** Submits what waits, oldest first, as far as the open line has room. */
  #sendWaiting(): void {
    const line = this.#line;
    this.#waiting.forEach((operation) => {
      // The end of one may have led to the end of others, or of the line.
      if (line === undefined || this.#line !== line || !line.hasRoom) return false;
      this.#waiting.delete(operation.id);
      if (this.inFlight.has(operation) && operation.line === undefined) this.#send(operation, line);
      return true;
    });
  }

  /** Tells the server which updates have ended. */
  acknowledge(): void {
    this.#line?.acknowledge(this.inFlight.watermark);
  }

  /** Submits nothing more on `line`, but keeps it for its answers. */
  retire(line: Line): void {
    this.#line = undefined;
    this.#retiring.add(line, line.drainMs + this.#settings.pongTimeoutMs);
  }

  /** The line is to be closed without waiting for its peer. */
  drop(line: Line): void {
    this.#line = undefined;
    line.drop();
    this.#unbind(line);
  }

  /** A line that was kept for its answers has closed. */
  lost(line: Line): void {
    this.#retiring.end(line);
  }

  /** What arrived on `line` has been dealt with. */
  received(line: Line): void {
    if (!line.retired) return this.#sendWaiting();
    for (const operation of this.inFlight.takeRefused()) {
      this.#cancellation.listen(operation);
      if (this.inFlight.has(operation) && operation.line === undefined) this.#sendOrWait(operation);
    }
    this.#retiring.endIfAnswered(line);
  }

  /** Ends all operations. */
  abandonAll(reason: CorrectableError): void {
    this.#waiting.clear();
    this.inFlight.abandonAll(reason);
    this.#retiring.endAll();
  }

  stop(): void {
    this.#cancellation.stop();
  }

  #register(
    operation: Operation,
    levels: readonly string[],
    sink: Sink,
    context: InvocationContext,
  ): InFlightOperation {
    const { inFlightMax, codec } = this.#settings;
    if (this.inFlight.size >= inFlightMax) {
      const message = `${inFlightMax} operations are under way on this connection already`;
      throw new CorrectableError('OVERLOADED', message, { retryAfterMs: 100 });
    }
    requireSendable(operation, context.idempotencyKey);
    let bits = 0;
    for (const level of levels) bits |= 1 << this.#levels.indexOf(level);
    const id = this.inFlight.nextId();
    const row = submitRow({ id, operation, levels: bits, context, wallNowMs: this.#tickAt() });
    const { name, effect } = operation;
    const parts = { id, name, effect, strongest: strongestOf(bits), sink, context };
    const submitted = new InFlightOperation(parts, codec.encodeRow(row, submitFields), this.#outage);
    this.inFlight.add(submitted);
    return submitted;
  }

  /** The wall-clock time of the running stretch of code, read once for all operations that are submitted together. */
  #tickAt(): number {
    if (this.#tickAtMs === undefined) {
      const { scheduling } = this.#settings;
      this.#tickAtMs = scheduling.wallNow?.() ?? scheduling.now();
      queueMicrotask(() => (this.#tickAtMs = undefined));
    }
    return this.#tickAtMs;
  }

  #sendOrWait(operation: InFlightOperation): void {
    const line = this.#line;
    // Those that wait already come before it.
    if (line?.hasRoom && this.#waiting.size === 0) {
      this.#send(operation, line);
      this.#cancellation.expect();
      return;
    }
    if (line !== undefined) this.#waiting.set(operation.id, operation);
    this.#cancellation.listen(operation);
  }

  #send(operation: InFlightOperation, line: Line): void {
    const refusal = line.submit(operation);
    if (refusal !== undefined) return this.inFlight.abandon(operation, refusal);
    this.#events.expectAnswer(operation.largeBytes > 0);
    if (line.isAckDue) this.acknowledge();
  }

  #cancelled(operation: InFlightOperation): void {
    const { id, effect, line } = operation;
    operation.cancelled = true;
    this.#waiting.delete(id);
    if (effect === 'read' || line === undefined) this.inFlight.remove(operation);
    line?.push([id, 'cancel']);
    this.#sendWaiting();
  }

  #unbind(line: Line): void {
    this.inFlight.unbind(line);
    for (const operation of this.inFlight.unsubmitted()) this.#cancellation.listen(operation);
    if (this.#line !== undefined) this.resume(this.#line);
    this.#events.retired();
  }
}

/** So many are kept; of more, the oldest goes, and what it did not answer is submitted again. */
const LINES_MAX = 8;

/** Each goes when it has answered everything, when it is lost, or when its time is over. */
export class RetiringLines {
  readonly #scheduling: Scheduling;
  readonly #onEnded: (line: Line) => void;
  readonly #timers = new Map<Line, () => void>();

  /** `onEnded` is told of each line that has gone. */
  constructor(scheduling: Scheduling, onEnded: (line: Line) => void) {
    this.#scheduling = scheduling;
    this.#onEnded = onEnded;
  }

  get size(): number {
    return this.#timers.size;
  }

  has(line: Line): boolean {
    return this.#timers.has(line);
  }

  /** Keeps a line for at most `limitMs`. */
  add(line: Line, limitMs: number): void {
    line.retired = true;
    this.#timers.set(
      line,
      this.#scheduling.setTimer(() => this.end(line), limitMs),
    );
    const [oldest] = this.#timers.keys();
    if (this.#timers.size > LINES_MAX && oldest !== undefined) this.end(oldest);
    this.endIfAnswered(line);
  }

  endIfAnswered(line: Line): void {
    if (line.awaited === 0) this.end(line);
  }

  end(line: Line): void {
    const cancelTimer = this.#timers.get(line);
    if (cancelTimer === undefined) return;
    cancelTimer();
    this.#timers.delete(line);
    line.flush();
    line.drop();
    this.#onEnded(line);
  }

  endAll(): void {
    for (const line of this.#timers.keys()) this.end(line);
  }
}
