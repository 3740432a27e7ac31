/** The socket as the gateway sees it, and the adapter that makes one of a `ws` socket. */
import type { WebSocket } from 'ws';
import type { Encoded } from '../../../protocol/codec/codec.ts';
import type { IdlePoll } from './idle-poll.ts';

/** What a socket reports. */
export interface ServerSocketEvents {
  received(frame: Encoded): void;
  /** The peer answered a `ping` of the websocket layer, with what was asked if it does as it should. */
  alive(answer?: string): void;
  closed(): void;
}

/** Which part of a frame it is. */
export interface FramePart {
  readonly isText: boolean;
  readonly isLast: boolean;
  /** Called when it no longer waits in this process. */
  sent(): void;
}

/** One websocket of a client. */
export interface ServerSocket {
  /** The subprotocol agreed on. */
  readonly subprotocol: string;
  /** Bytes that wait to be sent. */
  readonly bufferedBytes: number;
  /** Sends a frame, or a part of one: the parts of a frame must follow each other. */
  send(data: Encoded, part?: FramePart): void;
  /** Reads no more from the peer, until `resume`. */
  pause(): void;
  resume(): void;
  /** Asks for a sign of life, which repeats the text: up to 125 bytes. */
  ping(text: string): void;
  /** Closes in order, with a code from `CloseCode`. */
  close(code: number, reason: string): void;
  /** Cuts the connection at once. */
  terminate(): void;
  listen(events: ServerSocketEvents): void;
}

/** A socket of the package `ws`. */
export class WsSocket implements ServerSocket {
  readonly #socket: WebSocket;
  readonly #idlePoll: IdlePoll;

  constructor(socket: WebSocket, idlePoll: IdlePoll) {
    this.#socket = socket;
    this.#idlePoll = idlePoll;
  }

  get subprotocol(): string {
    return this.#socket.protocol;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(data: Encoded, part?: FramePart): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (part === undefined) this.#socket.send(data);
    else this.#socket.send(data, { binary: !part.isText, fin: part.isLast }, () => part.sent());
    this.#idlePoll.extend();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  ping(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping(text);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  listen(events: ServerSocketEvents): void {
    this.#socket.on('message', (data: Buffer<ArrayBuffer>, isBinary) => {
      events.received(isBinary ? data : data.toString('utf8'));
    });
    this.#socket.on('pong', (data) => events.alive(data.toString('latin1')));
    this.#socket.on('close', () => events.closed());
    // `ws` closes the socket itself after an error (an oversize or broken frame); without a listener it would throw.
    this.#socket.on('error', () => {});
  }
}
