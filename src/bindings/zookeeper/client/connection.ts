/**
 * One connection to a server, with a handshake, replies in order, and heartbeats that detect a
 * frozen server.
 */
import { connect, type Socket } from 'node:net';
import { formatAddress, type ServerAddress } from '../../shared/server-address.ts';
import { HeartbeatMonitor } from '../../shared/heartbeat-monitor.ts';
import { getZooKeeperErrorCode, isUndecided, ZooKeeperError } from './errors.ts';
import { createJuteSplitter, JuteReader, JuteWriter, LENGTH_BYTES } from './jute.ts';
import type { Credentials } from './options.ts';
import { OP, type Request } from './requests.ts';

/** The reserved request numbers of frames that are not requests of the application. */
const XID = { watch: -1, ping: -2, auth: -4, setWatches: -8 } as const;
/**
 * This bit requests a preliminary reply, which then has the sign bit too. Servers that do not
 * support preliminary replies return the bit unchanged.
 */
const WANTS_PRELIMINARY = 2 ** 30;
const PRELIMINARY_FLAGS = 0x6000_0000;
/** No server keeps a session for longer than a week. */
const MAX_TIMEOUT_MS = 7 * 24 * 3_600_000;

/** Encodes a request. Its number is filled in later. */
export function encodeFrame({ type, write }: Request<unknown>): Buffer {
  const writer = new JuteWriter().int(0).int(type);
  write(writer);
  return writer.frame();
}

export interface PendingRequest<T = unknown> {
  readonly request: Request<T>;
  /**
   * The frame as it is sent, except for its number: the length, four bytes for the number, and the
   * content.
   */
  readonly frame: Buffer;
  readonly resolve: (value: T) => void;
  readonly reject: (error: ZooKeeperError) => void;
  /** When the request was made, by `performance.now()`. */
  readonly startedAtMs: number;
}

export interface AcceptedSession extends Credentials {
  /** The negotiated timeout. 0 or less for an expired session. */
  readonly sessionTimeoutMs: number;
}

export interface ConnectionOptions {
  readonly server: ServerAddress;
  readonly credentials: Credentials | undefined;
  readonly lastZxid: bigint;
  readonly sessionTimeoutMs: number;
  readonly nextRequestNumber: () => number;
  /** Timeout for connecting and the handshake. */
  readonly connectTimeoutMs: number;
  readonly maxReplyBytes: number;
  readonly onAccepted: (accepted: AcceptedSession) => void;
  readonly onZxid: (zxid: bigint) => void;
  readonly onWatchEvent: (reader: JuteReader) => void;
  readonly onAuthFailed: () => void;
  /** The number of payload bytes. */
  readonly bytes: { sent: number; received: number };
  /** Called once with the reason when the connection has ended. */
  readonly onClosed: (reason: ZooKeeperError) => void;
}

export class Connection {
  readonly server: string;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #frames: ReturnType<typeof createJuteSplitter>;
  #sentRequests: { readonly xid: number; readonly pending: PendingRequest }[] = [];
  #head = 0;
  #outgoing: Buffer[] = [];
  #isAccepted = false;
  #hasEnded = false;
  #hasGreeted = false;
  #isLate = false;
  #lastSentAt = performance.now();
  readonly #connectTimer: NodeJS.Timeout;
  #heartbeatMonitor: HeartbeatMonitor | undefined;

  constructor(options: ConnectionOptions) {
    const { host, port } = options.server;
    this.server = formatAddress(options.server);
    this.#options = options;
    this.#frames = createJuteSplitter(options.maxReplyBytes);
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.once('connect', () => this.#sendConnectRequest());
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on('error', (error) => this.#end(this.#createClosedError(error)));
    this.#socket.on('close', () => this.#end(this.#createClosedError()));
    this.#connectTimer = setTimeout(() => {
      this.#isLate = true;
      this.#end(this.#createLossError(`no answer within ${options.connectTimeoutMs} ms`));
    }, options.connectTimeoutMs);
  }

