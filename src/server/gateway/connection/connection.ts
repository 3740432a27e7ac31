/** One connection of a client, from `hello` to its close. */
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import type { Codec, EncodedData, EncodedMessage } from '../../../protocol/codec/codec.ts';
import type { Hello } from '../../../protocol/messages/hello.ts';
import { SequenceMap } from '../../../protocol/sequence-map.ts';
import { BODY_AT, KIND_AT, NUMBER_AT } from '../../../protocol/messages/define-message.ts';
import type { ClientMessage } from '../../../protocol/messages/client-messages.ts';
import type { ServerMessage } from '../../../protocol/messages/server-messages.ts';
import { getFields } from '../../../protocol/messages/server-message-fields.ts';
import type { SubmitMessage } from '../../../protocol/messages/submit.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import { AdmissionQueue } from './admission-queue.ts';
import {
  TokenExpiry,
  EXPIRED_TOKEN,
  TokenRenewals,
  checkToken,
  type TokenVerdict,
} from './token-check.ts';
import type { ClientConnection, ClientRecord } from '../clients/client-table.ts';
import type { ClientOutlet, ConnectedClient } from './admission.ts';
import { Handshake, createWelcome } from './handshake.ts';
import type { GatewayContext, Peer, Principal } from '../context/gateway-context.ts';
import { InboundQueue, type MessageHandler } from './inbound-queue.ts';
import { SEND_BUFFER_OVERRUN } from '../limits/limits.ts';
import { ConnectionLoad, type ReceivedFrame } from '../limits/in-flight-load.ts';
import { RateLimit } from '../limits/rate-limit.ts';
import { Sender } from './sender.ts';
import type { ServerSocket } from './socket.ts';
import type { HostedOperation } from '../operations/hosted-operation.ts';
import { isRepetition, submit } from './submit-operation.ts';

/** The number of the ping that follows `goaway`. */
const GOAWAY_PING = 1;

/**
 * Answers submissions that were sent before the client read `goaway`. The client submits them
 * elsewhere, as if for the first time.
 */
const GOING_AWAY_ERROR = new CorrectableError(
  'UNAVAILABLE',
  'the server goes away and has not begun with this operation',
);

/** Answers the cancellation of a write: the client need not submit it again. */
const WRITE_CONTINUES_ERROR = new CorrectableError(
  'UNKNOWN',
  'no more views; the write runs to its end',
);
const NOT_STARTED_ERROR = new CorrectableError(
  'ABORTED',
  'cancelled before it began; it was not executed',
);

/** The server's end of one websocket. */
export class GatewayConnection implements ClientConnection, ClientOutlet, MessageHandler {
  readonly #socket: ServerSocket;
  readonly #codec: Codec;
  readonly #peer: Peer;
  readonly #context: GatewayContext;
  readonly #inboundQueue: InboundQueue;
  readonly #sender: Sender;
  readonly #running = new SequenceMap<HostedOperation>();
  readonly #admissions = new AdmissionQueue(() => this.#closeIfDrained());
  readonly #load: ConnectionLoad;
  readonly #handshake: Handshake;
  /**
   * `sent` until the client has read `goaway`, then `seen`. While it is `sent`, a submission may
   * have been made before the client read it.
   */
  #goaway: 'sent' | 'seen' | undefined;
  readonly #expiry: TokenExpiry;
  readonly #tokenRenewals: TokenRenewals;
  #isOver = false;
  #isPaused = false;
  /**
   * The record of the client, from when this is its connection. It is set even if the client is
   * refused later.
   */
  #record: ClientRecord | undefined;
  /** Present once the client was accepted. */
  #client: ConnectedClient | undefined;
  /** The principal for whom this connection is counted. */
  #countedPrincipal: string | undefined;
  #malformed = 0;
  #hasHeard = true;
  attempt = 0;

