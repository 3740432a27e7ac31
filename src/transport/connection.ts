/** The shell around the connection's state machine: sockets, timers, frames. One per client and gateway. */
import type { InvocationContext, Sink } from '../correctable/binding.ts';
import { CorrectableError } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { isFatalClose } from '../protocol/close-codes.ts';
import { fitsFrame, type Encoded } from '../protocol/codec.ts';
import type { FailRow } from '../protocol/fail.ts';
import type { ClientRow, ServerRow } from '../protocol/rows.ts';
import { submitFields } from '../protocol/submit-fields.ts';
import { PROTOCOL_VERSION } from '../protocol/version.ts';
import type { Welcome } from '../protocol/welcome.ts';
import { errorOf } from '../protocol/wire-errors.ts';
import { Cancellation } from './cancellation.ts';
import { randomClientId } from './client-id.ts';
import { lossOf, refusalOf } from './close-reasons.ts';
import { transition, type ConnectionAction, type ConnectionEvent, type ConnectionState } from './connection-state.ts';
import { ConnectionTimer } from './connection-timer.ts';
import { InFlight, InFlightOperation } from './in-flight.ts';
import { readFrame, type InboundHandler } from './inbound.ts';
import { SiteRing } from './site-ring.ts';
import { TokenRenewal } from './token-renewal.ts';
import { settle, type ConnectionOptions, type ConnectionSettings, type ConnectionTarget } from './options.ts';
import { Outbox } from '../protocol/outbox.ts';
import { SocketHandle } from './socket-handle.ts';
import { rowAt, submitRow } from './submit-row.ts';

/** A connection to one gateway that survives the loss of its sockets. */
export interface Connection {
  readonly state: ConnectionState;
  /** Fulfilled by the first welcome; rejected when the server refuses the client or the connection is closed before. */
  readonly ready: Promise<void>;
  /** Like `Binding.submitOperation`. */
  submit<T>(operation: Operation<T>, levels: readonly string[], sink: Sink<T>, context: InvocationContext): void;
  /** Tells the transport that the network may be back, so that it need not wait. */
  wake(): void;
  /** Fails what is under way with `UNAVAILABLE` and closes the socket. */
  close(): Promise<void>;
}

/** After how many submissions to acknowledge those that have ended. */
const ACK_STEP = 64;
/** Malformed rows of a server before it is given up. */
const MALFORMED_MAX = 8;

/**
 * Connects to a gateway, and again whenever the connection is lost. Operations submitted meanwhile wait.
 *
 * @example
 * const connection = connect({ url: 'ws://127.0.0.1:7070/irl', WebSocket }, { levels: ['weak', 'strong'] });
 * await connection.ready;
 */
export function connect(options: ConnectionOptions, target: ConnectionTarget): Connection {
  return new WebSocketConnection(settle(options), target);
}

class WebSocketConnection implements Connection, InboundHandler {
  readonly ready: Promise<void>;
  readonly #settings: ConnectionSettings;
  readonly #target: ConnectionTarget;
  readonly #client = randomClientId();
  readonly #inFlight: InFlight;
  readonly #outbox: Outbox;
  readonly #cancellation: Cancellation;
  readonly #timer: ConnectionTimer;
  readonly #sites: SiteRing;
  readonly #renewal: TokenRenewal;
  readonly #ended: Promise<void>;
  #state: ConnectionState = 'connecting';
  #socket: SocketHandle | undefined;
  /** Name of the site that welcomed the client, where the store has several. */
  #site: string | undefined;
  #attempt = 0;
  #failures = 0;
  #malformed = 0;
  #unacknowledged = 0;
  #nowMs: number | undefined;
  #reason: CorrectableError | undefined;
  #settleReady!: { resolve: () => void; reject: (error: CorrectableError) => void };
  #settleEnded!: () => void;