  /**
   * Whether the server closed the connection instead of accepting the session. It gives no reason:
   * it may serve no client now, have too many connections, or be behind what the session has seen.
   */
  get wasRefused(): boolean {
    return this.#hasGreeted && !this.#isAccepted && !this.#isLate;
  }

  get pendingCount(): number {
    return this.#sentRequests.length - this.#head;
  }

  /** Sends a request. Requests of one tick are sent together. */
  send(pending: PendingRequest): void {
    const number = this.#options.nextRequestNumber();
    const xid = pending.request.readPreliminary === undefined ? number : number | WANTS_PRELIMINARY;
    this.#sentRequests.push({ xid, pending });
    pending.frame.writeInt32BE(xid, LENGTH_BYTES);
    this.#enqueue(pending.frame);
  }

  /**
   * Sends a request that restores the session's identities or watches. No caller waits for its
   * reply.
   */
  sendSetup(request: Request<void>): void {
    const frame = encodeFrame(request);
    frame.writeInt32BE(request.type === OP.auth ? XID.auth : XID.setWatches, LENGTH_BYTES);
    this.#enqueue(frame);
  }

  /** Drops the connection without a notice to the server. */
  destroy(reason: string): void {
    this.#end(this.#createLossError(reason));
  }

  #sendConnectRequest(): void {
    this.#hasGreeted = true;
    const { lastZxid, sessionTimeoutMs, credentials } = this.#options;
    const writer = new JuteWriter().int(0).long(lastZxid).int(sessionTimeoutMs);
    writer
      .long(credentials?.sessionId ?? 0n)
      .buffer(credentials?.password ?? new Uint8Array(16))
      .bool(false);
    this.#enqueue(writer.frame());
  }

  #enqueue(frame: Buffer): void {
    this.#outgoing.push(frame);
    if (this.#outgoing.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    if (this.#hasEnded || this.#outgoing.length === 0) return;
    const bytes =
      this.#outgoing.length === 1 ? (this.#outgoing[0] as Buffer) : Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    this.#lastSentAt = performance.now();
    this.#options.bytes.sent += bytes.length;
    this.#socket.write(bytes);
  }

  #receive(chunk: Buffer): void {
    this.#heartbeatMonitor?.recordReceived();
    this.#options.bytes.received += chunk.length;
    try {
      this.#frames.push(chunk, (content) => this.#handleFrame(new JuteReader(content)));
    } catch (error) {
      this.#end(
        error instanceof ZooKeeperError ? error : this.#createLossError('unreadable reply', error),
      );
    }
  }

  #handleFrame(reader: JuteReader): void {
    if (this.#hasEnded) return;
    if (!this.#isAccepted) return this.#handleAccepted(reader);
    const xid = reader.int();
    // The last transaction that the server had applied.
    const zxid = reader.long();
    const error = reader.int();
    if (xid === XID.watch) return this.#options.onWatchEvent(reader);
    if (xid === XID.auth && error !== 0) return this.#options.onAuthFailed();
    if (xid < 0) {
      // The server's own negative numbers are small, so they have all of these bits.
      if ((xid & PRELIMINARY_FLAGS) === WANTS_PRELIMINARY)
        this.#deliverPreliminary(xid & 0x7fff_ffff, reader);
      return;
    }
    if (zxid > 0n) this.#options.onZxid(zxid);
    this.#handleReply(reader, { xid, zxid, error });
  }

  #handleAccepted(reader: JuteReader): void {
    reader.int();
    const sessionTimeoutMs = reader.int();
    const sessionId = reader.long();
    const password = reader.buffer() ?? new Uint8Array(16);
    const isReadOnly = reader.remaining > 0 && reader.bool();
    this.#isAccepted = true;
    clearTimeout(this.#connectTimer);
    // Reject a read-only server: while it is cut off from the ensemble, its data may be arbitrarily
    // old.
    if (isReadOnly) return this.#end(this.#createLossError('the server is read-only'));
    if (sessionTimeoutMs > MAX_TIMEOUT_MS) {
      const hint = `a session of ${sessionTimeoutMs} ms was offered: no ZooKeeper`;
      return this.#end(new ZooKeeperError('PROTOCOL_ERROR', { hint }));
    }
    if (sessionTimeoutMs > 0) this.#heartbeatMonitor = this.#startHeartbeat(sessionTimeoutMs);
    this.#options.onAccepted({ sessionTimeoutMs, sessionId, password });
  }

  #handleReply(
    reader: JuteReader,
    { xid, zxid, error }: { readonly xid: number; readonly zxid: bigint; readonly error: number },
  ): void {
    const expected = this.#sentRequests[this.#head];
    if (expected === undefined || expected.xid !== xid) {
      const hint = `reply ${xid} where ${expected?.xid ?? 'none'} was due`;
      return this.#end(new ZooKeeperError('PROTOCOL_ERROR', { hint }));
    }
    const { request, resolve, reject } = expected.pending;
    request.onReply?.(error, zxid);
    let failure: ZooKeeperError | undefined;
    let value: unknown;
    if (error === 0) {
      try {
        value = request.read(reader);
      } catch (thrown) {
        if (!(thrown instanceof ZooKeeperError) || thrown.code === 'PROTOCOL_ERROR') throw thrown;
        failure = thrown;
      }
    } else {
      const code = getZooKeeperErrorCode(error);
      const mayHaveTakenEffect = request.isWrite && isUndecided(code);
      failure = new ZooKeeperError(code, {
        path: request.path,
        mayHaveTakenEffect,
      });
    }
    this.#head += 1;
    if (this.#head === this.#sentRequests.length) {
      this.#sentRequests = [];
      this.#head = 0;
    }
    if (failure === undefined) resolve(value);
    else reject(failure);
  }

  #deliverPreliminary(xid: number, reader: JuteReader): void {
    for (let at = this.#head; at < this.#sentRequests.length; at += 1) {
      const sent = this.#sentRequests[at];
      if (sent?.xid === xid) return sent.pending.request.readPreliminary?.(reader);
    }
  }

  /**
   * Sends a ping after a third of the session timeout without messages. Ends the connection after
   * two thirds without a reply.
   */
  #startHeartbeat(sessionTimeoutMs: number): HeartbeatMonitor {
    const intervalMs = sessionTimeoutMs / 6;
    return new HeartbeatMonitor({
      intervalMs,
      maxSilenceMs: (2 * sessionTimeoutMs) / 3,
      stallMs: sessionTimeoutMs / 2,
      onHeartbeatDue: (silentMs) => {
        const isQuiet = performance.now() - this.#lastSentAt >= sessionTimeoutMs / 3 - intervalMs;
        const isUnanswered = silentMs >= sessionTimeoutMs / 3;
        if (isQuiet || isUnanswered)
          this.#enqueue(new JuteWriter().int(XID.ping).int(OP.ping).frame());
      },
      onSilence: (silentMs) =>
        this.#end(this.#createLossError(`silent for ${Math.round(silentMs)} ms`)),
    });
  }

  #createClosedError(cause?: Error): ZooKeeperError {
    const isRefusal = this.#hasGreeted && !this.#isAccepted;
    const reason = isRefusal
      ? 'the server refused the session. It serves no clients now, has too many connections of this address (maxClientCnxns), or is behind'
      : (cause?.message ?? 'the server closed the connection');
    return this.#createLossError(reason, cause);
  }

  #createLossError(reason: string, cause?: unknown): ZooKeeperError {
    return new ZooKeeperError('CONNECTION_LOSS', {
      hint: `${this.server}: ${reason}`,
      cause,
    });
  }

  #end(reason: ZooKeeperError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#connectTimer);
    this.#heartbeatMonitor?.stop();
    this.#socket.destroy();
    this.#options.onClosed(reason);
    const lost = this.#sentRequests.slice(this.#head);
    this.#sentRequests = [];
    for (const { pending } of lost) {
      const { path, isWrite } = pending.request;
      const details = {
        path,
        mayHaveTakenEffect: isWrite,
        hint: reason.hint,
        cause: reason,
      };
      pending.reject(new ZooKeeperError('CONNECTION_LOSS', details));
    }
  }
}
