/**
 * One TCP connection to one server: handshake, requests answered in order, heartbeats, and the end. A server that is
 * frozen, not gone, is noticed by its silence.
 */
import { connect, type Socket } from 'node:net';
import { formatAddress, type ServerAddress } from '../../../engine-client/address.ts';
import { SilenceWatch } from '../../../engine-client/silence-watch.ts';
import { codeOf, isUndecided, ZooKeeperError } from './errors.ts';
import { juteFrames, JuteReader, JuteWriter, LENGTH_BYTES } from './jute.ts';
import type { Credentials } from './options.ts';
import type { RequestNumbers } from './request-numbers.ts';
import { OP, type Request } from './requests.ts';

/** Numbers of frames that answer no request of the application. */
const XID = { watch: -1, ping: -2, auth: -4, setWatches: -8 } as const;
/** Asks for a preliminary reply, which then has the sign bit too. Servers without such replies send the bit back. */
const WANTS_PRELIMINARY = 2 ** 30;
const FLAGS = 0x6000_0000;
/** No server keeps a session for so long: a week. */
const TIMEOUT_MAX_MS = 7 * 24 * 3_600_000;

/** Writes a request down, its number to be filled in. */
export function frameOf({ type, write }: Request<unknown>): Buffer {
  const writer = new JuteWriter().int(0).int(type);
  write(writer);
  return writer.frame();
}

/** A request on its way. */
export interface Pending<T = unknown> {
  readonly request: Request<T>;
  /** As it goes out but for its number: the length, four bytes for the number, the rest. */
  readonly frame: Buffer;
  readonly resolve: (value: T) => void;
  readonly reject: (error: ZooKeeperError) => void;
  /** When it was handed in, by `performance.now()`. */
  readonly since: number;
}

/** What the server answered to the handshake. */
export interface Accepted extends Credentials {
  /** As negotiated; 0 or less for a session that has expired. */
  readonly sessionTimeoutMs: number;
}

export interface ConnectionOptions {
  readonly server: ServerAddress;
  readonly credentials: Credentials | undefined;
  readonly lastZxid: bigint;
  readonly sessionTimeoutMs: number;
  /** The session's. */
  readonly numbers: RequestNumbers;
  /** How long connecting and the handshake may take. */
  readonly connectTimeoutMs: number;
  readonly maxReplyBytes: number;
  readonly onAccepted: (accepted: Accepted) => void;
  readonly onZxid: (zxid: bigint) => void;
  readonly onWatchEvent: (reader: JuteReader) => void;
  readonly onAuthFailed: () => void;
  /** Counts payload bytes. */
  readonly bytes: { sent: number; received: number };
  /** Called once, when the connection is over, with why. */
  readonly onClosed: (reason: ZooKeeperError) => void;
}

export class Connection {
  readonly server: string;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #frames: ReturnType<typeof juteFrames>;
  #sent: { readonly xid: number; readonly pending: Pending }[] = [];
  #head = 0;
  #out: Buffer[] = [];
  #isAccepted = false;
  #isOver = false;
  #lastSentAt = performance.now();
  readonly #connectTimer: NodeJS.Timeout;
  #silence: SilenceWatch | undefined;

