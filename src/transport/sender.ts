/**
 * Submits operations on the open line, or once there is one, and again if a
 * line is lost before it has answered.
 */
import type { InvocationContext, Sink } from '../correctable/binding.ts';
import { CorrectableError } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { SequenceMap } from '../protocol/sequence-map.ts';
import { getStrongestIndex } from '../protocol/messages/level-bits.ts';
import { submitFields } from '../protocol/messages/submit-fields.ts';
import { InFlightOperations } from './operations/in-flight-operations.ts';
import { InFlightOperation } from './operations/in-flight-operation.ts';
import type { Connection } from './connection/connection.ts';
import type { ResolvedConnectionOptions } from './options/options.ts';
import type { Outage } from './operations/outage.ts';
import {
  checkSendable,
  createSubmitMessage,
} from './operations/submit-message.ts';
import type { Scheduling } from './options/scheduling.ts';

export interface SenderEvents {
  /** An operation was submitted on the open line. */
  onReplyExpected(isLarge: boolean): void;
  onDrained(): void;
}

/** The operations of one client, and the lines that they are on. */
export class Sender {
  readonly inFlight: InFlightOperations;
  readonly #options: ResolvedConnectionOptions;
  readonly #levels: readonly string[];
  readonly #outage: Outage;
  readonly #events: SenderEvents;
  readonly #cancellation: CancellationWatcher;
  readonly #draining: DrainingConnections;
  /** Where operations are submitted. */
  #connection: Connection | undefined;
  /** Those for which the server of the open line has no room yet. */
  readonly #waiting = new SequenceMap<InFlightOperation>();
  #tickAtMs: number | undefined;

  constructor(
    settings: ResolvedConnectionOptions,
    levels: readonly string[],
    outage: Outage,
    events: SenderEvents,
  ) {
    this.#options = settings;
    this.#levels = levels;
    this.#outage = outage;
    this.#events = events;
    this.inFlight = new InFlightOperations(levels);
    this.#cancellation = new CancellationWatcher(
      this.inFlight,
      settings.scheduling,
      (operation) => this.#handleCancelled(operation),
    );
    this.#draining = new DrainingConnections(settings.scheduling, (line) =>
      this.#detachOperations(line),
    );
  }

  /**
   * Whether answers may still come on lines that nothing is submitted on any
   * more.
   */
  get hasDraining(): boolean {
    return this.#draining.size > 0;
  }

  /** Throws why the operation cannot be submitted at all. */
  submit(
    operation: Operation,
    levels: readonly string[],
    sink: Sink,
    context: InvocationContext,
  ): void {
    const { maxInFlight, codec } = this.#options;
    if (this.inFlight.size >= maxInFlight) {
      const message = `${maxInFlight} operations are in flight on this connection already`;
      throw new CorrectableError('OVERLOADED', message, { retryAfterMs: 100 });
    }
    checkSendable(operation, context.idempotencyKey);
    let bits = 0;
    for (const level of levels) bits |= 1 << this.#levels.indexOf(level);
    const id = this.inFlight.nextId();
    const row = createSubmitMessage({
      id,
      operation,
      levels: bits,
      context,
      wallNowMs: this.#getTickTime(),
    });
    const { name, access } = operation;
    const parts = {
      id,
      name,
      access,
      strongest: getStrongestIndex(bits),
      sink,
      context,
    };
    const submitted = new InFlightOperation(
      parts,
      codec.encodeMessage(row, submitFields),
      this.#outage,
    );
    this.inFlight.add(submitted);
    context.submissionStatus = submitted;
    this.#sendOrWait(submitted);
  }

  /**
   * From now on operations go out on `line`, first those that wait, under the
   * numbers that they have.
   */
  resume(line: Connection): void {
    this.#connection = line;
    this.acknowledge();
    this.#waiting.clear();
    for (const operation of this.inFlight.getUnsubmitted())
      this.#waiting.set(operation.id, operation);
    this.#sendWaiting();
  }

  /** Submits what waits, oldest first, as far as the open line has room. */
  #sendWaiting(): void {
    const line = this.#connection;
    this.#waiting.forEach((operation) => {
      // The end of one may have led to the end of others, or of the line.
      if (line === undefined || this.#connection !== line || !line.hasCapacity)
        return false;
      this.#waiting.delete(operation.id);
      if (this.inFlight.has(operation) && operation.connection === undefined)
        this.#send(operation, line);
      return true;
    });
  }

  /** Reports to the server which updates have ended. */
  acknowledge(): void {
    this.#connection?.acknowledge(this.inFlight.watermark);
  }

  /** Submits no more on `line`, but keeps it for its answers. */
  drainConnection(line: Connection): void {
    this.#connection = undefined;
    this.#draining.add(line, line.drainMs + this.#options.pongTimeoutMs);
  }

  /** The line is to be closed without waiting for its peer. */
  terminateConnection(line: Connection): void {
    this.#connection = undefined;
    line.terminate();
    this.#detachOperations(line);
  }

  /** A line that was kept for its answers has closed. */
  handleConnectionLoss(line: Connection): void {
    this.#draining.end(line);
  }

  /** What arrived on `line` has been dealt with. */
  handleReceived(line: Connection): void {
    if (!line.isDraining) return this.#sendWaiting();
    for (const operation of this.inFlight.takeRejected()) {
      this.#cancellation.listenToSignal(operation);
      if (this.inFlight.has(operation) && operation.connection === undefined)
        this.#sendOrWait(operation);
    }
    this.#draining.endIfAnswered(line);
  }

  abandonAll(reason: CorrectableError): void {
    this.#waiting.clear();
    this.inFlight.abandonAll(reason);
    this.#draining.endAll();
  }

  stop(): void {
    this.#cancellation.stop();
  }

  /**
   * The wall-clock time of the running stretch of code, read once for all
   * operations that are submitted together.
   */
  #getTickTime(): number {
    if (this.#tickAtMs === undefined) {
      const { scheduling } = this.#options;
      this.#tickAtMs = scheduling.wallNow?.() ?? scheduling.now();
      queueMicrotask(() => (this.#tickAtMs = undefined));
    }
    return this.#tickAtMs;
  }

  #sendOrWait(operation: InFlightOperation): void {
    const line = this.#connection;
    // Those that wait already come before it.
    if (line?.hasCapacity && this.#waiting.size === 0) {
      this.#send(operation, line);
      this.#cancellation.scheduleCheck();
      return;
    }
    if (line !== undefined) this.#waiting.set(operation.id, operation);
    this.#cancellation.listenToSignal(operation);
  }

  #send(operation: InFlightOperation, line: Connection): void {
    const rejection = line.submit(operation);
    if (rejection !== undefined)
      return this.inFlight.abandon(operation, rejection);
    this.#events.onReplyExpected(operation.largeBytes > 0);
    if (line.isAckDue) this.acknowledge();
  }

  #handleCancelled(operation: InFlightOperation): void {
    const { id, access, connection } = operation;
    operation.isCancelled = true;
    this.#waiting.delete(id);
    if (access === 'read' || connection === undefined)
      this.inFlight.remove(operation);
    connection?.push([id, 'cancel']);
    this.#sendWaiting();
  }

  #detachOperations(line: Connection): void {
    this.inFlight.handleConnectionLoss(line);
    for (const operation of this.inFlight.getUnsubmitted())
      this.#cancellation.listenToSignal(operation);
    if (this.#connection !== undefined) this.resume(this.#connection);
    this.#events.onDrained();
  }
}

