/**
 * Sends rows as fast as the client takes them. One that takes nothing is given
 * up, however slow others are.
 */
import { systemClock } from '../../../correctable/clock.ts';
import type {
  Codec,
  EncodedData,
  EncodedMessage,
} from '../../../protocol/codec/codec.ts';
import { MIN_ANNOUNCED_BYTES } from '../../../protocol/messages/short-messages.ts';
import { FrameBatcher } from '../../../protocol/codec/frame-batcher.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { peerClock } from '../limits/repeat.ts';
import type { ServerSocket } from './socket.ts';

/** The socket is given no more while so many bytes wait in it. */
const WINDOW_BYTES = 1 << 17;

/**
 * Larger frames are given to the socket in parts of this size, so that it can
 * be seen whether they move.
 */
const PART_BYTES = 1 << 16;

/**
 * Asks the client for acknowledgments: buffers of the system report room only
 * when a third of some MiB is free.
 */
const ACK_INTERVAL_BYTES = 1 << 16;

/**
 * Clients give up on servers that ask on and on (`ws` after 60). After a third
 * of these, it asks half as often.
 */
const MAX_PENDING_ACKS = 48;

export interface SenderOptions {
  readonly codec: Codec;
  readonly socket: Pick<ServerSocket, 'bufferedBytes' | 'send' | 'ping'>;
  readonly maxFrameBytes: number;
  readonly stallTimeoutMs: number;
  /**
   * The socket is given no more than this without `onMoved` when it has gone.
   * At most 128 KiB.
   */
  readonly windowBytes: number;
  /** Whether a caller waits for `onMoved`: then it follows every send. */
  isAwaited(): boolean;
  /** The client has taken some of what waited. */
  onMoved(): void;
  /** The client has taken nothing for the time. */
  onStalled(): void;
  /** A frame could not be made, and its rows are lost. */
  onFailed(error: unknown): void;
}

/**
 * A small frame keeps all of the block that it was written in: more than this
 * is copied for a slow client.
 */
const MAX_SHARED_BYTES = 1 << 12;

/** Flushes of all connections that have rows to send. */
const flushes: (() => void)[] = [];

/**
 * Flushes before anything else is read: what has come together is answered by
 * one frame a connection.
 */
function scheduleFlush(flush: () => void): void {
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
interface WaitingMessage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isText: boolean;
  from: number;
}

export class Sender {
  readonly #parts: SenderOptions;
  readonly #batcher: FrameBatcher;
  readonly #windowBytes: number;
  readonly #queue: WaitingMessage[] = [];
  /** Bytes in the queue, and of rows that have not been made a frame yet. */
  #queuedBytes = 0;
  #messageBytes = 0;
  /**
   * Bytes given to the socket since the client was last asked for a sign of
   * life.
   */
  #unacknowledgedBytes = 0;
  /**
   * How often it was asked, and up to which time it has answered: of several it
   * may answer the last alone.
   */
  #askedCount = 0;
  #answeredAt = 0;
  /** Parts in the socket whose departure it will report. */
  #partsInSocket = 0;
  #movedAt = 0;
  #cancelTimer: (() => void) | undefined;
  readonly #flushBatcher = (): void => this.flush();

  constructor(parts: SenderOptions) {
    this.#parts = parts;
    this.#windowBytes = Math.min(parts.windowBytes, WINDOW_BYTES);
    this.#batcher = new FrameBatcher(
      parts.codec,
      () => scheduleFlush(this.#flushBatcher),
      (frame) => this.#send(frame),
    );
    this.#batcher.maxFrameBytes = parts.maxFrameBytes;
  }

