/**
 * One connection to a node, with a handshake, replies in any order, and heartbeats that detect a
 * frozen node.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { formatAddress } from '../../bindings/shared/server-address.ts';
import { HeartbeatMonitor } from '../../bindings/shared/heartbeat-monitor.ts';
import { CqlError } from './cql-error.ts';
import { setStream } from './frame-writer.ts';
import { createResponseSplitter, type Frame } from './frames.ts';
import { performHandshake } from './handshake.ts';
import type { PluginOptions } from './options.ts';
import { encodeOptions } from './requests.ts';
import { readResponse, type Response } from './responses.ts';

export interface Exchange {
  /** @returns whether it was the last reply, so that the request's number becomes free */
  handleResponse(response: Response): boolean;
  /**
   * Called if the connection ends before the last reply has arrived, or if a reply to this request
   * cannot be handled. `error` has the reason.
   */
  handleLoss(error: CqlError): void;
}

export interface ConnectionEvents {
  readonly onReady: () => void;
  /** Called when there is capacity for requests again. */
  readonly onCapacity: () => void;
  /** The number of payload bytes. */
  readonly bytes: { sent: number; received: number };
  /** Called once with the reason when the connection has ended. */
  readonly onClosed: (reason: CqlError) => void;
}

/**
 * Maximum number of abandoned requests on one connection. Above it the connection is closed,
 * because their replies may never arrive.
 */
const MAX_ORPHANS = 256;
const CLOSE_TIMEOUT_MS = 1_000;
/** The number of checks of the silence within the maximum silence. */
const HEARTBEATS_PER_TIMEOUT = 6;

export class Connection {
  readonly node: string;
  /** Whether the node sends preliminary replies. Known once the connection is ready. */
  hasPreliminaryReplies = false;
  readonly #options: PluginOptions;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  readonly #frames: ReturnType<typeof createResponseSplitter>;
  /** The exchanges by the number of the request, which the protocol calls its stream. */
  readonly #exchanges: (Exchange | undefined)[] = [];
  /** Streams whose last reply has arrived. */
  readonly #freeStreams: number[] = [];
  #outgoing: Buffer[] = [];
  #orphanCount = 0;
  #isReady = false;
  #hasEnded = false;
  #isBlocked = false;
  #isHeartbeatPending = false;
  readonly #connectTimer: NodeJS.Timeout;
  #heartbeatMonitor: HeartbeatMonitor | undefined;

