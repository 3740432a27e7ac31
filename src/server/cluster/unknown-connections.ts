/**
 * Accepted connections whose peer has not shown yet that it has the key.
 *
 * Anybody who reaches the port can open them. They have few places of their own, so they take none
 * from sites and operators. A peer begins its handshake at once, and a port that is only held open
 * stays silent: if the places are full, the oldest silent connection is closed.
 */
import type { Socket } from 'node:net';

/** A peer needs one only for the round trips of its handshake. */
const MAX_UNKNOWN = 256;

export class UnknownConnections {
  readonly #max: number;
  /** By their remote address, in the order in which they came. */
  readonly #sockets = new Map<string, Socket>();

  constructor(max: number = MAX_UNKNOWN) {
    this.#max = max;
  }

  add(socket: Socket): void {
    if (this.#sockets.size >= this.#max) this.#makePlace();
    const address = formatRemote(socket);
    this.#sockets.set(address, socket);
    socket.once('close', () => {
      if (this.#sockets.get(address) === socket) this.#sockets.delete(address);
    });
  }

  /** The peer of this connection has the key. */
  remove(connection: Socket): void {
    this.#sockets.delete(formatRemote(connection));
  }

  #makePlace(): void {
    const waiting = [...this.#sockets];
    const [address, socket] =
      waiting.find(([, { bytesRead }]) => bytesRead === 0) ?? (waiting[0] as [string, Socket]);
    this.#sockets.delete(address);
    socket.destroy();
  }
}

/** A connection over TLS and the socket below it have the same one. */
function formatRemote({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
