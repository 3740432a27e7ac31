/** One client's connection, from `hello` to the close. */
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import type {
  Codec,
  EncodedData,
  EncodedMessage,
} from '../../../protocol/codec/codec.ts';
import type { Hello } from '../../../protocol/messages/hello.ts';
import { SequenceMap } from '../../../protocol/sequence-map.ts';
import {
  BODY_AT,
  KIND_AT,
  NUMBER_AT,
} from '../../../protocol/messages/define-message.ts';
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
import type {
  ClientConnection,
  ClientRecord,
} from '../clients/client-table.ts';
import type { ClientOutlet, ConnectedClient } from './admission.ts';
import { Handshake, createWelcome } from './handshake.ts';
import type {
  GatewayContext,
  Peer,
  Principal,
} from '../context/gateway-context.ts';
import { InboundQueue, type MessageHandler } from './inbound-queue.ts';
import { SEND_BUFFER_OVERRUN } from '../limits/limits.ts';
import {
  ConnectionLoad,
  type ReceivedFrame,
} from '../limits/in-flight-load.ts';
import { RateLimit } from '../limits/rate-limit.ts';
import { Sender } from './sender.ts';
import type { ServerSocket } from './socket.ts';
import type { HostedOperation } from '../operations/hosted-operation.ts';
import { isRepetition, submit } from './submit-operation.ts';

/** The number of the ping that follows `goaway`. */
const GOAWAY_PING = 1;

/**
 * The answer to what crosses the `goaway`: its client submits it elsewhere, as
 * if for the first time.
 */
const GOING_AWAY_ERROR = new CorrectableError(
  'UNAVAILABLE',
  'the server goes away and has not begun with this operation',
);

/**
 * The answer to the cancellation of an update: the client need not submit it
 * again.
 */
const WRITE_CONTINUES_ERROR = new CorrectableError(
  'UNKNOWN',
  'no more views; the write runs to its end',
);
const NOT_STARTED_ERROR = new CorrectableError(
  'ABORTED',
  'cancelled before it began; it was not executed',
);

