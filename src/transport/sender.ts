/**
 * Submits operations on the open connection, or once there is one. Resubmits them if a connection
 * is lost before it has answered.
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
import { checkSendable, createSubmitMessage } from './operations/submit-message.ts';
import type { Scheduling } from './options/scheduling.ts';

export interface SenderEvents {
  /** Called when an operation was submitted on the open connection. */
  onReplyExpected(isLarge: boolean): void;
  onDrained(): void;
}

/** The operations of one client, and the connections on which they were submitted. */
export class Sender {
  readonly inFlight: InFlightOperations;
  readonly #options: ResolvedConnectionOptions;
  readonly #levels: readonly string[];
  readonly #outage: Outage;
  readonly #events: SenderEvents;
  readonly #cancellation: CancellationWatcher;
  readonly #draining: DrainingConnections;
  /** The connection on which operations are submitted. */
  #connection: Connection | undefined;
  /** Operations for which the server of the open connection has no capacity yet. */
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
    this.#cancellation = new CancellationWatcher(this.inFlight, settings.scheduling, (operation) =>
      this.#handleCancelled(operation),
    );
    this.#draining = new DrainingConnections(settings.scheduling, (connection) =>
      this.#detachOperations(connection),
    );
  }

  /** Whether replies may still arrive on connections that take no more operations. */
  get hasDraining(): boolean {
    return this.#draining.size > 0;
  }

  /** Submits an operation. Throws if it can never be submitted. */
  submit(
    operation: Operation,
    levels: readonly string[],
    sink: Sink,
    context: InvocationContext,
  ): void {
    const { maxInFlight, codec } = this.#options;
    if (this.inFlight.size >= maxInFlight) {
      const problem = `${maxInFlight} operations are in flight on this connection already`;
      throw new CorrectableError('OVERLOADED', problem, { retryAfterMs: 100 });
    }
    checkSendable(operation, context.idempotencyKey);
    let bits = 0;
    for (const level of levels) bits |= 1 << this.#levels.indexOf(level);
    const id = this.inFlight.nextId();
    const message = createSubmitMessage({
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
      codec.encodeMessage(message, submitFields),
      this.#outage,
    );
    this.inFlight.add(submitted);
    context.submissionStatus = submitted;
    this.#sendOrWait(submitted);
  }

  /**
   * Submits operations on `connection` from now on. Waiting operations go first, and keep their
   * numbers.
   */
  resume(connection: Connection): void {
    this.#connection = connection;
    this.acknowledge();
    this.#waiting.clear();
    for (const operation of this.inFlight.getUnsubmitted())
      this.#waiting.set(operation.id, operation);
    this.#sendWaiting();
  }

  /** Submits waiting operations, oldest first, while the open connection has capacity. */
  #sendWaiting(): void {
    const connection = this.#connection;
    this.#waiting.forEach((operation) => {
      // A callback of an operation that ended may have ended other operations, or closed the
      // connection.
      if (connection === undefined || this.#connection !== connection || !connection.hasCapacity)
        return false;
      this.#waiting.delete(operation.id);
      if (this.inFlight.has(operation) && operation.connection === undefined)
        this.#send(operation, connection);
      return true;
    });
  }

  /** Reports to the server which updates have ended. */
  acknowledge(): void {
    this.#connection?.acknowledge(this.inFlight.watermark);
  }

  /** Submits no more on `connection`, but keeps it for its replies. */
  drainConnection(connection: Connection): void {
    this.#connection = undefined;
    this.#draining.add(connection, connection.drainMs + this.#options.pongTimeoutMs);
  }

  /** Closes the connection without waiting for its peer. */
  terminateConnection(connection: Connection): void {
    this.#connection = undefined;
    connection.terminate();
    this.#detachOperations(connection);
  }

  /** Handles the end of a connection that was kept for its replies. */
  handleConnectionLoss(connection: Connection): void {
    this.#draining.end(connection);
  }

  /** Called when the messages that arrived on `connection` were handled. */
  handleReceived(connection: Connection): void {
    if (!connection.isDraining) return this.#sendWaiting();
    for (const operation of this.inFlight.takeRejected()) {
      this.#cancellation.listenToSignal(operation);
      if (this.inFlight.has(operation) && operation.connection === undefined)
        this.#sendOrWait(operation);
    }
    this.#draining.endIfAnswered(connection);
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
   * Returns the wall-clock time of the current tick, read once for all operations that are
   * submitted together.
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
    const connection = this.#connection;
    // Operations that are already waiting must be sent before this one.
    if (connection?.hasCapacity && this.#waiting.size === 0) {
      this.#send(operation, connection);
      this.#cancellation.scheduleCheck();
      return;
    }
    if (connection !== undefined) this.#waiting.set(operation.id, operation);
    this.#cancellation.listenToSignal(operation);
  }

  #send(operation: InFlightOperation, connection: Connection): void {
    const rejection = connection.submit(operation);
    if (rejection !== undefined) return this.inFlight.abandon(operation, rejection);
    this.#events.onReplyExpected(operation.largeBytes > 0);
    if (connection.isAckDue) this.acknowledge();
  }

  #handleCancelled(operation: InFlightOperation): void {
    const { id, access, connection } = operation;
    operation.isCancelled = true;
    this.#waiting.delete(id);
    if (access === 'read' || connection === undefined) this.inFlight.remove(operation);
    connection?.push([id, 'cancel']);
    this.#sendWaiting();
  }

  #detachOperations(connection: Connection): void {
    this.inFlight.handleConnectionLoss(connection);
    for (const operation of this.inFlight.getUnsubmitted())
      this.#cancellation.listenToSignal(operation);
    if (this.#connection !== undefined) this.resume(this.#connection);
    this.#events.onDrained();
  }
}