  /** Bytes that wait to be sent, wherever they wait. */
  get waitingBytes(): number {
    const { bufferedBytes } = this.#parts.socket;
    // The bytes beyond the window are this sender's own messages, which no
    // callback reports when they leave.
    const inSocket =
      this.#partsInSocket > 0
        ? bufferedBytes
        : Math.min(bufferedBytes, this.#windowBytes);
    return this.#messageBytes + this.#queuedBytes + inSocket;
  }

  /** Whether the socket takes no more for now. */
  get isBlocked(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Whether the client has been asked for a sign of life that it has not given
   * yet.
   */
  get isAwaitingPing(): boolean {
    return this.#askedCount > this.#answeredAt;
  }

  sendPing(): void {
    this.#parts.socket.ping(String(++this.#askedCount));
  }

  push(row: EncodedMessage): void {
    this.#messageBytes += row.length;
    this.#batcher.push(row);
  }

  /** Sends at once what was collected, as far as the socket takes it. */
  flush(): void {
    try {
      this.#batcher.flush();
    } catch (error) {
      this.#parts.onFailed(error);
    }
  }

  /**
   * The client has shown that it reads: all that was sent before the question
   * which it answers, if it says which.
   */
  onAlive(answer?: string): void {
    this.#movedAt = systemClock.now();
    const number = Number(answer);
    this.#answeredAt =
      number > 0 && number < this.#askedCount
        ? Math.max(this.#answeredAt, number)
        : this.#askedCount;
  }

  clear(): void {
    this.#batcher.clear();
    this.#messageBytes = 0;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    this.#stopStallTimer();
  }

  #send(frame: EncodedData): void {
    this.#messageBytes = Math.max(0, this.#messageBytes - frame.length);
    if (frame.length >= MIN_ANNOUNCED_BYTES) {
      // A client sees nothing of a frame until all of it has come: it must not
      // take that for silence.
      const { codec } = this.#parts;
      this.#enqueue(
        codec.frame([
          codec.encodeMessage([Buffer.byteLength(frame), 'incoming']),
        ]),
      );
    }
    this.#enqueue(frame);
  }

  #enqueue(frame: EncodedData): void {
    if (this.#canSendNow(frame)) {
      const { socket } = this.#parts;
      socket.send(
        socket.bufferedBytes > MAX_SHARED_BYTES ? copyFrame(frame) : frame,
      );
      return this.#requestAck(frame.length);
    }
    const isText = typeof frame === 'string';
    const bytes = isText ? Buffer.from(frame) : copyFrame(frame);
    this.#queue.push({ bytes, isText, from: 0 });
    this.#queuedBytes += bytes.length;
    return this.#pump();
  }

  /**
   * Whether it can be sent at once, because nothing has to be called when it
   * has gone.
   */
  #canSendNow({ length }: EncodedData): boolean {
    const { socket, isAwaited } = this.#parts;
    if (this.#queue.length > 0 || length > PART_BYTES || isAwaited())
      return false;
    return socket.bufferedBytes + length <= this.#windowBytes;
  }

  /**
   * Fills the socket. At least one part is always in flight, so that the socket
   * reports room.
   */
  #pump(): void {
    const { socket } = this.#parts;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#partsInSocket > 0 && socket.bufferedBytes >= this.#windowBytes)
        return this.#startStallTimer();
      this.#sendPart(next);
    }
    return this.#stopStallTimer();
  }

  #sendPart(next: WaitingMessage): void {
    const part = next.bytes.subarray(next.from, next.from + PART_BYTES);
    next.from += part.length;
    this.#queuedBytes -= part.length;
    const isLast = next.from >= next.bytes.length;
    if (isLast) this.#queue.shift();
    this.#partsInSocket++;
    this.#parts.socket.send(part, {
      isText: next.isText,
      isLast,
      onSent: () => this.#onSent(),
    });
    this.#requestAck(part.length);
  }

  #requestAck(bytes: number): void {
    this.#unacknowledgedBytes += bytes;
    const open = this.#askedCount - this.#answeredAt;
    const thirds = Math.floor((3 * open) / MAX_PENDING_ACKS);
    if (
      open >= MAX_PENDING_ACKS ||
      this.#unacknowledgedBytes < ACK_INTERVAL_BYTES * 2 ** thirds
    )
      return;
    this.#unacknowledgedBytes = 0;
    this.sendPing();
  }

  #onSent(): void {
    this.#partsInSocket--;
    this.#movedAt = systemClock.now();
    // The remaining messages are known to wait, and are reported when they
    // leave.
    this.flush();
    this.#pump();
    this.#parts.onMoved();
  }

  #startStallTimer(): void {
    const { stallTimeoutMs } = this.#parts;
    if (this.#cancelTimer !== undefined || stallTimeoutMs === Infinity) return;
    this.#movedAt = systemClock.now();
    this.#restartStallTimer(stallTimeoutMs);
  }

  #restartStallTimer(delayMs: number): void {
    const onTime = (): void => {
      const leftMs =
        this.#movedAt + this.#parts.stallTimeoutMs - systemClock.now();
      if (leftMs > 0) return this.#restartStallTimer(leftMs);
      this.#cancelTimer = undefined;
      return this.#parts.onStalled();
    };
    this.#cancelTimer = setPeerDeadline(peerClock, onTime, delayMs);
  }

  #stopStallTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

/** The same in memory of its own. */
function copyFrame<F extends EncodedData>(
  frame: F,
): F | Uint8Array<ArrayBuffer> {
  return typeof frame !== 'string' && frame.buffer.byteLength > frame.length
    ? frame.slice()
    : frame;
}