  constructor(settings: ConnectionSettings, target: ConnectionTarget) {
    this.#settings = settings;
    this.#target = target;
    this.#inFlight = new InFlight(target.levels);
    this.#outbox = new Outbox(
      settings.codec,
      (fn) => settings.scheduling.afterTick(fn),
      (frame) => this.#socket?.send(frame),
    );
    this.#cancellation = new Cancellation(this.#inFlight, settings.scheduling, (operation) =>
      this.#cancelled(operation),
    );
    this.#sites = new SiteRing(settings.urls);
    this.#renewal = new TokenRenewal(settings, {
      renewed: (token) => this.#push([0, 'renew', token]),
      failed: (cause) => this.#tokenFailed(cause),
    });
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    // Operations report the same error; who does not look at `ready` must not see an unhandled rejection.
    this.ready.catch(() => {});
    this.#ended = new Promise((resolve) => (this.#settleEnded = resolve));
    this.#timer = new ConnectionTimer(settings, () => this.#dispatch('elapsed'));
    this.#connect();
    this.#timer.arm(this.#state, 0);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get #isOpen(): boolean {
    return this.#state === 'open' || this.#state === 'probing';
  }

  submit<T>(operation: Operation<T>, levels: readonly string[], sink: Sink<T>, context: InvocationContext): void {
    try {
      const submitted = this.#register(operation, levels, sink as Sink, context);
      if (this.#isOpen) this.#send(submitted);
    } catch (error) {
      sink.fail(error);
    }
  }

  wake(): void {
    this.#dispatch('wake');
  }

  async close(): Promise<void> {
    this.#reason ??= new CorrectableError('UNAVAILABLE', 'the connection was closed by the application');
    this.#dispatch('close');
    await this.#ended;
  }

  #register(
    operation: Operation,
    levels: readonly string[],
    sink: Sink,
    context: InvocationContext,
  ): InFlightOperation {
    if (this.#state === 'closed' || this.#state === 'closing') throw this.#reasonToFail();
    const { inFlightMax, codec } = this.#settings;
    if (this.#inFlight.size >= inFlightMax) {
      const message = `${inFlightMax} operations are under way on this connection already`;
      throw new CorrectableError('OVERLOADED', message, { retryAfterMs: 100 });
    }
    let bits = 0;
    for (const level of levels) bits |= 1 << this.#target.levels.indexOf(level);
    const id = this.#inFlight.nextId();
    const row = submitRow({ id, operation, levels: bits, context, nowMs: this.#tickAt() });
    const submitted = new InFlightOperation(id, codec.encodeRow(row, submitFields), {
      effect: operation.effect,
      strongest: 31 - Math.clz32(bits),
      sink,
      context,
    });
    this.#inFlight.add(submitted);
    this.#cancellation.expect();
    return submitted;
  }

  /** The time of the running stretch of code, read once for all operations that are submitted together. */
  #tickAt(): number {
    if (this.#nowMs === undefined) {
      this.#nowMs = this.#settings.scheduling.now();
      queueMicrotask(() => (this.#nowMs = undefined));
    }
    return this.#nowMs;
  }

  #cancelled(operation: InFlightOperation): void {
    const { id, effect, sent } = operation;
    operation.cancelled = true;
    if (effect === 'read') this.#inFlight.remove(id);
    if (sent) this.#push([id, 'cancel']);
  }

  #send(operation: InFlightOperation): void {
    const { codec } = this.#settings;
    if (!fitsFrame(codec, operation.row, this.#outbox.frameBytesMax)) {
      const size = codec.byteLength(operation.row);
      const message = `args: the operation takes ${size} bytes, the server reads ${this.#outbox.frameBytesMax} at most`;
      this.#inFlight.failOne(operation.id, new CorrectableError('INVALID_ARGUMENT', message, { field: 'args' }));
      return;
    }
    operation.sent = true;
    const row = this.#site === undefined ? operation.row : rowAt(this.#site, operation, codec);
    this.#outbox.push(row, this.#inFlight.size);
    if (operation.cancelled) this.#push([operation.id, 'cancel']);
    if (++this.#unacknowledged >= ACK_STEP) this.#acknowledge();
  }

  #acknowledge(): void {
    this.#unacknowledged = 0;
    const watermark = this.#inFlight.takeWatermark();
    if (watermark !== undefined) this.#push([watermark, 'ack']);
  }

  #push(row: ClientRow): void {
    this.#outbox.push(this.#settings.codec.encodeRow(row));
  }

  #dispatch(event: ConnectionEvent): void {
    const from = this.#state;
    const { state, actions } = transition(from, event);
    const changed = state !== from;
    this.#state = state;
    for (const action of actions) this.#perform(action);
    // An action may have led on to another state, which has been entered by now.
    if (!changed || this.#state !== state) return;
    this.#enter(state, from);
  }

  #enter(state: ConnectionState, from: ConnectionState): void {
    const backoffMs = state === 'waiting' ? this.#nextBackoffMs(from) : 0;
    if (backoffMs === undefined) return this.#dispatch('refused');
    this.#timer.arm(state, backoffMs);
    this.#settings.onStateChange(state, this.#reason);
  }

  #nextBackoffMs(from: ConnectionState): number | undefined {
    this.#failures++;
    this.#sites.failed(from !== 'connecting' && from !== 'greeting');
    const { reconnect, random } = this.#settings;
    return reconnect.delayMs(this.#failures, random);
  }

  #perform(action: ConnectionAction): void {
    switch (action) {
      case 'connect':
        return this.#connect();
      case 'greet':
        return this.#greet();
      case 'resume':
        return this.#resume();
      case 'ping':
        this.#acknowledge();
        return this.#push([this.#attempt, 'ping']);
      case 'drop':
        return this.#drop();
      case 'farewell':
        this.#acknowledge();
        this.#outbox.flush();
        return this.#socket?.close();
      case 'fail':
        return this.#inFlight.failAll(this.#reasonToFail());
      case 'end':
        this.#cancellation.stop();
        this.#settleReady.reject(this.#reasonToFail());
        return this.#settleEnded();
    }
  }

  #connect(): void {
    this.#attempt++;
    const { WebSocket, codec } = this.#settings;
    const { url } = this.#sites;
    try {
      this.#socket = new SocketHandle(new WebSocket(url, [codec.subprotocol]), {
        opened: () => this.#dispatch('opened'),
        received: (frame) => this.#receive(frame),
        closed: (code, reason) => this.#closed(code, reason),
      });
    } catch (cause) {
      // A page served over https may not open ws://, for example: trying again would not help.
      this.#reason = new CorrectableError('UNSUPPORTED', `url: the platform refuses to connect to ${url}`, { cause });
      queueMicrotask(() => this.#dispatch('refused'));
    }
  }

  #drop(): void {
    this.#renewal.stop();
    this.#socket?.drop();
    this.#socket = undefined;
    this.#outbox.clear();
    this.#inFlight.markUnsent();
  }

  #closed(code: number, reason: string): void {
    if (isFatalClose(code)) {
      this.#reason = refusalOf(code, reason, this.#reason);
      return this.#dispatch('refused');
    }
    // What the application itself gave as the reason stays.
    if (this.#state !== 'closing') this.#reason = lossOf(this.#sites.url, code, reason);
    this.#dispatch('lost');
  }

  #greet(): void {
    const socket = this.#socket;
    const hello = { version: PROTOCOL_VERSION, client: this.#client, attempt: this.#attempt, ...this.#target };
    Promise.resolve()
      .then(() => this.#settings.token())
      .then((token) => {
        if (this.#socket !== socket) return;
        this.#push([0, 'hello', { ...hello, token }]);
        this.#outbox.flush();
      })
      .catch((cause: unknown) => {
        if (this.#socket !== socket) return;
        this.#tokenFailed(cause);
      });
  }

  #tokenFailed(cause: unknown): void {
    this.#reason = new CorrectableError('UNAUTHENTICATED', 'token: no token could be had', { cause });
    this.#dispatch('refused');
  }

  #resume(): void {
    this.#failures = 0;
    this.#malformed = 0;
    this.#reason = undefined;
    this.#sites.opened();
    const operations = this.#inFlight.resubmissions();
    this.#acknowledge();
    for (const operation of operations) this.#send(operation);
    this.#settleReady.resolve();
  }

  #receive(frame: Encoded): void {
    this.#timer.heard();
    if (this.#state === 'probing') this.#dispatch('heard');
    readFrame(this.#settings.codec, frame, this);
    if (this.#state === 'draining' && !this.#inFlight.awaitsAnswers()) this.#dispatch('drained');
  }

  row(row: ServerRow): void {
    switch (row[1]) {
      case 'view':
        return this.#inFlight.view(row);
      case 'confirm':
        return this.#inFlight.confirm(row);
      case 'fail':
        return this.#receiveFail(row);
      case 'welcome':
        return this.#receiveWelcome(row[2]);
      case 'renewed':
        return this.#renewal.expect(row[2] ?? undefined);
      case 'goaway':
        this.#sites.leaving();
        this.#timer.drainMs = row[2];
        return this.#dispatch('goaway');
      case 'ping':
        return this.#push([row[0], 'pong']);
      case 'pong':
        return undefined;
    }
  }

  malformed(id: number, message: string): void {
    const error = new CorrectableError('PROTOCOL', message);
    this.#inFlight.failOne(id, error);
    if (++this.#malformed < MALFORMED_MAX) return;
    this.#reason = error;
    this.#dispatch('refused');
  }

  #receiveFail(row: FailRow): void {
    if (row[0] > 0) return this.#inFlight.fail(row);
    this.#reason = errorOf(row);
  }

  #receiveWelcome({ version, levels, limits, site, expiresInMs }: Welcome): void {
    if (version !== PROTOCOL_VERSION || levels.join() !== this.#target.levels.join()) {
      const message = `the server speaks version ${version} with levels ${levels.join()}`;
      this.#reason = new CorrectableError('PROTOCOL', `${message}; this client needs ${this.#target.levels.join()}`);
      return this.#dispatch('refused');
    }
    this.#outbox.frameBytesMax = limits.frameBytesMax;
    this.#site = site;
    this.#renewal.expect(expiresInMs);
    this.#dispatch('welcomed');
  }

  #reasonToFail(): CorrectableError {
    return this.#reason ?? new CorrectableError('UNAVAILABLE', `${this.#sites.url} cannot be reached`);
  }
}
