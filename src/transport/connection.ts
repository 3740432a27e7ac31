/** The shell around the connection's state machine: it keeps one line to a site open. One per client. */
import type { BindingSession, InvocationContext, Sink } from '../correctable/binding.ts';
import { CorrectableError, invalidArgument } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import { CloseCode, isFatalClose } from '../protocol/close-codes.ts';
import type { Encoded } from '../protocol/codec/codec.ts';
import type { Welcome } from '../protocol/rows/welcome.ts';
import { Outage, detailOf, lossOf, otherPrincipal, refusalOf } from './operations/outage.ts';
import { Comeback, SiteRing } from './site-ring.ts';
import {
  transition,
  type ConnectionAction,
  type ConnectionEvent,
  type ConnectionState,
} from './settings/connection-state.ts';
import { ConnectionTimer } from './connection-timer.ts';
import { Greeting, noToken } from './line/greeting.ts';
import { Line, type LineEvents } from './line/line.ts';
import { settle, type ConnectionOptions, type ConnectionSettings, type ConnectionTarget } from './settings/options.ts';
import { Receiver, type ReceiverEvents } from './receiver.ts';
import { Sender } from './sender.ts';
import { TokenRenewal } from './line/token-renewal.ts';
import { WireSession } from './operations/submit-row.ts';

/** A connection to one gateway that survives the loss of its sockets. */
export type Connection = Pick<
  WebSocketConnection,
  'state' | 'ready' | 'principal' | 'submit' | 'openSession' | 'wake' | 'close'
>;

/**
 * Connects to a gateway, and again whenever the connection is lost. Operations submitted meanwhile wait.
 *
 * @example
 * const connection = connect({ url: 'ws://127.0.0.1:7070/irl' }, { levels: ['weak', 'strong'] });
 * await connection.ready;
 */
export function connect(options: ConnectionOptions, target: ConnectionTarget): Connection {
  return new WebSocketConnection(settle(options), target);
}

class WebSocketConnection implements LineEvents, ReceiverEvents {
  /** Fulfilled by the first welcome; rejected when the server refuses the client or the connection is closed before. */
  readonly ready: Promise<void>;
  readonly #settings: ConnectionSettings;
  readonly #target: ConnectionTarget;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  readonly #greeting: Greeting;
  readonly #outage: Outage;
  readonly #comeback: Comeback;
  readonly #timer: ConnectionTimer;
  readonly #sites: SiteRing;
  readonly #renewal: TokenRenewal;
  readonly #ended: Promise<void>;
  #state: ConnectionState = 'connecting';
  /** The line that is being opened, or that operations are submitted on. */
  #line: Line | undefined;
  /** To whom all belongs that is under way, as the application says; none before it was asked. */
  #principal: string | undefined;
  #attempt = 0;
  /** The policy gives up, but answers may still come on earlier lines. */
  #gaveUp = false;
  /** Whether there was no connection for a while since the last one was open. */
  #wasAway = false;
  /** The last line failed before its server had anything to answer. */
  #siteIsBlameless = false;
  #settleReady!: { resolve: () => void; reject: (error: CorrectableError) => void };
  #settleEnded!: () => void;

