/**
 * One end of a TCP connection in the hands of a test: bytes and nothing else, each direction for
 * itself.
 */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** A socket that reads all bytes that it receives. */
export class RawPeer {
  readonly socket: Socket;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    for (const event of ['data', 'end']) socket.on(event, () => this.#wake());
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  static async connect(port: number): Promise<RawPeer> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const peer = new RawPeer(socket);
    await once(socket, 'connect');
    return peer;
  }

  write(bytes: Uint8Array): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Ends this direction; the other stays open. */
  fin(): void {
    this.socket.end();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Fulfilled when `isSo` returns true or the connection has ended. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.#isClosed && !this.socket.readableEnded) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
