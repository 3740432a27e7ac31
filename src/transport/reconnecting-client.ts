/**
 * Runs the state machine of a connection: it keeps one connection to a site open. There is one of
 * these per client.
 */
import type { BindingSession, InvocationContext, Sink } from '../correctable/binding.ts';
import { CorrectableError, createInvalidArgumentError } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { CloseCode, isFatalClose } from '../protocol/close-codes.ts';
import type { EncodedData } from '../protocol/codec/codec.ts';
import type { Welcome } from '../protocol/messages/welcome.ts';
import {
  Outage,
  REFUSAL_HINT,
  formatCloseDetail,
  createLossError,
  createPrincipalChangedError,
  createRejectionError,
} from './operations/outage.ts';
import { ReconnectBackoff, SitePool } from './site-pool.ts';
import { guardListener } from './options/guard-callbacks.ts';
import {
  getTransition,
  type ConnectionAction,
  type ConnectionEvent,
  type ConnectionState,
} from './options/connection-state.ts';
import { ConnectionTimer } from './connection-timer.ts';
import { Handshake, createNoTokenError } from './connection/handshake.ts';
import { Connection, type ConnectionEvents } from './connection/connection.ts';
import {
  resolveConnectionOptions,
  type ConnectionOptions,
  type ResolvedConnectionOptions,
  type ConnectionTarget,
} from './options/options.ts';
import { Receiver, type ReceiverEvents } from './receiver.ts';
import { Sender } from './sender.ts';
import { TokenRenewal } from './connection/token-renewal.ts';
import { WireSession } from './operations/submit-message.ts';

/** A connection to one gateway that is reopened after its socket is lost. */
export type ReconnectingClient = Pick<
  WebSocketClient,
  'state' | 'ready' | 'principal' | 'submit' | 'openSession' | 'onReconnect' | 'wake' | 'close'
>;

/**
 * Connects to a gateway, and again whenever the connection is lost. Operations submitted meanwhile
 * wait.
 *
 * @example
 * const client = connectClient(
 *   { url: 'ws://127.0.0.1:7070/ireland' },
 *   { levels: ['weak', 'strong'] },
 * );
 * await client.ready;
 */
export function connectClient(
  options: ConnectionOptions,
  target: ConnectionTarget,
): ReconnectingClient {
  return new WebSocketClient(resolveConnectionOptions(options), target);
}