/**
 * The maximum of connections that drain. Beyond it, the oldest closes, and its
 * operations are resubmitted.
 */
const MAX_DRAINING_CONNECTIONS = 8;

/**
 * Each goes when it has answered everything, when it is lost, or when its time
 * is over.
 */
export class DrainingConnections {
  readonly #scheduling: Scheduling;
  readonly #onEnded: (line: Connection) => void;
  readonly #timers = new Map<Connection, () => void>();

  /** Calls `onEnded` for each line that has gone. */
  constructor(scheduling: Scheduling, onEnded: (line: Connection) => void) {
    this.#scheduling = scheduling;
    this.#onEnded = onEnded;
  }

  get size(): number {
    return this.#timers.size;
  }

  /** Keeps a line for at most `limitMs`. */
  add(line: Connection, limitMs: number): void {
    line.isDraining = true;
    this.#timers.set(
      line,
      this.#scheduling.setTimer(() => this.end(line), limitMs),
    );
    const [oldest] = this.#timers.keys();
    if (this.#timers.size > MAX_DRAINING_CONNECTIONS && oldest !== undefined)
      this.end(oldest);
    this.endIfAnswered(line);
  }

  endIfAnswered(line: Connection): void {
    if (line.awaitedCount === 0) this.end(line);
  }

  end(line: Connection): void {
    const cancelTimer = this.#timers.get(line);
    if (cancelTimer === undefined) return;
    cancelTimer();
    this.#timers.delete(line);
    line.flush();
    line.terminate();
    this.#onEnded(line);
  }

  endAll(): void {
    for (const line of this.#timers.keys()) this.end(line);
  }
}

const SIGNAL_CHECK_DELAY_MS = 20;

/**
 * Calls `onCancelled` for aborted operations. It looks late: looking at a
 * signal makes an `AbortController`.
 */
export class CancellationWatcher {
  readonly #inFlight: InFlightOperations;
  readonly #scheduling: Scheduling;
  readonly #onCancelled: (operation: InFlightOperation) => void;
  #cancelTimer: (() => void) | undefined;
  /**
   * Operations up to this number have been in flight for as long as the timer
   * runs.
   */
  #checkUpToId = 0;

  constructor(
    inFlight: InFlightOperations,
    scheduling: Scheduling,
    onCancelled: (operation: InFlightOperation) => void,
  ) {
    this.#inFlight = inFlight;
    this.#scheduling = scheduling;
    this.#onCancelled = onCancelled;
  }

  scheduleCheck(): void {
    if (this.#cancelTimer === undefined) this.#arm();
  }

  /**
   * An operation has to wait before it can be submitted, or submitted again: it
   * must not be once it was cancelled.
   */
  listenToSignal(operation: InFlightOperation): void {
    if (operation.removeAbortListener !== undefined) return;
    const { signal } = operation.context;
    const cancel = (): void => this.#onCancelled(operation);
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel, { once: true });
    operation.removeAbortListener = () =>
      signal.removeEventListener('abort', cancel);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #arm(): void {
    this.#checkUpToId = this.#inFlight.lastId;
    this.#cancelTimer = this.#scheduling.setTimer(
      () => this.#checkSignals(),
      SIGNAL_CHECK_DELAY_MS,
    );
  }

  #checkSignals(): void {
    this.#cancelTimer = undefined;
    let newer = false;
    this.#inFlight.forEach((operation) => {
      newer = operation.id > this.#checkUpToId;
      if (!newer && !operation.isCancelled) this.listenToSignal(operation);
      return !newer;
    });
    if (newer) this.#arm();
  }
}