  constructor(socket: ServerSocket, codec: Codec, peer: Peer, context: GatewayContext) {
    this.#socket = socket;
    this.#codec = codec;
    this.#peer = peer;
    this.#context = context;
    this.#load = new ConnectionLoad(context.load);
    const { maxFrameBytes, stallTimeoutMs, maxSendBufferBytes } = context.internalLimits;
    this.#inboundQueue = new InboundQueue(codec, this);
    this.#sender = new Sender({
      codec,
      socket,
      maxFrameBytes,
      stallTimeoutMs,
      windowBytes: maxSendBufferBytes,
      isAwaited: () => this.#inboundQueue.isWaiting,
      onMoved: () => this.#runGuarded(() => this.#onMoved()),
      onStalled: () => this.#onStalled(),
      onFailed: (error) => this.#onFailed(error),
    });
    this.#expiry = new TokenExpiry(() => this.#expire());
    this.#tokenRenewals = new TokenRenewals(
      (token) => checkToken(context, token, peer),
      (verdict) => this.#runGuarded(() => this.#renew(verdict)),
      systemClock,
    );
    this.#handshake = new Handshake(context, peer, {
      onAdmitted: (hello, principal) => this.#runGuarded(() => this.#admitClient(hello, principal)),
      onRejected: (code, reason, cause) =>
        this.#runGuarded(() => this.#reject(code, reason, cause)),
    });
    socket.listen({
      onFrame: (frame) => this.#onReceived(frame),
      onPong: (answer) => this.#onAlive(answer),
      onClose: () => this.#onClosed(),
    });
  }

  get waitingBytes(): number {
    return this.#sender.waitingBytes;
  }

  get isFull(): boolean {
    return (
      this.#sender.waitingBytes >
      SEND_BUFFER_OVERRUN * this.#context.internalLimits.maxSendBufferBytes
    );
  }

  get canRead(): boolean {
    return !this.#isClosed() && !this.isFull;
  }

  /**
   * Closes with a code from `CloseCode`, once the client has received the messages before. The
   * connection of a client that reads nothing is cut.
   */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#sender.flush();
    // A failed send has closed the connection by now.
    if (this.#isClosed()) return;
    this.#socket.close(code, reason);
    // Resume reading. Otherwise the gateway would never receive the client's own close.
    if (this.#isPaused) this.#resume();
    this.#abandonReads();
  }

  onReplaced(): void {
    this.close(CloseCode.replaced, 'a newer connection of this client took over');
  }

  /**
   * Cuts the connection if no message or pong has arrived since the last call. Otherwise sends a
   * ping.
   */
  checkAlive(): void {
    if (!this.#hasHeard && !this.#sender.isBlocked) return this.#socket.terminate();
    this.#hasHeard = false;
    if (!this.#sender.isAwaitingPing) this.#sender.sendPing();
  }

  /**
   * Takes no more submissions, and closes once those in flight have ended and their answers were
   * sent.
   */
  drain(drainMs: number): void {
    if (this.#client === undefined)
      return this.close(CloseCode.goingAway, 'the server is shutting down');
    if (this.#goaway !== undefined) return;
    this.#goaway = 'sent';
    this.push([0, 'goaway', drainMs]);
    this.push([GOAWAY_PING, 'ping']);
  }

  /** Cuts the connection at once. */
  terminate(): void {
    this.#socket.terminate();
  }

  push(message: ServerMessage): void {
    let encoded: EncodedMessage;
    try {
      encoded = this.#codec.encodeMessage(message, getFields(message));
    } catch (error) {
      this.#context.logger.error({ err: error, kind: message[KIND_AT] }, 'a row cannot be encoded');
      return this.#runGuarded(() =>
        this.pushEncoded(this.#codec.encodeMessage(toFailMessage(message[NUMBER_AT], undefined))),
      );
    }
    return this.pushEncoded(encoded);
  }

  pushEncoded(message: EncodedMessage): void {
    try {
      if (!this.#isClosed()) this.#sender.push(message);
    } catch (error) {
      this.#onFailed(error);
    }
  }

  onEnded(id: number): void {
    this.#running.delete(id);
    this.#closeIfDrained();
  }

  onMessage(message: ClientMessage, frame: ReceivedFrame): void {
    if (this.#client !== undefined) return this.#serve(message, frame, this.#client);
    return this.#handshake.onMessage(message);
  }

  onMalformed(id: number, error: unknown): void {
    this.#context.stats.malformed++;
    this.push(toFailMessage(id, error));
    if (++this.#malformed >= this.#context.internalLimits.maxMalformedMessages) {
      this.close(CloseCode.malformed, `${this.#malformed} malformed rows`);
    }
  }

  /**
   * Runs code so that an error of the gateway or of a hook ends this connection, and never the
   * process.
   */
  #runGuarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#onFailed(error);
    }
  }

  #onFailed(error: unknown): void {
    this.#context.logger.error({ err: error, ...this.#peer }, 'a connection failed');
    this.close(CloseCode.internal, 'the server made a mistake');
  }

  /**
   * This method has its own `try` block, because `#runGuarded` would need a closure for each frame.
   */
  #onReceived(frame: EncodedData): void {
    this.#hasHeard = true;
    if (this.#isOver) return;
    try {
      this.#inboundQueue.receive(frame);
      // Keep reading on a closed connection. Otherwise the client's close would never arrive.
      if (this.#isClosed()) this.#inboundQueue.clear();
      else if (this.#inboundQueue.isWaiting) {
        this.#isPaused = true;
        this.#socket.pause();
      }
    } catch (error) {
      this.#onFailed(error);
    }
  }

  #onAlive(answer: string | undefined): void {
    this.#hasHeard = true;
    this.#sender.onAlive(answer);
  }

  onHalf(): void {
    this.#context.binding.flush?.();
    this.#sender.flush();
  }

  /** Called when the client has received some of the waiting messages. */
  #onMoved(): void {
    this.#hasHeard = true;
    if (this.#isOver) return;
    if (
      this.#inboundQueue.isWaiting &&
      this.waitingBytes <= this.#context.internalLimits.maxSendBufferBytes
    ) {
      this.#inboundQueue.resume();
      if (!this.#inboundQueue.isWaiting) this.#resume();
    }
    this.#closeIfDrained();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  #onStalled(): void {
    this.#context.logger.warn(
      { ...this.#peer, waitingBytes: this.waitingBytes },
      'cut off a client that takes nothing',
    );
    this.close(CloseCode.slowReader, 'the client takes nothing of what waits for it');
    // Leave some time: if the client begins to read again, it receives the reason.
    systemClock
      .setTimer(() => this.#socket.terminate(), this.#context.internalLimits.stallTimeoutMs)
      .setRef?.(false);
  }

  // This is a method, because the type checker assumes that the field `#isOver` does not change
  // during a call.
  #isClosed(): boolean {
    return this.#isOver;
  }

  #serve(message: ClientMessage, frame: ReceivedFrame, client: ConnectedClient): void {
    switch (message[KIND_AT]) {
      case 'submit':
        return this.#submit(message, frame, client);
      case 'renew':
        return this.#tokenRenewals.renew(message[BODY_AT]);
      case 'cancel':
        return this.#cancel(message[NUMBER_AT]);
      case 'ack':
        return client.record.acknowledge(message[NUMBER_AT]);
      case 'ping':
        return this.push([message[NUMBER_AT], 'pong']);
      case 'pong':
        if (this.#goaway !== undefined) this.#goaway = 'seen';
        return this.#closeIfDrained();
      case 'hello':
        return this.close(CloseCode.malformed, 'hello may be sent only once');
    }
  }

  #submit(message: SubmitMessage, frame: ReceivedFrame, client: ConnectedClient): void {
    if (this.#goaway !== undefined && !isRepetition(message[NUMBER_AT], client))
      return this.push(toFailMessage(message[NUMBER_AT], GOING_AWAY_ERROR));
    if (this.#expiry.hasEnded) return this.#expire();
    submit(message, client, frame);
  }

  #cancel(id: number): void {
    if (this.#admissions.has(id)) {
      // Send this first: a connection that drains is closed when no submission waits any more.
      this.push(toFailMessage(id, NOT_STARTED_ERROR));
      return this.#admissions.remove(id);
    }
    const submission = this.#running.get(id);
    if (submission === undefined) return;
    submission.abandon();
    this.#running.delete(id);
    if (submission.isWrite) this.push(toFailMessage(id, WRITE_CONTINUES_ERROR));
    this.#closeIfDrained();
  }

  #reject(code: number, reason: string, cause: CorrectableError | undefined): void {
    if (cause !== undefined) this.push(toFailMessage(0, cause));
    this.close(code, reason);
  }

  #admitClient(hello: Hello, principal: Principal): void {
    const record = this.#context.clients.open(principal.id, hello.client, this.#codec.subprotocol);
    if (!this.#takeOver(record, hello.attempt)) return this.onReplaced();
    this.#handshake.end();
    const context = this.#context;
    const nowMs = systemClock.now();
    const share = context.principals.acquire(principal.id, nowMs);
    if (share === undefined)
      return this.close(CloseCode.tryLater, 'its principal has as many connections as it may');
    this.#countedPrincipal = principal.id;
    this.#load.principal = share.load;
    this.#client = {
      record,
      principal,
      expiry: this.#expiry,
      rate: context.requiresAuthentication
        ? share.rate
        : new RateLimit(context.internalLimits.maxOperationsPerSecond, nowMs),
      owner: {
        record,
        codec: this.#codec,
        levels: context.levels,
        maxResultBytes: context.internalLimits.maxResultBytes,
        onAnomaly: (operation, description, error) => context.report(operation, description, error),
      },
      context,
      load: this.#load,
      outlet: this,
      running: this.#running,
      admissions: this.#admissions,
    };
    const expiresInMs = this.#expiry.schedule(principal);
    this.push([0, 'welcome', createWelcome(context, record, hello, principal, expiresInMs)]);
    if (context.isDraining) this.drain(0);
  }

  /**
   * Makes this connection the client's present one. Returns false if the client has a newer
   * connection, or if its replies are kept in another codec.
   */
  #takeOver(record: ClientRecord, attempt: number): boolean {
    const older = record.connection;
    if (
      record.subprotocol !== this.#codec.subprotocol ||
      (older !== undefined && older.attempt >= attempt)
    ) {
      return false;
    }
    this.attempt = attempt;
    this.#record = record;
    this.#context.clients.onConnected(record, this);
    older?.onReplaced();
    return true;
  }

  #renew(verdict: TokenVerdict): void {
    const client = this.#client;
    if (this.#isClosed() || client === undefined) return;
    if (!('principal' in verdict)) {
      // If the check could not decide, the present token stays valid until it expires.
      if (!verdict.isUndecided) this.close(verdict.code, verdict.reason);
      return;
    }
    const { principal } = verdict;
    if (principal.id !== client.principal.id) {
      // Close the connection: the client connects again, and the handshake shows it that its
      // principal has changed.
      return this.close(
        CloseCode.expired,
        'the new token belongs to another principal: send hello with it',
      );
    }
    client.principal = principal;
    this.push([0, 'renewed', this.#expiry.schedule(principal) ?? null]);
  }

  #expire(): void {
    this.close(EXPIRED_TOKEN.code, EXPIRED_TOKEN.reason);
  }

  #closeIfDrained(): void {
    if (
      this.#goaway !== 'seen' ||
      this.#isClosed() ||
      this.#running.size + this.#admissions.size > 0
    )
      return;
    this.#sender.flush();
    if (!this.#sender.isBlocked) this.close(CloseCode.goingAway, 'the server is shutting down');
  }

  #onClosed(): void {
    this.#abandonReads();
    this.#context.onConnectionClosed(this);
  }

  /** Stops the reads of a client that has disconnected. Its writes continue. */
  #abandonReads(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handshake.end();
    this.#expiry.stop();
    this.#tokenRenewals.stop();
    if (this.#countedPrincipal !== undefined)
      this.#context.principals.release(this.#countedPrincipal);
    this.#admissions.clear();
    this.#inboundQueue.clear();
    this.#sender.clear();
    const record = this.#record;
    this.#running.forEach((submission) => {
      if (submission.isWrite) submission.detach();
      else submission.abandon();
    });
    this.#running.clear();
    if (record?.connection === this)
      this.#context.clients.onDisconnected(record, systemClock.now());
  }
}
