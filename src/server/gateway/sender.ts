/**
 * Sends rows as fast as the client takes them. What the socket does not take waits here, so that it is known how much
 * waits and whether it moves: a client that is slow gets everything in its time, one that takes nothing is given up.
 */
import { systemClock, type Timer } from '../../correctable/clock.ts';
import type { Codec, Encoded, EncodedRow } from '../../protocol/codec.ts';
import { ANNOUNCED_BYTES_MIN } from '../../protocol/incoming.ts';
import { Outbox } from '../../protocol/outbox.ts';
import type { ServerSocket } from './socket.ts';

/** The socket is given no more while so many bytes wait in it. */
const WINDOW_BYTES = 1 << 17;

/** Larger frames are given to the socket in parts of this size, so that it can be seen whether they move. */
const PART_BYTES = 1 << 17;

/** What a sender is made from. */
export interface SenderParts {
  readonly codec: Codec;
  readonly socket: Pick<ServerSocket, 'bufferedBytes' | 'send'>;
  readonly frameBytesMax: number;
  readonly stallTimeoutMs: number;
  /** The client has taken some of what waited. */
  onMoved(): void;
  /** The client has taken nothing for the time. */
  onStalled(): void;
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
  readonly #queue: Waiting[] = [];
  /** Bytes in the queue, and of rows that have not been made a frame yet. */
  #queuedBytes = 0;
  #rowBytes = 0;
  /** Parts in the socket that it will tell of when they are gone. */
  #underWay = 0;
  #movedAt = 0;
  #timer: Timer | undefined;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    // Before anything else is read: what a frame leads to at once is answered by one frame.
    this.#outbox = new Outbox(
      parts.codec,
      (flush) => process.nextTick(flush),
      (frame) => this.#send(frame),
    );
    this.#outbox.frameBytesMax = parts.frameBytesMax;
  }

  /** Bytes that wait to be sent, wherever they wait. */
  get waitingBytes(): number {
    return this.#rowBytes + this.#queuedBytes + this.#parts.socket.bufferedBytes;
  }

  /** Whether the socket takes no more for now. */
  get isBlocked(): boolean {
    return this.#queue.length > 0;
  }

  push(row: EncodedRow): void {
    this.#rowBytes += row.length;
    this.#outbox.push(row);
  }

  /** Sends at once what was collected, as far as the socket takes it. */
  flush(): void {
    this.#outbox.flush();
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
    const { socket } = this.#parts;
    if (this.#queue.length === 0 && frame.length <= PART_BYTES && socket.bufferedBytes < WINDOW_BYTES) {
      return socket.send(frame);
    }
    const isText = typeof frame === 'string';
    const bytes = isText ? Buffer.from(frame) : frame;
    this.#queue.push({ bytes, isText, from: 0 });
    this.#queuedBytes += bytes.length;
    return this.#pump();
  }

  /** Gives the socket as much as it should have. One part at least is always under way, to tell when there is room. */
  #pump(): void {
    const { socket } = this.#parts;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#underWay > 0 && socket.bufferedBytes >= WINDOW_BYTES) return this.#watch();
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
  }

  #sent(): void {
    this.#underWay--;
    this.#movedAt = systemClock.now();
    this.#pump();
    this.#parts.onMoved();
  }

  /** Waits for the time in which something must move. */
  #watch(): void {
    const { stallTimeoutMs } = this.#parts;
    if (this.#timer !== undefined || stallTimeoutMs === Infinity) return;
    this.#movedAt = systemClock.now();
    this.#expectMove(stallTimeoutMs);
  }

  #expectMove(delayMs: number): void {
    this.#timer = systemClock.setTimer(() => {
      const leftMs = this.#movedAt + this.#parts.stallTimeoutMs - systemClock.now();
      if (leftMs > 0) return this.#expectMove(leftMs);
      this.#timer = undefined;
      return this.#parts.onStalled();
    }, delayMs);
  }

  #stopWatching(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
