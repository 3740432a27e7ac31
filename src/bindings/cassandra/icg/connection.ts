/**
 * One TCP or TLS connection to one node: handshake, requests answered in any order, heartbeats, and the end. A node that is
 * frozen, not gone, is noticed by its silence.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { formatAddress } from '../../../engine-client/address.ts';
import { SilenceWatch } from '../../../engine-client/silence-watch.ts';
import { CqlError } from './cql-error.ts';
import { setStream } from './frame-writer.ts';
import { answerFrames, type Frame } from './frames.ts';
import { shakeHands } from './handshake.ts';
import type { PathOptions } from './options.ts';
import { optionsFrame } from './requests.ts';
import { readResponse, type Response } from './responses.ts';

/** Who gets the answers to one request. */
export interface Exchange {
  /** @returns whether it was the last answer: then the request's number is free for others */
  answer(response: Response): boolean;
  /** The connection ended without the last answer; `PROTOCOL` where this answer was the reason. */
  lost(error: CqlError): void;
}

export interface ConnectionEvents {
  readonly onReady: () => void;
  /** There is room for requests again, where there was none. */
  readonly onRoom: () => void;
  /** Counts payload bytes. */
  readonly bytes: { sent: number; received: number };
  /** Called once, when the connection is over, with why. */
  readonly onClosed: (reason: CqlError) => void;
}

/** How many requests may be given up on one connection before it is: their answers may never come. */
const ORPHANS_MAX = 256;
/** How long a farewell may take. */
const CLOSE_MS = 1_000;
/** The silence is looked at so often within the longest that is borne. */
const BEATS = 6;

export class Connection {
  readonly node: string;
  readonly #options: PathOptions;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  readonly #frames: ReturnType<typeof answerFrames>;
  /** By the number of the request, its stream. */
  readonly #exchanges: (Exchange | undefined)[] = [];
  /** Streams whose last answer has come. */
  readonly #free: number[] = [];
  #out: Buffer[] = [];
  #orphans = 0;
  #isReady = false;
  #isOver = false;
  #isBlocked = false;
  #hasIcg = false;
  #isBeating = false;
  readonly #connectTimer: NodeJS.Timeout;
  #silence: SilenceWatch | undefined;