class WebSocketClient implements ConnectionEvents, ReceiverEvents {
  /**
   * Resolves at the first welcome. Rejects if the server refuses the client, or if the client is
   * closed before.
   */
  readonly ready: Promise<void>;
  readonly #options: ResolvedConnectionOptions;
  readonly #target: ConnectionTarget;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #handshake: Handshake;
  readonly #outage: Outage;
  readonly #backoff: ReconnectBackoff;
  readonly #timer: ConnectionTimer;
  readonly #sitePool: SitePool;
  readonly #renewal: TokenRenewal;
  readonly #ended: Promise<void>;
  readonly #reconnectListeners: Set<() => void>;
  #state: ConnectionState = 'connecting';
  /** The connection that is being opened, or on which operations are submitted. */
  #connection: Connection | undefined;
  /** The principal of all operations in flight. `undefined` before the application was asked. */
  #principal: string | undefined;
  #attempt = 0;
  /** Whether the policy gave up. Replies may still arrive on earlier connections. */
  #hasGivenUp = false;
  /** Whether there was no connection for a while since the last one was open. */
  #wasDisconnected = false;
  /** Whether the last connection failed for a reason that was not the site's fault. */
  #isSiteFaultless = false;
  /** When the next attempt may begin, which waits for an operation: the token was refused. */
  #heldUntil: number | undefined;
  #settleReady!: {
    resolve: () => void;
    reject: (error: CorrectableError) => void;
  };
  #settleEnded!: () => void;

  constructor(settings: ResolvedConnectionOptions, target: ConnectionTarget) {
    this.#options = settings;
    this.#target = target;
    this.#reconnectListeners = new Set([settings.onReconnect]);
    this.#handshake = new Handshake(settings, target, (principal) => this.#setPrincipal(principal));
    this.#outage = new Outage(() => settings.scheduling.now());
    this.#timer = new ConnectionTimer(
      settings,
      () => this.#connection,
      () => this.#handleTimeout(),
    );
    this.#sender = new Sender(settings, target.levels, this.#outage, {
      onReplyExpected: (isLarge) => this.#timer.expectReply(isLarge),
      onDrained: () => this.#handleDrained(),
    });
    this.#receiver = new Receiver(settings.codec, this.#sender.inFlight, this);
    this.#backoff = new ReconnectBackoff(settings);
    this.#sitePool = new SitePool(settings.urls);
    this.#renewal = new TokenRenewal(settings, {
      onRenewed: ({ principal, token }) => {
        // A token of one principal must not be sent on the connection of another.
        if (this.#setPrincipal(principal) && token !== undefined)
          this.#connection?.push([0, 'renew', token]);
      },
      onFailed: (cause) => this.#options.onStateChange(this.#state, createNoTokenError(cause)),
    });
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    // Operations report the same error. Code that does not use `ready` must not see an unhandled
    // rejection.
    this.ready.catch(() => {});
    this.#ended = new Promise((resolve) => (this.#settleEnded = resolve));
    this.#connect();
    this.#timer.arm(this.#state, 0);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Like `principal` of `Binding`. Absent if the application has no such option. */
  get principal(): (() => string) | undefined {
    return this.#options.principal;
  }

  /** Like `Binding.submitOperation`. */
  submit<T>(
    operation: Operation<T>,
    levels: readonly string[],
    sink: Sink<T>,
    context: InvocationContext,
  ): void {
    try {
      this.#checkPrincipal();
      if (this.#state === 'closed' || this.#state === 'closing') throw this.#createRejection();
      this.#checkSession(context.session);
      this.#sender.submit(operation, levels, sink as Sink, context);
      if (this.#heldUntil !== undefined)
        this.#timer.arm('waiting', this.#heldUntil - this.#options.scheduling.now());
      // Without the option `principal`, operations that wait for the first connection belong to the
      // user of the present token. So request the token now.
      if (this.#options.principal === undefined) this.#handshake.requestTokenEarly();
    } catch (error) {
      sink.fail(error);
    }
  }

  openSession(tokens?: readonly string[]): WireSession {
    this.#checkPrincipal();
    return new WireSession(tokens, this.#handshake.client);
  }

  /** Like `Binding.onReconnect`. */
  onReconnect(listener: () => void): () => void {
    const guarded = guardListener(listener);
    this.#reconnectListeners.add(guarded);
    return () => void this.#reconnectListeners.delete(guarded);
  }

  /** Reads which principal is signed in. */
  #checkPrincipal(): void {
    const { principal } = this.#options;
    // A listener of the change may change the principal again.
    if (principal !== undefined && !this.#setPrincipal(principal()))
      throw createPrincipalChangedError();
  }

  /** Throws if the session was opened for another principal. */
  #checkSession(session: BindingSession | undefined): void {
    if (!(session instanceof WireSession) || session.client === this.#handshake.client) return;
    throw createInvalidArgumentError(
      'session',
      'it has ended, since the principal has changed: open another',
    );
  }

  /**
   * Sets the principal of everything from now on. Returns false if a listener has changed it again
   * meanwhile.
   */
  #setPrincipal(principal: string | undefined): boolean {
    const former = this.#principal;
    if (principal === former) return true;
    this.#principal = principal;
    // A connection on which nothing was sent yet can serve any principal.
    const isNew =
      this.#connection === undefined ||
      this.#state === 'connecting' ||
      this.#handshake.isWaitingForToken;
    if (former !== undefined && isNew) this.#abandonOperations();
    else if (former !== undefined) this.#dispatch('principal-changed');
    return principal === this.#principal;
  }

  /** Ends the operations in flight, because they belong to another principal. */
  #abandonOperations(): void {
    // Change the id first: a listener that submits an operation at once must do so as the new
    // client, outside of sessions of the old one.
    this.#handshake.renewClientId();
    this.#sender.abandonAll(createPrincipalChangedError());
  }

  /**
   * Notifies the client that the network may be back, so that it reconnects without waiting for the
   * backoff.
   */
  wake(): void {
    this.#dispatch('wake');
  }

  /**
   * Closes the socket. Operations in flight fail with `UNAVAILABLE`, updates that were sent with
   * `UNKNOWN`.
   */
  async close(): Promise<void> {
    if (this.#state !== 'closed') {
      this.#setReason(
        new CorrectableError('UNAVAILABLE', 'the connection was closed by the application'),
      );
    }
    this.#dispatch('close');
    await this.#ended;
  }

  #dispatch(event: ConnectionEvent): void {
    const from = this.#state;
    const { state, actions } = getTransition(from, event);
    const changed = state !== from;
    this.#state = state;
    for (const action of actions) this.#perform(action);
    // An action may itself have changed the state. The code for that state has then run already.
    if (!changed || this.#state !== state) return;
    const delayMs = state === 'waiting' ? this.#getReconnectDelayMs(event, from) : 0;
    this.#hasGivenUp = delayMs === undefined;
    if (this.#hasGivenUp && !this.#sender.hasDraining) return this.#dispatch('rejected');
    this.#timer.arm(state, delayMs ?? Infinity);
    this.#options.onStateChange(state, this.#outage.reason);
    if (state === 'waiting') this.#wasDisconnected = true;
    if (state !== 'open' || !this.#wasDisconnected) return;
    this.#wasDisconnected = false;
    for (const listener of this.#reconnectListeners) listener();
  }

  /** Returns how long to wait before the next attempt, and selects its site. */
  #getReconnectDelayMs(event: ConnectionEvent, from: ConnectionState): number | undefined {
    if (this.#backoff.resetIfStable()) this.#sitePool.recordStable();
    if (event === 'token-refused') return this.#hold();
    if (event === 'principal-changed') return this.#backoff.getNextDelayMsUnlessRepeated();
    if (event === 'goaway' || event === 'timeout') this.#sitePool.leaveSite();
    if (!this.#isSiteFaultless) this.#sitePool.recordFailure(from === 'open' || from === 'probing');
    // Each site may send `goaway` once without a pause before the next attempt. In a rolling
    // deploy, one site after another does so.
    if (event === 'goaway')
      return this.#backoff.getNextDelayMsUnlessRepeated(this.#options.urls.length);
    return this.#backoff.getNextDelayMs();
  }

  /**
   * Waits for an operation: only the application knows when it has another token. Returns the delay
   * if there is one already.
   */
  #hold(): number | undefined {
    const delayMs = this.#backoff.getNextDelayMs();
    if (delayMs === undefined || this.#sender.inFlight.size > 0) return delayMs;
    this.#heldUntil = this.#options.scheduling.now() + delayMs;
    return Infinity;
  }

  /** Handles the end of a connection that was kept for its replies. */
  #handleDrained(): void {
    if (!this.#hasGivenUp || this.#sender.hasDraining) return;
    this.#dispatch('rejected');
  }

  #perform(action: ConnectionAction): void {
    switch (action) {
      case 'connect':
        return this.#connect();
      case 'handshake':
        return this.#beginHandshake();
      case 'resume':
        return this.#resume();
      case 'ping':
        this.#sender.acknowledge();
        return this.#connection?.push([this.#attempt, 'ping']);
      case 'drain':
        return this.#releaseConnection((connection) => this.#sender.drainConnection(connection));
      case 'terminate':
        return this.#releaseConnection((connection) =>
          this.#sender.terminateConnection(connection),
        );
      case 'close-socket':
        this.#handshake.end();
        this.#sender.acknowledge();
        return this.#connection?.close();
      case 'fail':
        this.#settleReady.reject(this.#getFailureReason());
        return this.#sender.abandonAll(this.#getFailureReason());
      case 'abandon-operations':
        this.#recordFailure('the principal has changed');
        return this.#abandonOperations();
      case 'end':
        this.#sender.stop();
        return this.#settleEnded();
    }
  }

  #connect(): void {
    const { url, label } = this.#sitePool;
    this.#attempt++;
    this.#heldUntil = undefined;
    this.#outage.recordAttempt(label);
    try {
      this.#connection = new Connection(this.#options, url, this.#attempt, this);
    } catch (cause) {
      // An insecure page may be a permanent cause: a page served over https may not open ws://, so
      // a retry would not help.
      this.#setReason(
        new CorrectableError('UNSUPPORTED', `url: the platform refuses to connect to ${label}`, {
          cause,
        }),
      );
      queueMicrotask(() => this.#dispatch('rejected'));
    }
  }

  #releaseConnection(how: (connection: Connection) => void): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#isSiteFaultless = this.#handshake.isWaitingForToken;
    this.#handshake.end();
    this.#renewal.stop();
    this.#outage.begin();
    if (connection !== undefined) how(connection);
  }

  #beginHandshake(): void {
    if (this.#connection === undefined) return;
    this.#handshake.begin(this.#connection, (reason) => {
      this.#setReason(reason);
      this.#dispatch(reason.retryable ? 'lost' : 'rejected');
    });
  }

  #resume(): void {
    this.#outage.end();
    this.#backoff.recordWelcome();
    if (this.#connection !== undefined) this.#sender.resume(this.#connection);
    this.#settleReady.resolve();
  }

  #handleTimeout(): void {
    const { connectTimeoutMs, pongTimeoutMs } = this.#options;
    if (this.#state === 'connecting') this.#recordFailure(`not open within ${connectTimeoutMs} ms`);
    if (this.#state === 'handshaking') {
      this.#recordFailure(
        `no ${this.#handshake.isWaitingForToken ? 'token' : 'welcome'} within ${connectTimeoutMs} ms`,
      );
    }
    if (this.#state === 'probing')
      this.#recordFailure(`no answer to a ping within ${pongTimeoutMs} ms`);
    this.#dispatch('timeout');
  }

  onOpen(connection: Connection): void {
    if (connection === this.#connection) this.#dispatch('opened');
  }

  onFrame(connection: Connection, frame: EncodedData): void {
    if (connection === this.#connection) {
      this.#timer.recordReceived();
      if (this.#state === 'probing') this.#dispatch('received');
    }
    this.#receiver.receive(connection, frame);
    this.#sender.handleReceived(connection);
  }

  onClose(connection: Connection, code: number, reason: string): void {
    if (connection !== this.#connection) return this.#sender.handleConnectionLoss(connection);
    const { token } = this.#options;
    const mayBeElsewhere = this.#sitePool.recordMissing(code === CloseCode.noSite);
    if (isFatalClose(code) && !mayBeElsewhere) {
      this.#setReason(createRejectionError(code, reason, connection.closeError));
      const isTokenRefused = code === CloseCode.unauthenticated && typeof token === 'function';
      return this.#dispatch(isTokenRefused ? 'token-refused' : 'rejected');
    }
    if (code === CloseCode.expired && typeof token === 'string') {
      const message = 'the token has expired: pass a function, which is called for a new one';
      return this.#reject(new CorrectableError('UNAUTHENTICATED', message));
    }
    // If the application closed the client, keep that as the reason.
    if (this.#state !== 'closing')
      this.#recordFailure(this.#formatDetail(connection, code, reason));
    this.#dispatch('lost');
  }

  #formatDetail(connection: Connection, code: number, reason: string): string {
    const detail = formatCloseDetail(code, connection.closeError?.message ?? reason);
    if (this.#state === 'connecting' && reason === '') return `${detail}. ${REFUSAL_HINT}`;
    return this.#handshake.isWaitingForToken ? `${detail}, before a token was received` : detail;
  }

  onWelcome(connection: Connection, welcome: Welcome): void {
    if (
      connection !== this.#connection ||
      this.#state !== 'handshaking' ||
      this.#handshake.isWaitingForToken
    )
      return;
    const error = this.#handshake.findIncompatibility(welcome);
    if (error !== undefined) return this.#reject(error);
    if (this.#handshake.isPrincipalChanged(welcome)) return this.#dispatch('principal-changed');
    connection.acceptWelcome(welcome, this.#target.contract);
    this.#renewal.scheduleRenewal(welcome.expiresInMs);
    this.#dispatch('welcomed');
  }

  onRenewed(connection: Connection, expiresInMs: number | undefined): void {
    if (connection === this.#connection && connection.welcome !== undefined)
      this.#renewal.scheduleRenewal(expiresInMs);
  }

  onGoaway(connection: Connection, drainMs: number): void {
    if (connection !== this.#connection || (this.#state !== 'open' && this.#state !== 'probing'))
      return;
    connection.drainMs = drainMs;
    this.#recordFailure('the server goes away');
    this.#dispatch('goaway');
  }

  onIncoming(connection: Connection, bytes: number): void {
    if (connection === this.#connection) this.#timer.extendForBytes(bytes);
  }

  onMalformed(connection: Connection, error: CorrectableError): void {
    if (connection !== this.#connection) return this.#sender.handleConnectionLoss(connection);
    this.#reject(error);
  }

  /** Ends the client for good. */
  #reject(reason: CorrectableError): void {
    this.#setReason(reason);
    this.#dispatch('rejected');
  }

  #recordFailure(detail: string): void {
    const { label } = this.#sitePool;
    this.#outage.setReason(label, createLossError(label, detail), detail);
  }

  #setReason(reason: CorrectableError): void {
    this.#outage.setReason(this.#sitePool.label, reason);
  }

  /**
   * Creates the error of an operation that cannot be submitted any more. A retry cannot help,
   * whatever closed the client.
   */
  #createRejection(): CorrectableError {
    const { code, message, field, cause } = this.#getFailureReason();
    return new CorrectableError(code, message, {
      retryable: false,
      field,
      cause,
    });
  }

  #getFailureReason(): CorrectableError {
    return (
      this.#outage.reason ??
      new CorrectableError('UNAVAILABLE', `${this.#sitePool.label} cannot be reached`)
    );
  }
}
