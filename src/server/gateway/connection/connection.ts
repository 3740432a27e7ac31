/** One client's connection, from `hello` to the close. */
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import type { Codec, Encoded, EncodedRow } from '../../../protocol/codec/codec.ts';
import type { Hello } from '../../../protocol/rows/hello.ts';
import { NumberedTable } from '../../../protocol/numbered-table.ts';
import { BODY, KIND, NUMBER } from '../../../protocol/rows/define-row.ts';
import type { ClientRow } from '../../../protocol/rows/client-kinds.ts';
import type { ServerRow } from '../../../protocol/rows/server-kinds.ts';
import { fieldsOf } from '../../../protocol/rows/server-fields.ts';
import type { SubmitRow } from '../../../protocol/rows/submit.ts';
import { failRow } from '../../../protocol/wire-errors.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { ClientExpiry, EXPIRED, Renewals, checkToken, type TokenVerdict } from './token-check.ts';
import type { ClientConnection, ClientRecord } from '../clients/client-table.ts';
import type { ClientOutlet, ConnectedClient } from './admission.ts';
import { Greeting, welcomeTo } from './greeting.ts';
import type { GatewayHost, Peer, Principal } from '../host/host.ts';
import { Inbox, type RowServer } from './inbox.ts';
import { SEND_BUFFER_OVERRUN } from '../limits/limits.ts';
import { Load, type ReceivedFrame } from '../limits/load.ts';
import { RateLimit } from '../limits/rate-limit.ts';
import { Sender } from './sender.ts';
import type { ServerSocket } from './socket.ts';
import type { HostedOperation } from '../submission/hosted-operation.ts';
import { isKnown, submit } from './submit.ts';
import type { SubmissionOwner } from '../submission/submission-parts.ts';

/** The number of the ping that follows `goaway`. */
const GOAWAY_PING = 1;

/** The answer to what crosses the `goaway`: its client submits it elsewhere, as if for the first time. */
const GOING_AWAY = new CorrectableError('UNAVAILABLE', 'the server goes away and has not begun with this operation');

/** The answer to the cancellation of an update: the client need not submit it again. */
const RUNS_ON = new CorrectableError('UNKNOWN', 'no more views; the update runs to its end');
const NOT_BEGUN = new CorrectableError('ABORTED', 'cancelled before it began; it was not executed');

/** What a connection is made from. */
export interface ConnectionParts {
  readonly socket: ServerSocket;
  readonly codec: Codec;
  readonly peer: Peer;
  readonly host: GatewayHost;
}

/** The server's end of one websocket. */
export class GatewayConnection implements ClientConnection, ClientOutlet, RowServer {
  readonly #socket: ServerSocket;
  readonly #codec: Codec;
  readonly #peer: Peer;
  readonly #host: GatewayHost;
  readonly #inbox: Inbox;
  readonly #sender: Sender;
  readonly #running = new NumberedTable<HostedOperation>();
  readonly #admissions = new AdmissionQueue(() => this.#closeIfDrained());
  readonly #load: Load;
  readonly #greeting: Greeting;
  /**
   * Whether the client was sent that the server goes away, and has read that. The connection lives until then: what crosses
   * would be lost with it, and the client could not tell whether it had begun.
   */
  #goaway: 'sent' | 'seen' | undefined;
  readonly #expiry: ClientExpiry;
  readonly #renewals: Renewals;
  #isOver = false;
  #isPaused = false;
  /** What is kept of the client, from when this is its connection: also where it is not let in after all. */
  #record: ClientRecord | undefined;
  /** The client, once it was let in. */
  #client: ConnectedClient | undefined;
  /** The principal of which it is counted as a connection. */
  #entered: string | undefined;
  #malformed = 0;
  #heard = true;
  attempt = 0;