  constructor(options: PathOptions, events: ConnectionEvents) {
    const { host, port, tls, connectTimeoutMs } = options;
    this.node = formatAddress(options);
    this.#options = options;
    this.#events = events;
    this.#frames = answerFrames(options.maxFrameBytes);
    this.#socket = tls === undefined ? connectTcp({ host, port }) : connectTls({ ...tls, host, port });
    this.#socket.setNoDelay(true);
    this.#socket.once(tls === undefined ? 'connect' : 'secureConnect', () => void this.#greet());
    this.#socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    this.#socket.on('drain', () => this.#unblock());
    this.#socket.on('error', (error) => this.#end(this.#loss(error.message, error)));
    this.#socket.on('close', () => this.#end(this.#loss('the node closed the connection')));
    this.#connectTimer = setTimeout(() => {
      this.#end(this.#loss(`no answer within ${connectTimeoutMs} ms`));
    }, connectTimeoutMs);
  }

  /** Whether the node gives preliminary replies; known once the connection is ready. */
  get hasIcg(): boolean {
    return this.#hasIcg;
  }

  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** Whether one more request would neither run out of numbers nor pile up before a slow node. */
  get hasRoom(): boolean {
    const inFlight = this.#exchanges.length - this.#free.length;
    return this.isReady && !this.#isBlocked && inFlight < this.#options.inFlightMax;
  }

  /** Sends a request; those of one tick leave together. */
  send(frame: Buffer, exchange: Exchange): void {
    const stream = this.#free.pop() ?? this.#exchanges.length;
    this.#exchanges[stream] = exchange;
    setStream(frame, stream);
    this.#out.push(frame);
    if (this.#out.length === 1) queueMicrotask(() => this.#flush());
  }

  /** Nobody waits for the answers of one request any more; its number stays taken until the last has come. */
  abandon(): void {
    this.#orphans += 1;
    if (this.#orphans > ORPHANS_MAX) this.#end(this.#loss(`${this.#orphans} requests without an answer in time`));
  }

  /** The last answer of an abandoned request has come after all. */
  reclaim(): void {
    this.#orphans -= 1;
  }

  /** Ends the connection; what is under way is lost with `reason`. */
  async close(reason: CqlError): Promise<void> {
    if (this.#isOver) return;
    const isGone = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
    this.#end(reason);
    await isGone;
    clearTimeout(timer);
  }

  /**
   * Sends a request that has one answer.
   *
   * @param timeoutMs how long it is waited for; as long as the connection stands unless given
   */
  ask(frame: Buffer, timeoutMs?: number): Promise<Response> {
    return new Promise((resolve, reject) => {
      let isGivenUp = false;
      const giveUp = (): void => {
        isGivenUp = true;
        reject(new CqlError('TIMEOUT', `no answer within ${timeoutMs} ms`, { node: this.node }));
        this.abandon();
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
      const answer = (response: Response): boolean => {
        clearTimeout(timer);
        if (isGivenUp) this.reclaim();
        else resolve(response);
        return true;
      };
      const lost = (error: CqlError): void => {
        clearTimeout(timer);
        reject(error);
      };
      this.send(frame, { answer, lost });
    });
  }

  async #greet(): Promise<void> {
    try {
      this.#hasIcg = await shakeHands((frame) => this.ask(frame), this.#options);
    } catch (error) {
      return this.#end(this.#named(error));
    }
    if (this.#isOver) return;
    this.#isReady = true;
    clearTimeout(this.#connectTimer);
    this.#silence = this.#watchSilence();
    this.#events.onReady();
  }

  #flush(): void {
    if (this.#isOver || this.#out.length === 0) return;
    const bytes = this.#out.length === 1 ? (this.#out[0] as Buffer) : Buffer.concat(this.#out);
    this.#out = [];
    this.#events.bytes.sent += bytes.length;
    if (!this.#socket.write(bytes)) this.#isBlocked = true;
  }

  #unblock(): void {
    this.#isBlocked = false;
    if (this.hasRoom) this.#events.onRoom();
  }

  #hear(chunk: Buffer): void {
    this.#silence?.heard();
    this.#events.bytes.received += chunk.length;
    try {
      this.#frames.push(chunk, (frame) => this.#take(frame));
    } catch (error) {
      this.#end(this.#named(error));
    }
  }

  #take(frame: Frame): void {
    // Events have a negative number: nobody asked for any.
    if (this.#isOver || frame.stream < 0) return;
    const exchange = this.#exchanges[frame.stream];
    if (exchange === undefined) {
      throw new CqlError('PROTOCOL', `an answer to request ${frame.stream}, which is not under way`);
    }
    let isLast = true;
    try {
      isLast = exchange.answer(readResponse(frame));
    } catch (error) {
      this.#release(frame.stream);
      exchange.lost(this.#named(error));
      throw error;
    }
    if (isLast) this.#release(frame.stream);
  }

  #release(stream: number): void {
    const hadRoom = this.hasRoom;
    this.#exchanges[stream] = undefined;
    this.#free.push(stream);
    if (!hadRoom && this.hasRoom) this.#events.onRoom();
  }

  /** A word is asked for after a third of the longest silence that is borne. */
  #watchSilence(): SilenceWatch {
    const { silenceMaxMs } = this.#options;
    return new SilenceWatch({
      beatMs: silenceMaxMs / BEATS,
      silenceMaxMs,
      stallMs: silenceMaxMs / 2,
      onBeat: (silentMs) => {
        if (silentMs >= silenceMaxMs / 3 && !this.#isBeating) this.#beat();
      },
      onSilence: (silentMs) => this.#end(this.#loss(`silent for ${Math.round(silentMs)} ms`)),
    });
  }

  #beat(): void {
    this.#isBeating = true;
    const answer = (): boolean => {
      this.#isBeating = false;
      return true;
    };
    this.send(optionsFrame(), { answer, lost() {} });
  }

  #loss(why: string, cause?: unknown): CqlError {
    return new CqlError('CONNECTION_LOST', why, { node: this.node, cause });
  }

  /** An error as one of this node. */
  #named(error: unknown): CqlError {
    if (!(error instanceof CqlError)) return this.#loss('unreadable answer', error);
    if (error.node !== undefined) return error;
    return new CqlError(error.code, error.message, { node: this.node, server: error.server, cause: error.cause });
  }

  #end(reason: CqlError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#connectTimer);
    this.#silence?.stop();
    // What was written before may still leave; nobody listens any more.
    if (reason.code === 'CLOSED' && this.#isReady) this.#socket.end();
    else this.#socket.destroy();
    this.#events.onClosed(reason);
    const isOurs = reason.code === 'CLOSED' || reason.code === 'CONNECTION_LOST';
    const loss = isOurs ? reason : this.#loss(reason.message, reason);
    for (const exchange of this.#exchanges.splice(0)) exchange?.lost(loss);
  }
}