  constructor(options: PluginOptions, events: ConnectionEvents) {
    const { host, port, tls, connectTimeoutMs } = options;
    this.node = formatAddress(options);
    this.#options = options;
    this.#events = events;
    this.#frames = createResponseSplitter(options.maxFrameBytes);
    this.#socket =
      tls === undefined ? connectTcp({ host, port }) : connectTls({ ...tls, host, port });
    this.#socket.setNoDelay(true);
    this.#socket.once(
      tls === undefined ? 'connect' : 'secureConnect',
      () => void this.#handshake(),
    );
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on('drain', () => this.#unblock());
    this.#socket.on('error', (error) => this.#end(this.#createLossError(error.message, error)));
    this.#socket.on('close', () =>
      this.#end(this.#createLossError('the node closed the connection')),
    );
    this.#connectTimer = setTimeout(() => {
      this.#end(this.#createLossError(`no answer within ${connectTimeoutMs} ms`));
    }, connectTimeoutMs);
  }

  get isReady(): boolean {
    return this.#isReady && !this.#hasEnded;
  }

  /** Whether there is a number for one more request, and the node is not too slow for it. */
  get hasCapacity(): boolean {
    const inFlight = this.#exchanges.length - this.#freeStreams.length;
    return this.isReady && !this.#isBlocked && inFlight < this.#options.maxInFlight;
  }

  /** Sends a request. Requests of one tick are sent together. */
  send(frame: Buffer, exchange: Exchange): void {
    const stream = this.#freeStreams.pop() ?? this.#exchanges.length;
    this.#exchanges[stream] = exchange;
    setStream(frame, stream);
    this.#outgoing.push(frame);
    if (this.#outgoing.length === 1) queueMicrotask(() => this.#flush());
  }

  /**
   * Notes that the caller of one request has left. Its number stays in use until the last reply has
   * arrived.
   */
  abandon(): void {
    this.#orphanCount += 1;
    if (this.#orphanCount > MAX_ORPHANS)
      this.#end(this.#createLossError(`${this.#orphanCount} requests without an answer in time`));
  }

  /** Notes that the last reply of an abandoned request has arrived after all. */
  reclaim(): void {
    this.#orphanCount -= 1;
  }

  /** Ends the connection. Requests in flight are lost with `reason`. */
  async close(reason: CqlError): Promise<void> {
    if (this.#hasEnded) return;
    const isGone = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS);
    this.#end(reason);
    await isGone;
    clearTimeout(timer);
  }

  /**
   * Sends a request with one reply, and waits up to `timeoutMs`. Default: as long as the connection
   * lasts
   */
  request(frame: Buffer, timeoutMs?: number): Promise<Response> {
    return new Promise((resolve, reject) => {
      let isGivenUp = false;
      const giveUp = (): void => {
        isGivenUp = true;
        reject(
          new CqlError('TIMEOUT', `no answer within ${timeoutMs} ms`, {
            node: this.node,
          }),
        );
        this.abandon();
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
      const handleResponse = (response: Response): boolean => {
        clearTimeout(timer);
        if (isGivenUp) this.reclaim();
        else resolve(response);
        return true;
      };
      const handleLoss = (error: CqlError): void => {
        clearTimeout(timer);
        reject(error);
      };
      this.send(frame, { handleResponse, handleLoss });
    });
  }

  async #handshake(): Promise<void> {
    try {
      this.hasPreliminaryReplies = await performHandshake(
        (frame) => this.request(frame),
        this.#options,
      );
    } catch (error) {
      return this.#end(this.#addNode(error));
    }
    if (this.#hasEnded) return;
    this.#isReady = true;
    clearTimeout(this.#connectTimer);
    this.#heartbeatMonitor = this.#startHeartbeat();
    this.#events.onReady();
  }

  #flush(): void {
    if (this.#hasEnded || this.#outgoing.length === 0) return;
    const bytes =
      this.#outgoing.length === 1 ? (this.#outgoing[0] as Buffer) : Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    this.#events.bytes.sent += bytes.length;
    if (!this.#socket.write(bytes)) this.#isBlocked = true;
  }

  #unblock(): void {
    this.#isBlocked = false;
    if (this.hasCapacity) this.#events.onCapacity();
  }

  #receive(chunk: Buffer): void {
    this.#heartbeatMonitor?.recordReceived();
    this.#events.bytes.received += chunk.length;
    try {
      this.#frames.push(chunk, (frame) => this.#handleFrame(frame));
    } catch (error) {
      this.#end(this.#addNode(error));
    }
  }

  #handleFrame(frame: Frame): void {
    // Events have a negative number. This client requests none.
    if (this.#hasEnded || frame.stream < 0) return;
    const exchange = this.#exchanges[frame.stream];
    if (exchange === undefined) {
      throw new CqlError(
        'PROTOCOL',
        `an answer to request ${frame.stream}, which is not in flight`,
      );
    }
    let isLast = true;
    try {
      isLast = exchange.handleResponse(readResponse(frame));
    } catch (error) {
      this.#releaseStream(frame.stream);
      exchange.handleLoss(this.#addNode(error));
      throw error;
    }
    if (isLast) this.#releaseStream(frame.stream);
  }

  #releaseStream(stream: number): void {
    const hadRoom = this.hasCapacity;
    this.#exchanges[stream] = undefined;
    this.#freeStreams.push(stream);
    if (!hadRoom && this.hasCapacity) this.#events.onCapacity();
  }

  /** A heartbeat is sent after a third of the maximum silence. */
  #startHeartbeat(): HeartbeatMonitor {
    const { maxSilenceMs } = this.#options;
    return new HeartbeatMonitor({
      intervalMs: maxSilenceMs / HEARTBEATS_PER_TIMEOUT,
      maxSilenceMs,
      stallMs: maxSilenceMs / 2,
      onHeartbeatDue: (silentMs) => {
        if (silentMs >= maxSilenceMs / 3 && !this.#isHeartbeatPending) this.#sendHeartbeat();
      },
      onSilence: (silentMs) =>
        this.#end(this.#createLossError(`silent for ${Math.round(silentMs)} ms`)),
    });
  }

  #sendHeartbeat(): void {
    this.#isHeartbeatPending = true;
    const handleResponse = (): boolean => {
      this.#isHeartbeatPending = false;
      return true;
    };
    this.send(encodeOptions(), { handleResponse, handleLoss() {} });
  }

  #createLossError(reason: string, cause?: unknown): CqlError {
    return new CqlError('CONNECTION_LOST', reason, { node: this.node, cause });
  }

  #addNode(error: unknown): CqlError {
    if (!(error instanceof CqlError)) return this.#createLossError('unreadable answer', error);
    if (error.node !== undefined) return error;
    return new CqlError(error.code, error.message, {
      node: this.node,
      server: error.server,
      cause: error.cause,
    });
  }

  #end(reason: CqlError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#connectTimer);
    this.#heartbeatMonitor?.stop();
    // Requests that were written before may still be sent. Their replies are ignored.
    if (reason.code === 'CLOSED' && this.#isReady) this.#socket.end();
    else this.#socket.destroy();
    this.#events.onClosed(reason);
    const isOurs = reason.code === 'CLOSED' || reason.code === 'CONNECTION_LOST';
    const loss = isOurs ? reason : this.#createLossError(reason.message, reason);
    for (const exchange of this.#exchanges.splice(0)) exchange?.handleLoss(loss);
  }
}

