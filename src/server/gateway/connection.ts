/** One client's connection, from `hello` to the close. */
import { CorrectableError } from '../../correctable/errors.ts';
import { clientKinds } from '../../protocol/client-kinds.ts';
import { CloseCode } from '../../protocol/close-codes.ts';
import type { Codec, Encoded, EncodedRow } from '../../protocol/codec.ts';
import type { Hello } from '../../protocol/hello.ts';
import { NumberedTable } from '../../protocol/numbered-table.ts';
import { Outbox } from '../../protocol/outbox.ts';
import { isPlainSubmit } from '../../protocol/plain-rows.ts';
import { createRowCheck } from '../../protocol/row-check.ts';
import type { ClientRow, ServerRow } from '../../protocol/rows.ts';
import { fieldsOf } from '../../protocol/server-kinds.ts';
import type { SubmitRow } from '../../protocol/submit.ts';
import { PROTOCOL_VERSION } from '../../protocol/version.ts';
import { failRow } from '../../protocol/wire-errors.ts';
import { compileSchema } from './compile-schema.ts';
import type { ClientConnection, ClientRecord } from './client-table.ts';
import type { GatewayHost, Peer, Principal } from './host.ts';
import { ClientExpiry } from './client-expiry.ts';
import { RateLimit } from './rate-limit.ts';
import { refuseHello } from './refuse-hello.ts';
import type { ServerSocket } from './socket.ts';
import type { Outlet, Submission, SubmissionOwner } from './submission.ts';
import { submit, type Guest } from './submit.ts';

const checkRow = createRowCheck(clientKinds, { compile: compileSchema, isPlain: isPlainSubmit });

/** The answer to the cancellation of an update: the client need not submit it again. */
const RUNS_ON = new CorrectableError('ABORTED', 'no more views; the update runs to its end');

type Phase = 'greeting' | 'authenticating' | 'serving' | 'closed';

/** What a connection is made from. */
export interface ConnectionParts {
  readonly socket: ServerSocket;
  readonly codec: Codec;
  readonly peer: Peer;
  readonly host: GatewayHost;
}

/** A class, since a literal with a getter would be of another shape for each connection. */
class ClientOwner implements SubmissionOwner {
  readonly key: string;
  readonly codec: Codec;
  readonly levels: readonly string[];
  readonly #record: ClientRecord;
  readonly #host: GatewayHost;

  constructor(record: ClientRecord, codec: Codec, host: GatewayHost) {
    this.key = record.key;
    this.codec = codec;
    this.levels = host.levels;
    this.#record = record;
    this.#host = host;
  }

  get acknowledged(): number {
    return this.#record.acked;
  }

  onAnomaly(operation: string, what: string, error?: unknown): void {
    this.#host.report(operation, what, error);
  }
}

/** The server's end of one websocket. */
export class GatewayConnection implements ClientConnection, Outlet {
  readonly #socket: ServerSocket;
  readonly #codec: Codec;
  readonly #peer: Peer;
  readonly #host: GatewayHost;
  readonly #outbox: Outbox;
  readonly #running = new NumberedTable<Submission>();
  readonly #helloTimer: NodeJS.Timeout;
  #phase: Phase = 'greeting';
  #guest: Guest | undefined;
  readonly #expiry: ClientExpiry;
  #malformed = 0;
  #heard = true;
  /** When the frame being read arrived, in milliseconds since the epoch. */
  #receivedAt = 0;
  #leaving = false;
  attempt = 0;

