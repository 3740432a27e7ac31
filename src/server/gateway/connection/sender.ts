/**
 * Sends rows as fast as the client takes them. What the socket does not take waits here, so that it is known how much
 * waits and whether it moves: a client that is slow gets everything in its time, one that takes nothing is given up.
 */
import { systemClock } from '../../../correctable/clock.ts';
import type { Codec, Encoded, EncodedRow } from '../../../protocol/codec/codec.ts';
import { ANNOUNCED_BYTES_MIN } from '../../../protocol/rows/short-rows.ts';
import { Outbox } from '../../../protocol/codec/outbox.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { peerClock } from '../limits/interval.ts';
import type { ServerSocket } from './socket.ts';

/** The socket is given no more while so many bytes wait in it. */
const WINDOW_BYTES = 1 << 17;

/** Larger frames are given to the socket in parts of this size, so that it can be seen whether they move. */
const PART_BYTES = 1 << 16;

/**
 * After so many bytes the client is asked for a sign of life. The buffers of the system hold some MiB, and tell that
 * they have room only when a third of them is free: that a slow client reads shows in its answers much sooner.
 */
const MARK_BYTES = 1 << 16;

/**
 * So many questions may be open: a client whose own way out is blocked keeps its answers, and gives up on a server that
 * asks on and on (`ws` after 60). After every third of them it is asked half as often, so that they reach further.
 */
const MARKS_MAX = 48;

/** What a sender is made from. */
export interface SenderParts {
  readonly codec: Codec;
  readonly socket: Pick<ServerSocket, 'bufferedBytes' | 'send' | 'ping'>;
  readonly frameBytesMax: number;
  readonly stallTimeoutMs: number;
  /** The socket is given no more than this without `onMoved` when it has gone. At most 128 KiB. */
  readonly windowBytes: number;
  /** Whether somebody waits for `onMoved`: then it follows whatever is sent. */
  isAwaited(): boolean;
  /** The client has taken some of what waited. */
  onMoved(): void;
  /** The client has taken nothing for the time. */
  onStalled(): void;
  /** A frame could not be made, and its rows are lost. Without this, the error is thrown wherever it happens. */
  onFailed?(error: unknown): void;
}

/**
 * Of what the socket has not passed on, so much may lie in memory among other things: a small frame keeps all of the block
 * that it was written in, and a client that reads slowly would hold very many of them.
 */
const SHARED_BYTES_MAX = 1 << 12;

/** Flushes of all connections that have rows to send. */
const flushes: (() => void)[] = [];

/** Flushes before anything else is read: what has come together is answered by one frame a connection. */
function flushSoon(flush: () => void): void {
  if (flushes.push(flush) === 1) process.nextTick(flushAll);
}

function flushAll(): void {
  let next = 0;
  try {
    while (next < flushes.length) (flushes[next++] as () => void)();
  } finally {
    flushes.splice(0, next);
    if (flushes.length > 0) process.nextTick(flushAll);
  }
}

/** The end of a websocket message that the socket has not got yet. */
interface Waiting {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isText: boolean;
  from: number;
}