/**
 * The maximum number of draining connections. If there are more, the oldest is closed, and its
 * operations are resubmitted.
 */
const MAX_DRAINING_CONNECTIONS = 8;

/**
 * Connections that take no more operations but are kept for replies. Each one is removed when all
 * its operations are answered, when it is lost, or after its time limit.
 */
export class DrainingConnections {
  readonly #scheduling: Scheduling;
  readonly #onEnded: (connection: Connection) => void;
  readonly #timers = new Map<Connection, () => void>();

  /** Calls `onEnded` for each connection that was removed. */
  constructor(scheduling: Scheduling, onEnded: (connection: Connection) => void) {
    this.#scheduling = scheduling;
    this.#onEnded = onEnded;
  }

  get size(): number {
    return this.#timers.size;
  }

  /** Keeps a connection for at most `limitMs`. */
  add(connection: Connection, limitMs: number): void {
    connection.isDraining = true;
    this.#timers.set(
      connection,
      this.#scheduling.setTimer(() => this.end(connection), limitMs),
    );
    const [oldest] = this.#timers.keys();
    if (this.#timers.size > MAX_DRAINING_CONNECTIONS && oldest !== undefined) this.end(oldest);
    this.endIfAnswered(connection);
  }

  endIfAnswered(connection: Connection): void {
    if (connection.awaitedCount === 0) this.end(connection);
  }

  end(connection: Connection): void {
    const cancelTimer = this.#timers.get(connection);
    if (cancelTimer === undefined) return;
    cancelTimer();
    this.#timers.delete(connection);
    connection.flush();
    connection.terminate();
    this.#onEnded(connection);
  }

  endAll(): void {
    for (const connection of this.#timers.keys()) this.end(connection);
  }
}

const SIGNAL_CHECK_DELAY_MS = 20;

/**
 * Calls `onCancelled` for aborted operations. It reads signals late, because the first access
 * creates an `AbortController`.
 */
export class CancellationWatcher {
  readonly #inFlight: InFlightOperations;
  readonly #scheduling: Scheduling;
  readonly #onCancelled: (operation: InFlightOperation) => void;
  #cancelTimer: (() => void) | undefined;
  /** The highest operation number that the running timer checks. */
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
   * Watches an operation that has to wait before it is submitted. It must not be submitted once it
   * was cancelled.
   */
  listenToSignal(operation: InFlightOperation): void {
    if (operation.removeAbortListener !== undefined) return;
    const { signal } = operation.context;
    const cancel = (): void => this.#onCancelled(operation);
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel, { once: true });
    operation.removeAbortListener = () => signal.removeEventListener('abort', cancel);
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
