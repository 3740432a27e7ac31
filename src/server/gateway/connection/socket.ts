/** The socket that the gateway uses, and the adapter that makes one from a `ws` socket. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { EncodedData } from '../../../protocol/codec/codec.ts';

/** Events of a socket. */
export interface ServerSocketEvents {
  onFrame(frame: EncodedData): void;
  /** Called if the peer answers a websocket `ping`. A correct peer repeats the text of the ping. */
  onPong(answer?: string): void;
  onClose(): void;
}

/** Position and type of a part of a frame. */
export interface FramePart {
  readonly isText: boolean;
  readonly isLast: boolean;
  /** Called when the part no longer waits in this process. */
  onSent(): void;
}

/** The websocket of one client. */
export interface ServerSocket {
  /** The subprotocol agreed on. */
  readonly subprotocol: string;
  /** Bytes that wait to be sent. */
  readonly bufferedBytes: number;
  /** Sends a frame, or a part of one. The parts of a frame must follow each other. */
  send(data: EncodedData, part?: FramePart): void;
  /** Stops reading from the peer until `resume`. */
  pause(): void;
  resume(): void;
  /** Sends a ping with a text of up to 125 bytes, which the peer repeats. */
  ping(text: string): void;
  /** Closes the connection with a closing handshake and a code of `CloseCode`. */
  close(code: number, reason: string): void;
  /** Cuts the connection at once. */
  terminate(): void;
  listen(events: ServerSocketEvents): void;
}

/** Longest payload, in bytes, whose header takes two bytes. */
const MAX_SHORT_PAYLOAD_BYTES = 125;
/**
 * Longest message that is copied behind its header, in bytes. For longer messages, `ws` writes
 * header and payload separately.
 */
const MAX_JOINED_BYTES = 1024;

/**
 * A socket of `ws`. It writes a short message in one piece: the two writes of `ws` cost a third
 * more time.
 */
export class WsSocket implements ServerSocket {
  readonly #socket: WebSocket;
  /** The stream to which `ws` writes. */
  readonly #stream: Duplex;

  constructor(socket: WebSocket, stream: Duplex) {
    this.#socket = socket;
    this.#stream = stream;
  }

  get subprotocol(): string {
    return this.#socket.protocol;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(data: EncodedData, part?: FramePart): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // If the stream buffers data, let `ws` send the message. `encodeMessage` uses memory that other
    // messages share, which a waiting message would keep alive.
    if (
      part === undefined &&
      data.length <= MAX_JOINED_BYTES &&
      this.#stream.writableLength === 0
    ) {
      this.#stream.write(encodeMessage(data));
    } else if (part === undefined) this.#socket.send(data);
    else this.#socket.send(data, { binary: !part.isText, fin: part.isLast }, () => part.onSent());
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
      events.onFrame(isBinary ? data : data.toString('utf8'));
    });
    this.#socket.on('pong', (data) => events.onPong(data.toString('latin1')));
    this.#socket.on('close', () => events.onClose());
    // `ws` closes the socket itself after an error, such as a broken frame. Without a listener it
    // would throw.
    this.#socket.on('error', () => {});
  }
}

/**
 * Returns a whole message as an unmasked frame (RFC 6455, §5.2): a header of 2 or 4 bytes, then the
 * payload.
 */
function encodeMessage(data: EncodedData): Buffer {
  const isText = typeof data === 'string';
  const length = isText ? Buffer.byteLength(data) : data.length;
  const headBytes = length <= MAX_SHORT_PAYLOAD_BYTES ? 2 : 4;
  const message = Buffer.allocUnsafe(headBytes + length);
  message[0] = isText ? 0x81 : 0x82;
  if (headBytes === 2) message[1] = length;
  else {
    message[1] = 126;
    message.writeUInt16BE(length, 2);
  }
  if (isText) message.write(data, headBytes);
  else message.set(data, headBytes);
  return message;
}