/** The way out of one connection. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #outbox: Outbox;
  readonly #windowBytes: number;
  readonly #queue: Waiting[] = [];
  /** Bytes in the queue, and of rows that have not been made a frame yet. */
  #queuedBytes = 0;
  #rowBytes = 0;
  /** Bytes given to the socket since the client was last asked for a sign of life. */
  #unmarkedBytes = 0;
  /** How often it was asked, and up to which time it has answered: of several it may answer the last alone. */
  #asked = 0;
  #answered = 0;
  /** Parts in the socket that it will tell of when they are gone. */
  #underWay = 0;
  #movedAt = 0;
  #cancelTimer: (() => void) | undefined;
  readonly #flushOutbox = (): void => this.flush();

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#windowBytes = Math.min(parts.windowBytes, WINDOW_BYTES);
    this.#outbox = new Outbox(
      parts.codec,
      () => flushSoon(this.#flushOutbox),
      (frame) => this.#send(frame),
    );
    this.#outbox.frameBytesMax = parts.frameBytesMax;
  }

  /** Bytes that wait to be sent, wherever they wait. */
  get waitingBytes(): number {
    const { bufferedBytes } = this.#parts.socket;
    // What it holds beyond the window then are its own messages, whose going nobody tells of.
    const inSocket = this.#underWay > 0 ? bufferedBytes : Math.min(bufferedBytes, this.#windowBytes);
    return this.#rowBytes + this.#queuedBytes + inSocket;
  }

  /** Whether the socket takes no more for now. */
  get isBlocked(): boolean {
    return this.#queue.length > 0;
  }

  /** Whether the client has been asked for a sign of life that it has not given yet. */
  get isAsking(): boolean {
    return this.#asked > this.#answered;
  }

  /** Asks the client for a sign of life. */
  ask(): void {
    this.#parts.socket.ping(String(++this.#asked));
  }

  push(row: EncodedRow): void {
    this.#rowBytes += row.length;
    this.#outbox.push(row);
  }

  /** Sends at once what was collected, as far as the socket takes it. */
  flush(): void {
    try {
      this.#outbox.flush();
    } catch (error) {
      if (this.#parts.onFailed === undefined) throw error;
      this.#parts.onFailed(error);
    }
  }

  /** The client has shown that it reads: all that was sent before the question which it answers, if it says which. */
  alive(answer?: string): void {
    this.#movedAt = systemClock.now();
    const number = Number(answer);
    this.#answered = number > 0 && number < this.#asked ? Math.max(this.#answered, number) : this.#asked;
  }

  /** Forgets what waits. */
  clear(): void {
    this.#outbox.clear();
    this.#rowBytes = 0;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    this.#stopWatching();
  }

  #send(frame: Encoded): void {
    this.#rowBytes = Math.max(0, this.#rowBytes - frame.length);
    if (frame.length >= ANNOUNCED_BYTES_MIN) this.#announce(Buffer.byteLength(frame));
    this.#pass(frame);
  }

  /** A client hears nothing of a frame until all of it has come: it must not take that for silence. */
  #announce(bytes: number): void {
    const { codec } = this.#parts;
    this.#pass(codec.frame([codec.encodeRow([bytes, 'incoming'])]));
  }

  #pass(frame: Encoded): void {
    if (this.#mayGoAtOnce(frame)) {
      const { socket } = this.#parts;
      socket.send(socket.bufferedBytes > SHARED_BYTES_MAX ? apart(frame) : frame);
      return this.#mark(frame.length);
    }
    const isText = typeof frame === 'string';
    const bytes = isText ? Buffer.from(frame) : apart(frame);
    this.#queue.push({ bytes, isText, from: 0 });
    this.#queuedBytes += bytes.length;
    return this.#pump();
  }

  /** Whether nobody need be told when it has gone. */
  #mayGoAtOnce({ length }: Encoded): boolean {
    const { socket, isAwaited } = this.#parts;
    if (this.#queue.length > 0 || length > PART_BYTES || isAwaited()) return false;
    return socket.bufferedBytes + length <= this.#windowBytes;
  }

  /** Gives the socket as much as it should have. One part at least is always under way, to tell when there is room. */
  #pump(): void {
    const { socket } = this.#parts;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#underWay > 0 && socket.bufferedBytes >= this.#windowBytes) return this.#watch();
      this.#sendPart(next);
    }
    return this.#stopWatching();
  }

  #sendPart(next: Waiting): void {
    const part = next.bytes.subarray(next.from, next.from + PART_BYTES);
    next.from += part.length;
    this.#queuedBytes -= part.length;
    const isLast = next.from >= next.bytes.length;
    if (isLast) this.#queue.shift();
    this.#underWay++;
    this.#parts.socket.send(part, { isText: next.isText, isLast, sent: () => this.#sent() });
    this.#mark(part.length);
  }

  #mark(bytes: number): void {
    this.#unmarkedBytes += bytes;
    const open = this.#asked - this.#answered;
    const thirds = Math.floor((3 * open) / MARKS_MAX);
    if (open >= MARKS_MAX || this.#unmarkedBytes < MARK_BYTES * 2 ** thirds) return;
    this.#unmarkedBytes = 0;
    this.ask();
  }

  #sent(): void {
    this.#underWay--;
    this.#movedAt = systemClock.now();
    // What is left then is known to wait, and told of when it goes.
    this.flush();
    this.#pump();
    this.#parts.onMoved();
  }

  /** Waits for the time in which something must move. */
  #watch(): void {
    const { stallTimeoutMs } = this.#parts;
    if (this.#cancelTimer !== undefined || stallTimeoutMs === Infinity) return;
    this.#movedAt = systemClock.now();
    this.#expectMove(stallTimeoutMs);
  }

  #expectMove(delayMs: number): void {
    const onTime = (): void => {
      const leftMs = this.#movedAt + this.#parts.stallTimeoutMs - systemClock.now();
      if (leftMs > 0) return this.#expectMove(leftMs);
      this.#cancelTimer = undefined;
      return this.#parts.onStalled();
    };
    this.#cancelTimer = setPeerDeadline(peerClock, onTime, delayMs);
  }

  #stopWatching(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

/** The same in memory of its own. */
function apart<F extends Encoded>(frame: F): F | Uint8Array<ArrayBuffer> {
  return typeof frame !== 'string' && frame.buffer.byteLength > frame.length ? frame.slice() : frame;
}
