/** One connection between two processes: frames, requests with replies, and heartbeats. */
import type { TLSSocket } from 'node:tls';
import { isRecord } from '../../../correctable/validate.ts';
import { MAX_ENVELOPE_BYTES } from '../../site/wire/envelope-codec.ts';
import {
  FRAME,
  FRAME_OVERHEAD_BYTES,
  FrameError,
  FrameReader,
  encodeFrameHead,
  type Frame,
} from './frames.ts';
import { LinkWindow } from './link-window.ts';
import { getErrorMessage } from '../../../values/error-message.ts';

/** Messages and bytes on a link, since the process started. */
export interface LinkTraffic {
  sentMessages: number;
  sentBytes: number;
  receivedMessages: number;
  receivedBytes: number;
}

export interface ConnectionEvents {
  onEnvelopes?(contents: readonly Uint8Array[]): void;
  onSlice?(content: Uint8Array): void;
  /** Returns the reply to a request, or a promise of it. An error becomes the reply's error. */
  onRequest(kind: string, body: unknown): unknown;
  /** Called when the peer has confirmed bytes, so that more may be sent. */
  onConfirmed?(): void;
  /** Called once. */
  onClosed(error: Error | undefined): void;
}

/** How long a peer may be silent, in heartbeats. */
const MAX_SILENT_BEATS = 5;
export const HEARTBEAT_INTERVAL_MS = 1000;
const REQUEST_TIMEOUT_MS = 5000;
/**
 * After this many received bytes the peer gets a confirmation, at the latest with the next
 * heartbeat.
 */
const MAX_UNREPORTED_BYTES = 1 << 16;
/** Maximum size of a frame of a peer that has not identified itself. */
const MAX_UNKNOWN_FRAME_BYTES = 1 << 16;
const PING = 'ping';

interface PendingRequest {
  resolve(value: unknown): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

/**
 * A connection. Each end may send requests. The end that dialed sends envelopes, and the other end
 * only answers them.
 */
export class LinkConnection {
  /** Counts the traffic. It is replaced once the peer is known. */
  traffic: LinkTraffic = createTraffic();
  /** Whether frames of any size are accepted, because the peer has identified itself. */
  isKnown = false;
  /** The last round trip in milliseconds. */
  roundTripMs: number | undefined;
  readonly #socket: TLSSocket;
  readonly #events: ConnectionEvents;
  readonly #reader = new FrameReader(() =>
    this.isKnown ? MAX_ENVELOPE_BYTES : MAX_UNKNOWN_FRAME_BYTES,
  );
  readonly #window = new LinkWindow();
  /** The parts of an envelope that has begun. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /**
   * Received bytes in frames other than control messages, The next field is how many of them were
   * confirmed to the peer.
   */
  #takenBytes = 0;
  #reportedBytes = 0;
  readonly #requests = new Map<number, PendingRequest>();
  #nextRequest = 1;
  #silentBeats = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #error: Error | undefined;
  #isClosed = false;

  constructor(socket: TLSSocket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('close', () => this.#onClosed());
  }

  /** Bytes that the socket has not sent yet. */
  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  /** How many bytes may be written now, before the peer confirms more. */
  get room(): number {
    return this.#window.room;
  }

  /** Bytes of envelopes and slices that the peer has not confirmed yet. */
  get unconfirmedBytes(): number {
    return this.#window.unconfirmed;
  }

  /**
   * Sends and expects heartbeats. If `sends` is set, this end sends a heartbeat in every interval.
   * Otherwise it expects heartbeats of the peer. An end that is receiving a large message confirms
   * how much of it has arrived.
   */
  startHeartbeats(sends: boolean, intervalMs: number = HEARTBEAT_INTERVAL_MS): void {
    this.#heartbeat = setInterval(() => {
      // Count heartbeats, not time: if this process was suspended, the replies of the peer are read
      // before the next heartbeat.
      if ((this.#silentBeats += 1) > MAX_SILENT_BEATS)
        return this.close(
          new Error(`nothing was received for ${MAX_SILENT_BEATS * intervalMs} ms`),
        );
      this.#window.onBeat();
      const isTakingFrame = this.#silentBeats === 1 && this.#reader.isInFrame;
      if (isTakingFrame || this.#takenBytes > this.#reportedBytes) this.#reportTaken();
      if (!sends) return;
      const from = performance.now();
      this.request(PING, null).then(
        () => (this.roundTripMs = performance.now() - from),
        () => {},
      );
    }, intervalMs).unref();
  }

  /** Writes frames now. */
  write(frames: readonly Frame[]): void {
    const { traffic } = this;
    this.#socket.cork();
    for (const { type, content } of frames) {
      this.#socket.write(encodeFrameHead(type, content.length));
      this.#socket.write(content);
      traffic.sentBytes += FRAME_OVERHEAD_BYTES + content.length;
      if (type === FRAME.envelope) traffic.sentMessages += 1;
      if (type !== FRAME.control) this.#window.onSent(content.length);
    }
    this.#socket.uncork();
  }

  /**
   * Sends a request and resolves with the reply. Rejects if there is none in time, or if the peer
   * refuses the request.
   */
  request(kind: string, body: unknown, timeoutMs: number = REQUEST_TIMEOUT_MS): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(this.#error ?? new Error('the connection is closed'));
      const id = this.#nextRequest++;
      const giveUp = (): void =>
        this.#settle(id)?.reject(new Error(`no reply to ${kind} within ${timeoutMs} ms`));
      const timer = setTimeout(giveUp, timeoutMs).unref();
      this.#requests.set(id, { resolve, reject, timer });
      this.#sendControl({ request: id, kind, body });
    });
  }