/** The server's end of one websocket. */
export class GatewayConnection
  implements ClientConnection, ClientOutlet, MessageHandler
{
  readonly #socket: ServerSocket;
  readonly #codec: Codec;
  readonly #peer: Peer;
  readonly #host: GatewayContext;
  readonly #inboundQueue: InboundQueue;
  readonly #sender: Sender;
  readonly #running = new SequenceMap<HostedOperation>();
  readonly #admissions = new AdmissionQueue(() => this.#closeIfDrained());
  readonly #load: ConnectionLoad;
  readonly #handshake: Handshake;
  /**
   * Whether the client was sent, and has read, that the server goes away: until
   * then its messages may cross.
   */
  #goaway: 'sent' | 'seen' | undefined;
  readonly #expiry: TokenExpiry;
  readonly #tokenRenewals: TokenRenewals;
  #isOver = false;
  #isPaused = false;
  /**
   * What is kept of the client, from when this is its connection: also where it
   * is not let in after all.
   */
  #record: ClientRecord | undefined;
  /** The client, once it was let in. */
  #client: ConnectedClient | undefined;
  /** The principal of which it is counted as a connection. */
  #countedPrincipal: string | undefined;
  #malformed = 0;
  #hasHeard = true;
  attempt = 0;

  constructor(
    socket: ServerSocket,
    codec: Codec,
    peer: Peer,
    host: GatewayContext,
  ) {
    this.#socket = socket;
    this.#codec = codec;
    this.#peer = peer;
    this.#host = host;
    this.#load = new ConnectionLoad(host.load);
    const { maxFrameBytes, stallTimeoutMs, maxSendBufferBytes } = host.bounds;
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
      (token) => checkToken(host, token, peer),
      (verdict) => this.#runGuarded(() => this.#renew(verdict)),
      systemClock,
    );
    this.#handshake = new Handshake(host, peer, {
      onAdmitted: (hello, principal) =>
        this.#runGuarded(() => this.#admitClient(hello, principal)),
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
      SEND_BUFFER_OVERRUN * this.#host.bounds.maxSendBufferBytes
    );
  }

  get canRead(): boolean {
    return !this.#isClosed() && !this.isFull;
  }

  /**
   * Closes with a code from `CloseCode`, after what was said has been sent, as
   * far as the client takes it.
   */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#sender.flush();
    // What could not be sent has closed it by now.
    if (this.#isClosed()) return;
    this.#socket.close(code, reason);
    // Or its own close would never be seen.
    if (this.#isPaused) this.#resume();
    this.#abandonReads();
  }

  onReplaced(): void {
    this.close(
      CloseCode.replaced,
      'a newer connection of this client took over',
    );
  }

  /**
   * Cuts a connection that said nothing since the last call; asks the others
   * for a sign of life.
   */
  checkAlive(): void {
    if (!this.#hasHeard && !this.#sender.isBlocked)
      return this.#socket.terminate();
    this.#hasHeard = false;
    if (!this.#sender.isAwaitingPing) this.#sender.sendPing();
  }

  /**
   * Takes no more submissions, and closes once those in flight have ended and
   * were sent.
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

  push(row: ServerMessage): void {
    let encoded: EncodedMessage;
    try {
      encoded = this.#codec.encodeMessage(row, getFields(row));
    } catch (error) {
      this.#host.logger.error(
        { err: error, kind: row[KIND_AT] },
        'a row cannot be encoded',
      );
      return this.#runGuarded(() =>
        this.pushEncoded(
          this.#codec.encodeMessage(toFailMessage(row[NUMBER_AT], undefined)),
        ),
      );
    }
    return this.pushEncoded(encoded);
  }

  pushEncoded(row: EncodedMessage): void {
    try {
      if (!this.#isClosed()) this.#sender.push(row);
    } catch (error) {
      this.#onFailed(error);
    }
  }

  onEnded(id: number): void {
    this.#running.delete(id);
    this.#closeIfDrained();
  }

  onMessage(row: ClientMessage, frame: ReceivedFrame): void {
    if (this.#client !== undefined)
      return this.#serve(row, frame, this.#client);
    return this.#handshake.onMessage(row);
  }

  onMalformed(id: number, error: unknown): void {
    this.#host.stats.malformed++;
    this.push(toFailMessage(id, error));
    if (++this.#malformed >= this.#host.bounds.maxMalformedMessages) {
      this.close(CloseCode.malformed, `${this.#malformed} malformed rows`);
    }
  }

  /**
   * A mistake of ours, or of a hook, costs this connection, never the process.
   */
  #runGuarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#onFailed(error);
    }
  }

  #onFailed(error: unknown): void {
    this.#host.logger.error(
      { err: error, ...this.#peer },
      'a connection failed',
    );
    this.close(CloseCode.internal, 'the server made a mistake');
  }

  /** Guarded without a closure for each frame. */
  #onReceived(frame: EncodedData): void {
    try {
      this.#receive(frame);
    } catch (error) {
      this.#onFailed(error);
    }
  }

  #receive(frame: EncodedData): void {
    this.#hasHeard = true;
    if (this.#isOver) return;
    this.#inboundQueue.receive(frame);
    // One that was closed meanwhile goes on being read, or its own close would
    // never be seen.
    if (this.#isClosed()) this.#inboundQueue.clear();
    else if (this.#inboundQueue.isWaiting) {
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  #onAlive(answer: string | undefined): void {
    this.#hasHeard = true;
    this.#sender.onAlive(answer);
  }

  onHalf(): void {
    this.#host.binding.flush?.();
    this.#sender.flush();
  }

  /** The client has taken some of what waited for it. */
  #onMoved(): void {
    this.#hasHeard = true;
    if (this.#isOver) return;
    if (
      this.#inboundQueue.isWaiting &&
      this.waitingBytes <= this.#host.bounds.maxSendBufferBytes
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
    this.#host.logger.warn(
      { ...this.#peer, waitingBytes: this.waitingBytes },
      'cut off a client that takes nothing',
    );
    this.close(
      CloseCode.slowReader,
      'the client takes nothing of what waits for it',
    );
    // It may still learn why, if it begins to read again.
    systemClock
      .setTimer(
        () => this.#socket.terminate(),
        this.#host.bounds.stallTimeoutMs,
      )
      .setRef?.(false);
  }

  // A method, since the checker believes that `#isOver` cannot change during a
  // call.
  #isClosed(): boolean {
    return this.#isOver;
  }

  #serve(
    row: ClientMessage,
    frame: ReceivedFrame,
    client: ConnectedClient,
  ): void {
    switch (row[KIND_AT]) {
      case 'submit':
        return this.#submit(row, frame, client);
      case 'renew':
        return this.#tokenRenewals.renew(row[BODY_AT]);
      case 'cancel':
        return this.#cancel(row[NUMBER_AT]);
      case 'ack':
        return client.record.acknowledge(row[NUMBER_AT]);
      case 'ping':
        return this.push([row[NUMBER_AT], 'pong']);
      case 'pong':
        if (this.#goaway !== undefined) this.#goaway = 'seen';
        return this.#closeIfDrained();
      case 'hello':
        return this.close(CloseCode.malformed, 'hello may be sent only once');
    }
  }

  #submit(
    row: SubmitMessage,
    frame: ReceivedFrame,
    client: ConnectedClient,
  ): void {
    if (this.#goaway !== undefined && !isRepetition(row[NUMBER_AT], client))
      return this.push(toFailMessage(row[NUMBER_AT], GOING_AWAY_ERROR));
    if (this.#expiry.hasEnded) return this.#expire();
    submit(row, client, frame);
  }

  #cancel(id: number): void {
    if (this.#admissions.has(id)) {
      // Said first: a connection that drains is closed when none waits any
      // more.
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

  #reject(
    code: number,
    reason: string,
    cause: CorrectableError | undefined,
  ): void {
    if (cause !== undefined) this.push(toFailMessage(0, cause));
    this.close(code, reason);
  }

  #admitClient(hello: Hello, principal: Principal): void {
    const record = this.#host.clients.open(
      principal.id,
      hello.client,
      this.#codec.subprotocol,
    );
    if (!this.#takeOver(record, hello.attempt)) return this.onReplaced();
    this.#handshake.end();
    const host = this.#host;
    const nowMs = systemClock.now();
    const share = host.principals.acquire(principal.id, nowMs);
    if (share === undefined)
      return this.close(
        CloseCode.tryLater,
        'its principal has as many connections as it may',
      );
    this.#countedPrincipal = principal.id;
    this.#load.principal = share.load;
    this.#client = {
      record,
      principal,
      expiry: this.#expiry,
      rate: host.requiresAuthentication
        ? share.rate
        : new RateLimit(host.bounds.maxOperationsPerSecond, nowMs),
      owner: {
        record,
        codec: this.#codec,
        levels: host.levels,
        maxResultBytes: host.bounds.maxResultBytes,
        onAnomaly: (operation, description, error) =>
          host.report(operation, description, error),
      },
      host,
      load: this.#load,
      outlet: this,
      running: this.#running,
      admissions: this.#admissions,
    };
    const expiresInMs = this.#expiry.schedule(principal);
    this.push([
      0,
      'welcome',
      createWelcome(host, record, hello, principal, expiresInMs),
    ]);
    if (host.isDraining) this.drain(0);
  }

  /**
   * Becomes the client's connection, unless a newer one is, or its replies are
   * kept in another codec.
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
    this.#host.clients.onConnected(record, this);
    older?.onReplaced();
    return true;
  }

  #renew(verdict: TokenVerdict): void {
    const client = this.#client;
    if (this.#isClosed() || client === undefined) return;
    if (!('principal' in verdict)) {
      // Until the token that it has ends, nothing is lost.
      if (!verdict.isUndecided) this.close(verdict.code, verdict.reason);
      return;
    }
    const { principal } = verdict;
    if (principal.id !== client.principal.id) {
      // The client greets again, and learns there that its principal has
      // changed.
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
    if (!this.#sender.isBlocked)
      this.close(CloseCode.goingAway, 'the server is shutting down');
  }

  #onClosed(): void {
    this.#abandonReads();
    this.#host.onConnectionClosed(this);
  }

  /** Stops the reads of a client that is gone. Its updates go on. */
  #abandonReads(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handshake.end();
    this.#expiry.stop();
    this.#tokenRenewals.stop();
    if (this.#countedPrincipal !== undefined)
      this.#host.principals.release(this.#countedPrincipal);
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
      this.#host.clients.onDisconnected(record, systemClock.now());
  }
}
