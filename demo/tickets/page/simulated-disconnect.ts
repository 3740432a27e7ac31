/**
 * Simulates the cable between this page and one site, which a visitor can unplug and plug in again.
 * Its retailers then see a lost site. It replaces the WebSocket class of the connection.
 */

/** The members of a socket that the connection needs. */
export type Socket = Pick<
  WebSocket,
  'binaryType' | 'onopen' | 'onmessage' | 'onclose' | 'onerror' | 'send' | 'close'
>;

type SocketClass = new (url: string, protocols: string[]) => Socket;

const ABNORMAL_CLOSURE = 1006;

export class SimulatedDisconnect {
  /** Opens sockets through this cable. */
  readonly WebSocket: SocketClass;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  /** @param Base the class of the real sockets */
  constructor(Base: SocketClass) {
    const connect = (url: string, protocols: string[]): Socket => {
      if (this.#isCut) return new DeadSocket();
      const socket = new Base(url, protocols);
      this.#sockets.add(socket);
      return socket;
    };
    this.WebSocket = function open(url: string, protocols: string[]) {
      return connect(url, protocols);
    } as unknown as SocketClass;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Blocks all data in both directions until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) cutOff(socket);
    this.#sockets.clear();
  }

  mend(): void {
    this.#isCut = false;
  }
}

/** Disconnects a socket. Messages in flight are lost, and its user is notified at once. */
function cutOff(socket: Socket): void {
  const { onclose } = socket;
  socket.onmessage = null;
  socket.onclose = null;
  socket.close();
  onclose?.call(socket as WebSocket, closed());
}

/** A socket that cannot be opened. */
class DeadSocket implements Socket {
  binaryType: BinaryType = 'arraybuffer';
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  onerror: Socket['onerror'] = null;

  constructor() {
    queueMicrotask(() => this.onclose?.call(this as unknown as WebSocket, closed()));
  }

  /** The socket never opens, so there is no receiver. */
  send(): void {}
  close(): void {}
}

/** The event that a browser emits when a connection breaks: no reason, only this code. */
class Broken extends Event {
  readonly code = ABNORMAL_CLOSURE;
  readonly reason = '';
  readonly wasClean = false;
}

function closed(): CloseEvent {
  return new Broken('close');
}