  close(error?: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** Closes the connection once everything that was written has been sent. */
  end(): void {
    this.#socket.end();
  }

  #sendControl(message: object): void {
    this.write([{ type: FRAME.control, content: Buffer.from(JSON.stringify(message)) }]);
  }

  #reportTaken(): void {
    this.#reportedBytes = this.#takenBytes;
    this.#sendControl({ taken: this.#takenBytes });
  }

  /** Returns the envelope that ends with this content. */
  #completeEnvelope(content: Uint8Array): Uint8Array {
    if (this.#parts.length === 0) return content;
    const whole = Buffer.concat([...this.#parts, content]);
    this.#parts = [];
    this.#partBytes = 0;
    return whole;
  }

  #takePart(content: Uint8Array): void {
    this.#parts.push(content);
    this.#partBytes += content.length;
    if (!this.isKnown || this.#partBytes > MAX_ENVELOPE_BYTES)
      throw new FrameError(`an envelope of ${this.#partBytes} bytes is not allowed`);
  }

  #onData(chunk: Buffer): void {
    this.#silentBeats = 0;
    this.traffic.receivedBytes += chunk.length;
    try {
      let envelopes: Uint8Array[] = [];
      const flush = (): void => {
        if (envelopes.length === 0) return;
        this.traffic.receivedMessages += envelopes.length;
        const received = envelopes;
        envelopes = [];
        this.#events.onEnvelopes?.(received);
      };
      for (const { type, content } of this.#reader.read(chunk)) {
        if (type !== FRAME.control) this.#takenBytes += content.length;
        if (type === FRAME.envelope) {
          envelopes.push(this.#completeEnvelope(content));
          continue;
        }
        if (type === FRAME.part) {
          this.#takePart(content);
          continue;
        }
        flush();
        if (type === FRAME.slice) this.#events.onSlice?.(content);
        else this.#onControl(content);
      }
      flush();
      if (this.#takenBytes - this.#reportedBytes >= MAX_UNREPORTED_BYTES) this.#reportTaken();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close(error);
    }
  }

  #onControl(content: Uint8Array): void {
    const message = parseControl(content);
    const { request, reply, kind, body, error, taken } = message;
    if (typeof request === 'number' && typeof kind === 'string')
      return void this.#answer(request, kind, body);
    if (typeof taken === 'number') {
      this.#window.onConfirmed(taken);
      return this.#events.onConfirmed?.();
    }
    if (typeof reply !== 'number')
      throw new FrameError('a control message is no request, reply or confirmation');
    const pending = this.#settle(reply);
    if (error === undefined) pending?.resolve(body);
    else pending?.reject(new Error(String(error)));
  }

  async #answer(id: number, kind: string, body: unknown): Promise<void> {
    let reply: object;
    try {
      reply = {
        reply: id,
        body: kind === PING ? null : ((await this.#events.onRequest(kind, body)) ?? null),
      };
    } catch (error) {
      reply = {
        reply: id,
        error: getErrorMessage(error),
      };
    }
    if (!this.#isClosed) this.#sendControl(reply);
  }

  #settle(id: number): PendingRequest | undefined {
    const pending = this.#requests.get(id);
    this.#requests.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    const error = this.#error ?? new Error('the peer has closed the connection');
    for (const id of this.#requests.keys()) this.#settle(id)?.reject(error);
    this.#events.onClosed(this.#error);
  }
}

export function createTraffic(): LinkTraffic {
  return {
    sentMessages: 0,
    sentBytes: 0,
    receivedMessages: 0,
    receivedBytes: 0,
  };
}

function parseControl(content: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(content).toString());
    if (isRecord(value)) return value;
  } catch {
    // This is reported below, like other content that is not a message.
  }
  throw new FrameError('a control message is not a JSON object');
}
