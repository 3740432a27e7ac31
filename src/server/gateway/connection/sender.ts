/**
 * Sends messages as fast as the client receives them. The connection of a client that receives
 * nothing is cut, no matter how slow other clients are.
 */
import type { FramePart } from './socket.ts';
import { systemClock } from '../../../correctable/clock.ts';
import type { Codec, EncodedData, EncodedMessage } from '../../../protocol/codec/codec.ts';
import { MIN_ANNOUNCED_BYTES } from '../../../protocol/messages/short-messages.ts';
import { FrameBatcher } from '../../../protocol/codec/frame-batcher.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { peerClock } from '../limits/repeat.ts';

/** While this many bytes wait in the socket, no more are passed to it. */
const WINDOW_BYTES = 1 << 17;

/**
 * Larger frames are passed to the socket in parts of this size, so that the sender notices whether
 * the client receives them.
 */
const PART_BYTES = 1 << 16;

/**
 * After this many bytes, the sender sends a ping, whose pong acknowledges them. The buffers of the
 * system alone are too coarse: they report free space only when a third of several MiB is free.
 */
const ACK_INTERVAL_BYTES = 1 << 16;

/**
 * The maximum number of unanswered pings. Clients close a connection with too many (`ws` after 60).
 * From a third of this on, pings are sent half as often.
 */
const MAX_PENDING_ACKS = 48;

/** The part of a `ServerSocket` that sends. */
interface SendingSocket {
  readonly bufferedBytes: number;
  send(data: EncodedData, part?: FramePart): void;
  ping(text: string): void;
}

export interface SenderOptions {
  readonly codec: Codec;
  readonly socket: SendingSocket;
  readonly maxFrameBytes: number;
  readonly stallTimeoutMs: number;
  /** The maximum number of bytes in the socket without a call of `onMoved`. At most 128 KiB. */
  readonly windowBytes: number;
  /** Whether a caller waits for `onMoved`. Then it is called after every send. */
  isAwaited(): boolean;
  /** Called when the client has received some of the waiting messages. */
  onMoved(): void;
  /** Called when the client has received nothing for the time allowed. */
  onStalled(): void;
  /** Called when a frame could not be encoded. Its messages are lost. */
  onFailed(error: unknown): void;
}

/**
 * For a slow client, frames up to this size are copied: a small frame would keep the whole memory
 * block alive in which it was encoded.
 */
const MAX_SHARED_BYTES = 1 << 12;

/** Flushes of all connections with messages to send. */
const flushes: (() => void)[] = [];

/**
 * Flushes before the next frame is read, so that messages that came together are answered in one
 * frame a connection.
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

/** The remaining part of a websocket message, which was not passed to the socket yet. */
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
  /** Bytes in the queue, and of messages that are not in a frame yet. */
  #queuedBytes = 0;
  #messageBytes = 0;
  /** Bytes sent since the latest ping. */
  #unacknowledgedBytes = 0;
  /**
   * The number of pings so far. The next field is the latest ping that was answered. A client may
   * answer only the last of several pings.
   */
  #askedCount = 0;
  #answeredAt = 0;
  /** The number of parts in the socket for which it will call `onSent`. */
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

  /** Bytes that wait to be sent, in this sender or in the socket. */
  get waitingBytes(): number {
    const { bufferedBytes } = this.#parts.socket;
    // Bytes beyond the window are messages that this sender passed without a callback, so nothing
    // reports when they are sent.
    const inSocket =
      this.#partsInSocket > 0 ? bufferedBytes : Math.min(bufferedBytes, this.#windowBytes);
    return this.#messageBytes + this.#queuedBytes + inSocket;
  }

  /** Whether no more bytes may be passed to the socket for now. */
  get isBlocked(): boolean {
    return this.#queue.length > 0;
  }

  /** Whether the latest ping has not been answered yet. */
  get isAwaitingPing(): boolean {
    return this.#askedCount > this.#answeredAt;
  }

  sendPing(): void {
    this.#parts.socket.ping(String(++this.#askedCount));
  }

  push(message: EncodedMessage): void {
    this.#messageBytes += message.length;
    this.#batcher.push(message);
  }

  /** Sends the collected messages now, as far as the window of the socket allows. */
  flush(): void {
    try {
      this.#batcher.flush();
    } catch (error) {
      this.#parts.onFailed(error);
    }
  }

  /**
   * Called when the client has shown that it reads. With an `answer`, the text of a pong, it has
   * read everything that was sent before that ping.
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
      // Announce a large frame: a client receives nothing until all of it has arrived, and must not
      // take that for silence.
      const { codec } = this.#parts;
      this.#enqueue(codec.frame([codec.encodeMessage([Buffer.byteLength(frame), 'incoming'])]));
    }
    this.#enqueue(frame);
  }

  #enqueue(frame: EncodedData): void {
    if (this.#canSendNow(frame)) {
      const { socket } = this.#parts;
      socket.send(socket.bufferedBytes > MAX_SHARED_BYTES ? copyFrame(frame) : frame);
      return this.#requestAck(frame.length);
    }
    const isText = typeof frame === 'string';
    const bytes = isText ? Buffer.from(frame) : copyFrame(frame);
    this.#queue.push({ bytes, isText, from: 0 });
    this.#queuedBytes += bytes.length;
    return this.#pump();
  }

  /** Returns whether the frame can be sent at once. Then no callback is needed. */
  #canSendNow({ length }: EncodedData): boolean {
    const { socket, isAwaited } = this.#parts;
    if (this.#queue.length > 0 || length > PART_BYTES || isAwaited()) return false;
    return socket.bufferedBytes + length <= this.#windowBytes;
  }

  /**
   * Passes parts to the socket until its window is full. At least one part with a callback is
   * always in flight, so that the socket reports free space.
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
    if (open >= MAX_PENDING_ACKS || this.#unacknowledgedBytes < ACK_INTERVAL_BYTES * 2 ** thirds)
      return;
    this.#unacknowledgedBytes = 0;
    this.sendPing();
  }

  #onSent(): void {
    this.#partsInSocket--;
    this.#movedAt = systemClock.now();
    // Messages that remain are in the queue, and `onMoved` is called when they are sent.
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
      const leftMs = this.#movedAt + this.#parts.stallTimeoutMs - systemClock.now();
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

/** Copies a frame into memory of its own. */
function copyFrame<F extends EncodedData>(frame: F): F | Uint8Array<ArrayBuffer> {
  return typeof frame !== 'string' && frame.buffer.byteLength > frame.length
    ? frame.slice()
    : frame;
}
