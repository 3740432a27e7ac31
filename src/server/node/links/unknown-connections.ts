/**
 * Accepted connections whose peer has not shown yet that it has the key.
 *
 * Any program that reaches the port can open them. So they use a separate set of slots, and cannot
 * use up those of sites and operators. A peer begins its handshake at once. A silent connection
 * costs little memory, since it has no TLS state before its first bytes. So there are many slots
 * for silent connections, and each is soon freed. With few slots, clients that were closed would
 * reconnect at once and fill the accept queue of the port.
 */
import type { Socket } from 'node:net';

const MAX_SILENT = 4096;
const SILENT_TIMEOUT_MS = 2000;
const MAX_IN_HANDSHAKE = 256;

export class UnknownConnections {
  readonly #silent = new Slots(MAX_SILENT);
  readonly #inHandshake = new Slots(MAX_IN_HANDSHAKE);

  /** Calls `onSpeaking` once the peer has sent something. */
  add(socket: Socket, onSpeaking: () => void): void {
    this.#silent.add(socket);
    // Ignore errors of a connection that may still be refused.
    socket.on('error', () => {});
    socket.setTimeout(SILENT_TIMEOUT_MS, () => socket.destroy());
    socket.once('readable', () => {
      socket.setTimeout(0);
      this.#silent.remove(socket);
      if (socket.destroyed || socket.readableLength === 0) return void socket.destroy();
      this.#inHandshake.add(socket);
      onSpeaking();
    });
  }

  /** Called when the peer of this connection has shown that it has the key. */
  remove(connection: Socket): void {
    this.#inHandshake.remove(connection);
  }
}

/** Holds a limited number of connections. A new one replaces the oldest. */
class Slots {
  readonly #max: number;
  /** The sockets by remote address, in the order of their arrival. */
  readonly #sockets = new Map<string, Socket>();

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Socket): void {
    const [oldest] = this.#sockets.values();
    if (oldest !== undefined && this.#sockets.size >= this.#max) {
      this.remove(oldest);
      oldest.destroy();
    }
    const address = formatRemote(socket);
    this.#sockets.set(address, socket);
    socket.once('close', () => {
      if (this.#sockets.get(address) === socket) this.#sockets.delete(address);
    });
  }

  remove(connection: Socket): void {
    this.#sockets.delete(formatRemote(connection));
  }
}

/** A TLS connection and the socket below it have the same remote address. */
function formatRemote({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