/**
 * A connection that lasted shorter counts as failed. Otherwise a node that drops every connection
 * would get attempts without a pause.
 */
const STABLE_AFTER_MS = 5_000;

export interface ReconnectingConnectionEvents {
  /** Called when the connection is ready, or has capacity again. */
  readonly onCapacity: () => void;
  readonly onDown: (reason: CqlError) => void;
}

export class ReconnectingConnection {
  readonly bytes = { sent: 0, received: 0 };
  readonly #options: PluginOptions;
  readonly #events: ReconnectingConnectionEvents;
  #connection: Connection | undefined;
  #failureCount = 0;
  #readySince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PluginOptions, events: ReconnectingConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#open();
  }

  /** Whether the connection is open, busy or not, and the node sends preliminary replies. */
  get isUp(): boolean {
    return this.#connection?.isReady === true && this.#connection.hasPreliminaryReplies;
  }

  /** Returns the connection if it has capacity for a request. */
  getReady(): Connection | undefined {
    return this.isUp && this.#connection?.hasCapacity === true ? this.#connection : undefined;
  }

  async close(reason: CqlError): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#connection?.close(reason);
  }

  #open(): void {
    this.#readySince = undefined;
    this.#connection = new Connection(this.#options, {
      onReady: () => {
        this.#readySince = performance.now();
        this.#events.onCapacity();
      },
      onCapacity: () => this.#events.onCapacity(),
      bytes: this.bytes,
      onClosed: (reason) => this.#handleLoss(reason),
    });
  }

  #handleLoss(reason: CqlError): void {
    const stoodMs = this.#readySince === undefined ? 0 : performance.now() - this.#readySince;
    this.#connection = undefined;
    this.#failureCount = stoodMs >= STABLE_AFTER_MS ? 0 : this.#failureCount + 1;
    if (this.#isClosed) return;
    const { initialReconnectDelayMs, maxReconnectDelayMs } = this.#options;
    const ceilingMs = Math.min(
      maxReconnectDelayMs,
      initialReconnectDelayMs * 2 ** Math.max(0, this.#failureCount - 1),
    );
    this.#timer = setTimeout(() => this.#open(), ceilingMs * (0.5 + Math.random() / 2));
    this.#events.onDown(reason);
  }
}