  constructor(options: ConnectionOptions) {
    const { host, port } = options.server;
    this.server = formatAddress(options.server);
    this.#options = options;
    this.#frames = juteFrames(options.maxReplyBytes);
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.once('connect', () => this.#greet());
    this.#socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    this.#socket.on('error', (error) => this.#end(this.#loss(error.message, error)));
    this.#socket.on('close', () => this.#end(this.#loss('the server closed the connection')));
    this.#connectTimer = setTimeout(() => {
      this.#end(this.#loss(`no answer within ${options.connectTimeoutMs} ms`));
    }, options.connectTimeoutMs);
  }

  /** How many requests wait for their reply. */
  get waiting(): number {
    return this.#sent.length - this.#head;
  }

  /** Sends a request; those of one tick leave together. */
  send(pending: Pending): void {
    const number = this.#options.numbers.next();
    const xid = pending.request.preliminary === undefined ? number : number | WANTS_PRELIMINARY;
    this.#sent.push({ xid, pending });
    pending.frame.writeInt32BE(xid, LENGTH_BYTES);
    this.#queue(pending.frame);
  }

  /** Sends what belongs to the session and answers no caller: identities, watches. */
  sendSetup(request: Request<void>): void {
    const frame = frameOf(request);
    frame.writeInt32BE(request.type === OP.auth ? XID.auth : XID.setWatches, LENGTH_BYTES);
    this.#queue(frame);
  }

  /** Cuts the connection without telling the server. */
  destroy(why: string): void {
    this.#end(this.#loss(why));
  }

  #greet(): void {
    const { lastZxid, sessionTimeoutMs, credentials } = this.#options;
    const writer = new JuteWriter().int(0).long(lastZxid).int(sessionTimeoutMs);
    writer
      .long(credentials?.sessionId ?? 0n)
      .buffer(credentials?.password ?? new Uint8Array(16))
      .bool(false);
    this.#queue(writer.frame());
  }

  #queue(frame: Buffer): void {
    this.#out.push(frame);
    if (this.#out.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    if (this.#isOver || this.#out.length === 0) return;
    const bytes = this.#out.length === 1 ? (this.#out[0] as Buffer) : Buffer.concat(this.#out);
    this.#out = [];
    this.#lastSentAt = performance.now();
    this.#options.bytes.sent += bytes.length;
    this.#socket.write(bytes);
  }

  #hear(chunk: Buffer): void {
    this.#silence?.heard();
    this.#options.bytes.received += chunk.length;
    try {
      this.#frames.push(chunk, (content) => this.#take(new JuteReader(content)));
    } catch (error) {
      this.#end(error instanceof ZooKeeperError ? error : this.#loss('unreadable reply', error));
    }
  }

  #take(reader: JuteReader): void {
    if (this.#isOver) return;
    if (!this.#isAccepted) return this.#accept(reader);
    const xid = reader.int();
    // The last transaction that the server had applied.
    const zxid = reader.long();
    const error = reader.int();
    if (xid === XID.watch) return this.#options.onWatchEvent(reader);
    if (xid === XID.auth && error !== 0) return this.#options.onAuthFailed();
    if (xid < 0) {
      // The server's own negative numbers are small: they have all of these bits.
      if ((xid & FLAGS) === WANTS_PRELIMINARY) this.#tellPreliminary(xid & 0x7fff_ffff, reader);
      return;
    }
    if (zxid > 0n) this.#options.onZxid(zxid);
    this.#answer(reader, { xid, zxid, error });
  }

  #accept(reader: JuteReader): void {
    reader.int();
    const sessionTimeoutMs = reader.int();
    const sessionId = reader.long();
    const password = reader.buffer() ?? new Uint8Array(16);
    const isReadOnly = reader.rest > 0 && reader.bool();
    this.#isAccepted = true;
    clearTimeout(this.#connectTimer);
    // We never ask for one: what it shows may be as old as its partition.
    if (isReadOnly) return this.#end(this.#loss('the server is read-only'));
    if (sessionTimeoutMs > TIMEOUT_MAX_MS) {
      const hint = `a session of ${sessionTimeoutMs} ms was offered: no ZooKeeper`;
      return this.#end(new ZooKeeperError('PROTOCOL_ERROR', { hint }));
    }
    if (sessionTimeoutMs > 0) this.#silence = this.#keepAlive(sessionTimeoutMs);
    this.#options.onAccepted({ sessionTimeoutMs, sessionId, password });
  }

  #answer(
    reader: JuteReader,
    { xid, zxid, error }: { readonly xid: number; readonly zxid: bigint; readonly error: number },
  ): void {
    const expected = this.#sent[this.#head];
    if (expected === undefined || expected.xid !== xid) {
      const hint = `reply ${xid} where ${expected?.xid ?? 'none'} was due`;
      return this.#end(new ZooKeeperError('PROTOCOL_ERROR', { hint }));
    }
    const { request, resolve, reject } = expected.pending;
    request.answered?.(error, zxid);
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
      const code = codeOf(error);
      const mayHaveTakenEffect = request.isUpdate && isUndecided(code);
      failure = new ZooKeeperError(code, { path: request.path, mayHaveTakenEffect });
    }
    this.#head += 1;
    if (this.#head === this.#sent.length) {
      this.#sent = [];
      this.#head = 0;
    }
    if (failure === undefined) resolve(value);
    else reject(failure);
  }

  #tellPreliminary(xid: number, reader: JuteReader): void {
    for (let at = this.#head; at < this.#sent.length; at += 1) {
      const sent = this.#sent[at];
      if (sent?.xid === xid) return sent.pending.request.preliminary?.(reader);
    }
  }

  /** A ping after a third of the session's time without a word, the end after two thirds without an answer. */
  #keepAlive(sessionTimeoutMs: number): SilenceWatch {
    const beatMs = sessionTimeoutMs / 6;
    return new SilenceWatch({
      beatMs,
      silenceMaxMs: (2 * sessionTimeoutMs) / 3,
      stallMs: sessionTimeoutMs / 2,
      onBeat: (silentMs) => {
        const isQuiet = performance.now() - this.#lastSentAt >= sessionTimeoutMs / 3 - beatMs;
        const isUnanswered = silentMs >= sessionTimeoutMs / 3;
        if (isQuiet || isUnanswered) this.#queue(new JuteWriter().int(XID.ping).int(OP.ping).frame());
      },
      onSilence: (silentMs) => this.#end(this.#loss(`silent for ${Math.round(silentMs)} ms`)),
    });
  }

  #loss(why: string, cause?: unknown): ZooKeeperError {
    return new ZooKeeperError('CONNECTION_LOSS', { hint: `${this.server}: ${why}`, cause });
  }

  #end(reason: ZooKeeperError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#connectTimer);
    this.#silence?.stop();
    this.#socket.destroy();
    this.#options.onClosed(reason);
    const lost = this.#sent.slice(this.#head);
    this.#sent = [];
    for (const { pending } of lost) {
      const { path, isUpdate } = pending.request;
      const details = { path, mayHaveTakenEffect: isUpdate, hint: reason.hint, cause: reason };
      pending.reject(new ZooKeeperError('CONNECTION_LOSS', details));
    }
  }
}