  constructor({ socket, codec, peer, host }: ConnectionParts) {
    this.#socket = socket;
    this.#codec = codec;
    this.#peer = peer;
    this.#host = host;
    this.#load = new Load(host.load);
    const { frameBytesMax, stallTimeoutMs, sendBufferBytesMax } = host.bounds;
    this.#inbox = new Inbox(codec, this);
    this.#sender = new Sender({
      codec,
      socket,
      frameBytesMax,
      stallTimeoutMs,
      windowBytes: sendBufferBytesMax,
      isAwaited: () => this.#inbox.isWaiting,
      onMoved: () => this.#guarded(() => this.#moved()),
      onStalled: () => this.#stalled(),
      onFailed: (error) => this.#failed(error),
    });
    this.#expiry = new ClientExpiry(() => this.#expire());
    this.#renewals = new Renewals(
      (token) => checkToken(host, token, peer),
      (verdict) => this.#guarded(() => this.#renew(verdict)),
      systemClock,
    );
    this.#greeting = new Greeting(
      { host, peer },
      {
        admitted: (hello, principal) => this.#guarded(() => this.#letIn(hello, principal)),
        refused: (code, reason, why) => this.#guarded(() => this.#refuse(code, reason, why)),
      },
    );
    socket.listen({
      received: (frame) => this.#received(frame),
      alive: (answer) => this.#alive(answer),
      closed: () => this.#closed(),
    });
  }

  get waitingBytes(): number {
    return this.#sender.waitingBytes;
  }

  get isFull(): boolean {
    return this.#sender.waitingBytes > SEND_BUFFER_OVERRUN * this.#host.bounds.sendBufferBytesMax;
  }

  get mayRead(): boolean {
    return !this.#isClosed() && !this.isFull;
  }

  /** Closes with a code from `CloseCode`, after what was said has been sent, as far as the client takes it. */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#sender.flush();
    // What could not be sent has closed it by now.
    if (this.#isClosed()) return;
    this.#socket.close(code, reason);
    // Or its own close would never be seen.
    if (this.#isPaused) this.#resume();
    this.#leave();
  }

  replaced(): void {
    this.close(CloseCode.replaced, 'a newer connection of this client took over');
  }

  /**
   * Cuts a connection that said nothing since the last call; asks the others for a sign of life, unless they have been
   * asked. Where something waits to be sent, the question waits behind it: then it counts whether that moves.
   */
  checkAlive(): void {
    if (!this.#heard && !this.#sender.isBlocked) return this.#socket.terminate();
    this.#heard = false;
    if (!this.#sender.isAsking) this.#sender.ask();
  }

  /** Takes no more submissions, and closes once those under way have ended and were sent. */
  drain(drainMs: number): void {
    if (this.#client === undefined) return this.close(CloseCode.goingAway, 'the server is shutting down');
    if (this.#goaway !== undefined) return;
    this.#goaway = 'sent';
    this.push([0, 'goaway', drainMs]);
    this.push([GOAWAY_PING, 'ping']);
  }

  /** Cuts the connection at once. */
  terminate(): void {
    this.#socket.terminate();
  }

  push(row: ServerRow): void {
    let encoded: EncodedRow;
    try {
      encoded = this.#codec.encodeRow(row, fieldsOf(row));
    } catch (error) {
      this.#host.logger.error({ err: error, kind: row[KIND] }, 'a row cannot be encoded');
      return this.#guarded(() => this.pushEncoded(this.#codec.encodeRow(failRow(row[NUMBER], undefined))));
    }
    return this.pushEncoded(encoded);
  }

  pushEncoded(row: EncodedRow): void {
    try {
      if (!this.#isClosed()) this.#sender.push(row);
    } catch (error) {
      this.#failed(error);
    }
  }

  ended(id: number): void {
    this.#running.delete(id);
    this.#closeIfDrained();
  }

  row(row: ClientRow, frame: ReceivedFrame): void {
    if (this.#client !== undefined) return this.#serve(row, frame, this.#client);
    return this.#greeting.row(row);
  }

  malformed(id: number, error: unknown): void {
    this.#host.counters.malformed++;
    this.push(failRow(id, error));
    if (++this.#malformed >= this.#host.bounds.malformedMax) {
      this.close(CloseCode.malformed, `${this.#malformed} malformed rows`);
    }
  }

  /** A mistake of ours, or of a hook, costs this connection, never the process. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#host.logger.error({ err: error, ...this.#peer }, 'a connection failed');
    this.close(CloseCode.internal, 'the server made a mistake');
  }

  /** Guarded without a closure for each frame. */
  #received(frame: Encoded): void {
    try {
      this.#receive(frame);
    } catch (error) {
      this.#failed(error);
    }
  }

  #receive(frame: Encoded): void {
    this.#heard = true;
    if (this.#isOver) return;
    this.#inbox.receive(frame);
    // One that was closed meanwhile goes on being read, or its own close would never be seen.
    if (this.#isClosed()) this.#inbox.clear();
    else if (this.#inbox.isWaiting) this.#pause();
  }

  #alive(answer: string | undefined): void {
    this.#heard = true;
    this.#sender.alive(answer);
  }

  /** The client has taken some of what waited for it. */
  #moved(): void {
    this.#heard = true;
    if (this.#isOver) return;
    if (this.#inbox.isWaiting && this.waitingBytes <= this.#host.bounds.sendBufferBytesMax) {
      this.#inbox.resume();
      if (!this.#inbox.isWaiting) this.#resume();
    }
    this.#closeIfDrained();
  }

  #pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  #stalled(): void {
    this.#host.logger.warn({ ...this.#peer, waitingBytes: this.waitingBytes }, 'cut off a client that takes nothing');
    this.close(CloseCode.slowReader, 'the client takes nothing of what waits for it');
    // It may still learn why, if it begins to read again.
    systemClock.setTimer(() => this.#socket.terminate(), this.#host.bounds.stallTimeoutMs).hold?.(false);
  }

  // A method, since the checker believes that `#isOver` cannot change during a call.
  #isClosed(): boolean {
    return this.#isOver;
  }

  #serve(row: ClientRow, frame: ReceivedFrame, client: ConnectedClient): void {
    switch (row[KIND]) {
      case 'submit':
        return this.#submit(row, frame, client);
      case 'renew':
        return this.#renewals.renew(row[BODY]);
      case 'cancel':
        return this.#cancel(row[NUMBER]);
      case 'ack':
        return client.record.acknowledge(row[NUMBER]);
      case 'ping':
        return this.push([row[NUMBER], 'pong']);
      case 'pong':
        if (this.#goaway !== undefined) this.#goaway = 'seen';
        return this.#closeIfDrained();
      case 'hello':
        return this.close(CloseCode.malformed, 'hello may be said only once');
    }
  }

  #submit(row: SubmitRow, frame: ReceivedFrame, client: ConnectedClient): void {
    if (this.#goaway !== undefined && !isKnown(row[NUMBER], client)) return this.push(failRow(row[NUMBER], GOING_AWAY));
    if (this.#expiry.hasEnded) return this.#expire();
    submit(row, client, frame);
  }

  #cancel(id: number): void {
    if (this.#admissions.has(id)) {
      // Said first: a connection that drains is closed when none waits any more.
      this.push(failRow(id, NOT_BEGUN));
      return this.#admissions.remove(id);
    }
    const submission = this.#running.get(id);
    if (submission === undefined) return;
    submission.abandon();
    this.#running.delete(id);
    if (submission.isUpdate) this.push(failRow(id, RUNS_ON));
    this.#closeIfDrained();
  }

  #refuse(code: number, reason: string, why: CorrectableError | undefined): void {
    if (why !== undefined) this.push(failRow(0, why));
    this.close(code, reason);
  }

  #letIn(hello: Hello, principal: Principal): void {
    const record = this.#host.clients.open(principal.id, hello.client, this.#codec.subprotocol);
    if (!this.#takeOver(record, hello.attempt)) return this.replaced();
    this.#greeting.end();
    const share = this.#host.principals.enter(principal.id, systemClock.now());
    if (share === undefined) return this.close(CloseCode.tryLater, 'its principal has as many connections as it may');
    this.#entered = principal.id;
    this.#load.principal = share.load;
    this.#client = this.#clientOf(record, principal, this.#host.authenticated ? share.rate : this.#newRate());
    const expiresInMs = this.#expiry.expect(principal);
    this.push([0, 'welcome', welcomeTo({ hello, principal, record, expiresInMs }, this.#host)]);
    if (this.#host.draining) this.drain(0);
  }

  /** Becomes the client's connection, unless a newer one is, or its replies are kept in another codec. */
  #takeOver(record: ClientRecord, attempt: number): boolean {
    const older = record.connection;
    if (record.subprotocol !== this.#codec.subprotocol || (older !== undefined && older.attempt >= attempt)) {
      return false;
    }
    this.attempt = attempt;
    this.#record = record;
    this.#host.clients.came(record, this);
    older?.replaced();
    return true;
  }

  #clientOf(record: ClientRecord, principal: Principal, rate: RateLimit): ConnectedClient {
    return {
      record,
      principal,
      expiry: this.#expiry,
      rate,
      owner: this.#ownerOf(record),
      host: this.#host,
      load: this.#load,
      outlet: this,
      running: this.#running,
      admissions: this.#admissions,
    };
  }

  #ownerOf(record: ClientRecord): SubmissionOwner {
    const { levels, bounds } = this.#host;
    return {
      record,
      codec: this.#codec,
      levels,
      resultBytesMax: bounds.resultBytesMax,
      onAnomaly: (operation, what, error) => this.#host.report(operation, what, error),
    };
  }

  #newRate(): RateLimit {
    return new RateLimit(this.#host.bounds.operationsPerSecondMax, systemClock.now());
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
      // The client greets again, and is told there that it is somebody else now.
      return this.close(CloseCode.expired, 'the fresh token is of somebody else: greet with it');
    }
    client.principal = principal;
    this.push([0, 'renewed', this.#expiry.expect(principal) ?? null]);
  }

  #expire(): void {
    this.close(EXPIRED.code, EXPIRED.reason);
  }

  #closeIfDrained(): void {
    if (this.#goaway !== 'seen' || this.#isClosed() || this.#running.size + this.#admissions.size > 0) return;
    this.#sender.flush();
    if (!this.#sender.isBlocked) this.close(CloseCode.goingAway, 'the server is shutting down');
  }

  #closed(): void {
    this.#leave();
    this.#host.closed(this);
  }

  /** Stops the reads of a client that is gone. Its updates go on. */
  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#greeting.end();
    this.#expiry.stop();
    this.#renewals.stop();
    if (this.#entered !== undefined) this.#host.principals.leave(this.#entered);
    this.#admissions.clear();
    this.#inbox.clear();
    this.#sender.clear();
    const record = this.#record;
    this.#running.forEach((submission) => {
      if (submission.isUpdate) submission.detach();
      else submission.abandon();
    });
    this.#running.clear();
    if (record?.connection === this) this.#host.clients.left(record, systemClock.now());
  }
}