  constructor({ socket, codec, peer, host }: ConnectionParts) {
    this.#socket = socket;
    this.#codec = codec;
    this.#peer = peer;
    this.#host = host;
    // Before anything else is read: what a frame leads to at once is answered by one frame.
    this.#outbox = new Outbox(
      codec,
      (flush) => process.nextTick(flush),
      (frame) => this.#send(frame),
    );
    this.#outbox.frameBytesMax = host.limits.frameBytesMax;
    this.#expiry = new ClientExpiry(() => this.close(CloseCode.expired, 'the token has expired'));
    this.#helloTimer = setTimeout(() => {
      this.close(CloseCode.helloTimeout, `no hello within ${host.limits.helloTimeoutMs} ms`);
    }, host.limits.helloTimeoutMs);
    socket.listen({
      received: (frame) => this.#guarded(() => this.#receive(frame)),
      alive: () => (this.#heard = true),
      closed: () => this.#closed(),
    });
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Closes with a code from `CloseCode`, after what was said has been sent. */
  close(code: number, reason: string): void {
    if (this.#phase === 'closed') return;
    this.#outbox.flush();
    this.#socket.close(code, reason);
    this.#leave();
  }

  replaced(): void {
    this.close(CloseCode.replaced, 'a newer connection of this client took over');
  }

  /** Cuts a connection that said nothing since the last call; asks the others for a sign of life. */
  checkAlive(): void {
    if (!this.#heard) return this.#socket.terminate();
    this.#heard = false;
    this.#socket.ping();
  }

  /** Takes no more submissions, and closes once those under way have ended. */
  drain(drainMs: number): void {
    if (this.#phase !== 'serving') return this.close(CloseCode.goingAway, 'the server is shutting down');
    this.#leaving = true;
    this.push([0, 'goaway', drainMs]);
    this.#closeIfDrained();
  }

  /** Cuts the connection at once. */
  terminate(): void {
    this.#socket.terminate();
  }

  push(row: ServerRow): void {
    try {
      this.#outbox.push(this.#codec.encodeRow(row, fieldsOf(row)));
    } catch (error) {
      // Only a version or meta outside the value domain gets here: the store's fault, and the end of the operation.
      this.#host.logger.error({ err: error, kind: row[1] }, 'a row cannot be encoded');
      this.#outbox.push(this.#codec.encodeRow(failRow(row[0], error)));
    }
  }

  pushEncoded(row: EncodedRow): void {
    this.#outbox.push(row);
  }

  ended(submission: Submission): void {
    this.#running.delete(submission.id);
    this.#closeIfDrained();
  }

  /** A mistake of ours, or of a hook, costs this connection, never the process. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#host.logger.error({ err: error, ...this.#peer }, 'a connection failed');
      this.close(CloseCode.internal, 'the server made a mistake');
    }
  }

  #receive(frame: Encoded): void {
    this.#heard = true;
    if (this.#phase === 'closed') return;
    this.#receivedAt = Date.now();
    let rows: unknown[];
    try {
      rows = this.#codec.decode(frame);
    } catch (error) {
      return this.#countMalformed(0, error);
    }
    for (const row of rows) {
      this.#receiveRow(row);
      if (this.#isClosed()) return;
    }
  }

  // A method, since the checker believes that `#phase` cannot change during a call.
  #isClosed(): boolean {
    return this.#phase === 'closed';
  }

  #receiveRow(received: unknown): void {
    const problem = checkRow(received);
    if (problem !== undefined) {
      const { id, field, reason } = problem;
      return this.#countMalformed(id, new CorrectableError('PROTOCOL', `${field}: ${reason}`, { field }));
    }
    const row = received as ClientRow;
    if (this.#guest !== undefined) return this.#serve(row, this.#guest);
    if (row[1] === 'hello' && this.#phase === 'greeting') return this.#greet(row[2]);
    this.close(CloseCode.malformed, 'the first message must be hello, and the next one wait for welcome');
  }

  #serve(row: ClientRow, guest: Guest): void {
    switch (row[1]) {
      case 'submit':
        return this.#submit(row, guest);
      case 'renew':
        return this.#renew(row[2], guest);
      case 'cancel':
        return this.#cancel(row[0], guest);
      case 'ack':
        return guest.record.acknowledge(row[0]);
      case 'ping':
        return this.push([row[0], 'pong']);
      case 'pong':
        return undefined;
      case 'hello':
        return this.close(CloseCode.malformed, 'hello may be said only once');
    }
  }

  #renew(token: string, guest: Guest): void {
    Promise.resolve()
      .then(() => this.#host.authenticate(token, this.#peer))
      .then(
        (principal) => {
          if (this.#isClosed()) return;
          if (principal.id !== guest.principal.id) {
            this.close(CloseCode.unauthenticated, 'the fresh token is of somebody else');
            return;
          }
          guest.principal = principal;
          this.push([0, 'renewed', this.#expiry.expect(principal) ?? null]);
        },
        (error: unknown) => {
          this.#host.logger.info({ err: error, ...this.#peer }, 'a fresh token was refused');
          this.close(CloseCode.unauthenticated, 'the token was refused');
        },
      );
  }

  #submit(row: SubmitRow, guest: Guest): void {
    // What crosses the goaway is submitted again on the next connection.
    if (!this.#leaving) submit(row, guest, this.#receivedAt);
  }

  #cancel(id: number, { record }: Guest): void {
    const submission = this.#running.get(id);
    if (submission === undefined) return;
    submission.abandon();
    this.#running.delete(id);
    if (record.find(id) === submission) this.push(failRow(id, RUNS_ON));
    this.#closeIfDrained();
  }

  #greet(hello: Hello): void {
    const refusal = refuseHello(hello, this.#host);
    if (refusal !== undefined) {
      this.push(failRow(0, refusal));
      return this.close(CloseCode.mismatch, 'version, levels or contract differ');
    }
    this.#phase = 'authenticating';
    Promise.resolve()
      .then(() => this.#host.authenticate(hello.token, this.#peer))
      .then(
        (principal) => this.#guarded(() => this.#welcome(hello, principal)),
        (error: unknown) => {
          this.#host.logger.info({ err: error, ...this.#peer }, 'a client was not authenticated');
          this.close(CloseCode.unauthenticated, 'the token was refused');
        },
      );
  }

  #welcome({ client, attempt }: Hello, principal: Principal): void {
    if (this.#phase === 'closed') return;
    const record = this.#host.clients.open(principal.id, client, this.#codec.subprotocol);
    const older = record.connection;
    if (record.subprotocol !== this.#codec.subprotocol || (older !== undefined && older.attempt >= attempt)) {
      return this.replaced();
    }
    older?.replaced();
    record.connection = this;
    clearTimeout(this.#helloTimer);
    this.attempt = attempt;
    const { levels, catalogue, limits } = this.#host;
    this.#guest = {
      record,
      principal,
      rate: new RateLimit(this.#host.limits.operationsPerSecondMax, Date.now()),
      owner: new ClientOwner(record, this.#codec, this.#host),
      host: this.#host,
      outlet: this,
      running: this.#running,
      socket: this.#socket,
    };
    this.#phase = 'serving';
    const contract = catalogue && { name: catalogue.name, hash: catalogue.hash };
    const { frameBytesMax, inFlightMax } = limits;
    const welcome = {
      version: PROTOCOL_VERSION,
      levels,
      site: this.#host.site,
      expiresInMs: this.#expiry.expect(principal),
      memory: this.#host.memory,
      contract,
      limits: { frameBytesMax, inFlightMax },
    };
    this.push([0, 'welcome', welcome]);
    if (this.#host.draining) this.drain(0);
  }

  #countMalformed(id: number, error: unknown): void {
    this.#host.counters.malformed++;
    this.push(failRow(id, error));
    if (++this.#malformed >= this.#host.limits.malformedMax) {
      this.close(CloseCode.malformed, `${this.#malformed} malformed rows`);
    }
  }

  #send(frame: Encoded): void {
    this.#socket.send(frame);
    if (this.#socket.bufferedBytes <= 2 * this.#host.limits.sendBufferBytesMax) return;
    this.#host.logger.warn({ ...this.#peer, bufferedBytes: this.#socket.bufferedBytes }, 'cut off a slow reader');
    this.#socket.close(CloseCode.slowReader, 'the client reads too slowly');
    this.#socket.terminate();
  }

  #closeIfDrained(): void {
    if (this.#leaving && this.#running.size === 0) this.close(CloseCode.goingAway, 'the server is shutting down');
  }

  #closed(): void {
    this.#leave();
    this.#host.closed(this);
  }

  /** Reads nobody waits for any more are stopped; updates go on, and their replies are kept for the client's return. */
  #leave(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    clearTimeout(this.#helloTimer);
    this.#expiry.stop();
    this.#outbox.clear();
    const record = this.#guest?.record;
    this.#running.forEach((submission) => {
      if (record?.find(submission.id) === submission) submission.detach();
      else submission.abandon();
    });
    this.#running.clear();
    if (record?.connection !== this) return;
    record.connection = undefined;
    record.goneAt = Date.now();
  }
}