  constructor(settings: ConnectionSettings, target: ConnectionTarget) {
    this.#settings = settings;
    this.#target = target;
    this.#greeting = new Greeting(settings, target, (principal) => this.#identify(principal));
    this.#outage = new Outage(() => settings.scheduling.now());
    this.#timer = new ConnectionTimer(
      settings,
      () => this.#line,
      () => this.#elapsed(),
    );
    this.#sender = new Sender(settings, target.levels, this.#outage, {
      expectAnswer: (isLarge) => this.#timer.expectAnswer(isLarge),
      retired: () => this.#retired(),
    });
    this.#receiver = new Receiver(settings.codec, this.#sender.inFlight, this);
    this.#comeback = new Comeback(settings);
    this.#sites = new SiteRing(settings.urls);
    this.#renewal = new TokenRenewal(settings, {
      renewed: ({ principal, token }) => {
        // No token is good for the line of another.
        if (this.#identify(principal) && token !== undefined) this.#line?.push([0, 'renew', token]);
      },
      failed: (cause) => this.#settings.onStateChange(this.#state, noToken(cause)),
    });
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    // Operations report the same error; who does not look at `ready` must not see an unhandled rejection.
    this.ready.catch(() => {});
    this.#ended = new Promise((resolve) => (this.#settleEnded = resolve));
    this.#connect();
    this.#timer.arm(this.#state, 0);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Like that of `Binding`; absent where the application does not say. */
  get principal(): (() => string) | undefined {
    return this.#settings.principal;
  }

  /** Like `Binding.submitOperation`. */
  submit<T>(operation: Operation<T>, levels: readonly string[], sink: Sink<T>, context: InvocationContext): void {
    try {
      this.#requireSame();
      if (this.#state === 'closed' || this.#state === 'closing') throw this.#refusal();
      this.#requireOwn(context.session);
      this.#sender.submit(operation, levels, sink as Sink, context);
      // Nobody says who has submitted what waits for the first connection: whoever the token is for now.
      if (this.#settings.principal === undefined) this.#greeting.askAhead();
    } catch (error) {
      sink.fail(error);
    }
  }

  openSession(tokens?: readonly string[]): WireSession {
    this.#requireSame();
    return new WireSession(tokens, this.#greeting.client);
  }

  /** Sees who is signed in. */
  #requireSame(): void {
    const { principal } = this.#settings;
    // Whoever hears of a change may make another.
    if (principal !== undefined && !this.#identify(principal())) throw otherPrincipal();
  }

  /** Throws for a session that was opened for another principal. */
  #requireOwn(session: BindingSession | undefined): void {
    if (!(session instanceof WireSession) || session.client === this.#greeting.client) return;
    throw invalidArgument('session', 'it has ended, since the principal has changed: open another');
  }

  /** All from now on belongs to `principal`, unless that has changed again once all others are told. */
  #identify(principal: string | undefined): boolean {
    const former = this.#principal;
    if (principal === former) return true;
    this.#principal = principal;
    // A line on which nothing was said yet serves whoever comes.
    const isNew = this.#line === undefined || this.#state === 'connecting' || this.#greeting.asksToken;
    if (former !== undefined && isNew) this.#disown();
    else if (former !== undefined) this.#dispatch('estranged');
    return principal === this.#principal;
  }

  /** What is under way is another's. */
  #disown(): void {
    // First, so that whoever is told and goes on at once goes on as the new client, and in no session of the former.
    this.#greeting.rename();
    this.#sender.abandonAll(otherPrincipal());
  }

  /** Tells the transport that the network may be back, so that it need not wait. */
  wake(): void {
    this.#dispatch('wake');
  }

  /**
   * Closes the socket. What is under way fails with `UNAVAILABLE`, updates that were sent with `UNKNOWN`; what is
   * submitted from then on is refused.
   */
  async close(): Promise<void> {
    if (this.#state !== 'closed') {
      this.#blame(new CorrectableError('UNAVAILABLE', 'the connection was closed by the application'));
    }
    this.#dispatch('close');
    await this.#ended;
  }

  #dispatch(event: ConnectionEvent): void {
    const from = this.#state;
    const { state, actions } = transition(from, event);
    const changed = state !== from;
    this.#state = state;
    for (const action of actions) this.#perform(action);
    // An action may have led on to another state, which has been entered by now.
    if (!changed || this.#state !== state) return;
    const delayMs = state === 'waiting' ? this.#delayMs(event, from) : 0;
    if (delayMs === undefined) return this.#giveUp();
    this.#timer.arm(state, delayMs);
    this.#settings.onStateChange(state, this.#outage.reason);
    if (state === 'waiting') this.#wasAway = true;
    if (state !== 'open' || !this.#wasAway) return;
    this.#wasAway = false;
    this.#settings.onReconnect();
  }

  /** How long to wait before the next attempt, and where it goes. */
  #delayMs(event: ConnectionEvent, from: ConnectionState): number | undefined {
    if (this.#comeback.forgive()) this.#sites.held();
    if (event === 'estranged') return this.#comeback.delayMsUnlessRepeated();
    if (event === 'goaway' || event === 'elapsed') this.#sites.leaving();
    if (!this.#siteIsBlameless) this.#sites.failed(from === 'open' || from === 'probing');
    // Each site may go away once without a pause: in a rolling deploy one after the other does.
    if (event === 'goaway') return this.#comeback.delayMsUnlessRepeated(this.#settings.urls.length);
    return this.#comeback.delayMs();
  }

  #giveUp(): void {
    this.#gaveUp = this.#sender.awaitsRetired;
    if (!this.#gaveUp) return this.#dispatch('refused');
    this.#timer.arm('waiting', Infinity);
    this.#settings.onStateChange('waiting', this.#outage.reason);
  }

  /** A line that was kept for its answers has gone. */
  #retired(): void {
    if (!this.#gaveUp || this.#sender.awaitsRetired) return;
    this.#dispatch('refused');
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
        this.#sender.acknowledge();
        return this.#line?.push([this.#attempt, 'ping']);
      case 'retire':
        return this.#release((line) => this.#sender.retire(line));
      case 'drop':
        return this.#release((line) => this.#sender.drop(line));
      case 'farewell':
        this.#greeting.end();
        this.#sender.acknowledge();
        return this.#line?.leave();
      case 'fail':
        return this.#sender.abandonAll(this.#reasonToFail());
      case 'disown':
        this.#miss('the principal has changed');
        return this.#disown();
      case 'end':
        this.#sender.stop();
        this.#settleReady.reject(this.#reasonToFail());
        return this.#settleEnded();
    }
  }

  #connect(): void {
    const { url } = this.#sites;
    this.#attempt++;
    this.#gaveUp = false;
    this.#outage.attempt(url);
    try {
      this.#line = new Line(this.#settings, url, this.#attempt, this);
    } catch (cause) {
      // A page served over https may not open ws://, for example: trying again would not help.
      this.#blame(new CorrectableError('UNSUPPORTED', `url: the platform refuses to connect to ${url}`, { cause }));
      queueMicrotask(() => this.#dispatch('refused'));
    }
  }

  /** Parts with the present line. */
  #release(how: (line: Line) => void): void {
    const line = this.#line;
    this.#line = undefined;
    this.#siteIsBlameless = this.#greeting.asksToken;
    this.#greeting.end();
    this.#renewal.stop();
    this.#outage.begin();
    if (line !== undefined) how(line);
  }

  #greet(): void {
    if (this.#line === undefined) return;
    this.#greeting.begin(this.#line, (reason) => {
      this.#blame(reason);
      this.#dispatch(reason.retryable ? 'lost' : 'refused');
    });
  }

  #resume(): void {
    this.#outage.end();
    this.#comeback.welcomed();
    if (this.#line !== undefined) this.#sender.resume(this.#line);
    this.#settleReady.resolve();
  }

  #elapsed(): void {
    const { connectTimeoutMs, pongTimeoutMs } = this.#settings;
    if (this.#state === 'connecting') this.#miss(`not open within ${connectTimeoutMs} ms`);
    if (this.#state === 'greeting') {
      this.#miss(`no ${this.#greeting.asksToken ? 'token' : 'welcome'} within ${connectTimeoutMs} ms`);
    }
    if (this.#state === 'probing') this.#miss(`no answer to a ping within ${pongTimeoutMs} ms`);
    this.#dispatch('elapsed');
  }

  opened(line: Line): void {
    if (line === this.#line) this.#dispatch('opened');
  }

  received(line: Line, frame: Encoded): void {
    if (line === this.#line) {
      this.#timer.heard();
      if (this.#state === 'probing') this.#dispatch('heard');
    }
    this.#receiver.receive(line, frame);
    this.#sender.received(line);
  }

  closed(line: Line, code: number, reason: string): void {
    if (line !== this.#line) return this.#sender.lost(line);
    if (isFatalClose(code)) {
      this.#blame(refusalOf(code, reason, line.explanation));
      return this.#dispatch('refused');
    }
    if (code === CloseCode.expired && this.#settings.tokenIsFixed) {
      this.#blame(
        new CorrectableError('UNAUTHENTICATED', 'the token has expired: give a function, which is asked anew'),
      );
      return this.#dispatch('refused');
    }
    // What the application itself gave as the reason stays.
    if (this.#state !== 'closing') this.#miss(this.#detailOf(line, code, reason));
    this.#dispatch('lost');
  }

  #detailOf(line: Line, code: number, reason: string): string {
    const detail = detailOf(code, line.explanation?.message ?? reason);
    return this.#greeting.asksToken ? `${detail}, while no token was given yet` : detail;
  }

  welcome(line: Line, welcome: Welcome): void {
    if (line !== this.#line || this.#state !== 'greeting' || this.#greeting.asksToken) return;
    const misfit = this.#greeting.misfitOf(welcome);
    if (misfit !== undefined) {
      this.#blame(misfit);
      return this.#dispatch('refused');
    }
    if (this.#greeting.isEstranged(welcome)) return this.#dispatch('estranged');
    line.welcomed(welcome, this.#target.contract);
    this.#renewal.expect(welcome.expiresInMs);
    this.#dispatch('welcomed');
  }

  renewed(line: Line, expiresInMs: number | undefined): void {
    if (line === this.#line && line.welcome !== undefined) this.#renewal.expect(expiresInMs);
  }

  goaway(line: Line, drainMs: number): void {
    if (line !== this.#line || (this.#state !== 'open' && this.#state !== 'probing')) return;
    line.drainMs = drainMs;
    this.#miss('the server goes away');
    this.#dispatch('goaway');
  }

  incoming(line: Line, bytes: number): void {
    if (line === this.#line) this.#timer.allowFor(bytes);
  }

  spoiled(line: Line, error: CorrectableError): void {
    if (line !== this.#line) return this.#sender.lost(line);
    this.#blame(error);
    this.#dispatch('refused');
  }

  #miss(detail: string): void {
    const { url } = this.#sites;
    this.#outage.blame(url, lossOf(url, detail), detail);
  }

  #blame(reason: CorrectableError): void {
    this.#outage.blame(this.#sites.url, reason);
  }

  /** Why nothing can be submitted any more: asking again cannot help, whatever the reason for closing was. */
  #refusal(): CorrectableError {
    const { code, message, field, cause } = this.#reasonToFail();
    return new CorrectableError(code, message, { retryable: false, field, cause });
  }

  #reasonToFail(): CorrectableError {
    return this.#outage.reason ?? new CorrectableError('UNAVAILABLE', `${this.#sites.url} cannot be reached`);
  }
}
