/** One socket, which stops calling back once it is dropped. */
import type { Encoded } from '../protocol/codec.ts';
import type { WebSocketLike } from './websocket.ts';

/** What a socket reports. */
export interface SocketEvents {
  opened(): void;
  received(frame: Encoded): void;
  /** Told once, also when the socket could not be opened. */
  closed(code: number, reason: string): void;
}

const ignore = (): void => {};

/** A socket under the transport's control. */
export class SocketHandle {
  readonly #socket: WebSocketLike & { terminate?: () => void };

  constructor(socket: WebSocketLike, events: SocketEvents) {
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => events.opened();
    socket.onmessage = ({ data }: { readonly data: unknown }) => events.received(frameOf(data));
    // An error is always followed by a close. Browsers say nothing more; `ws` tells why in the error's message.
    let problem = '';
    socket.onerror = ({ message }: { readonly message?: unknown }) => {
      if (typeof message === 'string') problem = message;
    };
    socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
      events.closed(code, reason === '' ? problem : reason);
  }

  send(frame: Encoded): void {
    this.#socket.send(frame);
  }

  /** Closes in order: what was sent is delivered first, and `closed` is told. */
  close(): void {
    this.#socket.close(1000);
  }

  /** Closes without waiting for a peer that may be gone; nothing is told any more. */
  drop(): void {
    const socket = this.#socket;
    socket.onopen = ignore;
    socket.onmessage = ignore;
    socket.onclose = ignore;
    if (socket.terminate === undefined) socket.close();
    else socket.terminate();
  }
}

function frameOf(data: unknown): Encoded {
  return data instanceof ArrayBuffer ? new Uint8Array(data) : (data as string);
}
