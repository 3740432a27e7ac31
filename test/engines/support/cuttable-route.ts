/** A way to a server that can be cut, cut for good after some packets, and restored. */
import type { Server, Socket } from 'node:net';
import { openRoute, type Delay } from '../../../engines/delay-proxy.ts';
import { freePorts, LOOPBACK } from '../../../engines/ports.ts';

export class CuttableRoute implements AsyncDisposable {
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isDown = false;
  #packetsLeft = Infinity;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.address = `${LOOPBACK}:${port}`;
    server.prependListener('connection', (socket: Socket) => this.#admit(socket));
  }

  /** Opens a way to `host:port` with a delay in each direction. */
  static async open(target: string, oneWayMs: Delay): Promise<CuttableRoute> {
    const [listenPort] = (await freePorts(1)) as [number];
    const at = target.lastIndexOf(':');
    const [targetHost, targetPort] = [target.slice(0, at), Number(target.slice(at + 1))];
    return new CuttableRoute(
      await openRoute({ listenPort, targetHost, targetPort, oneWayMs }),
      listenPort,
    );
  }

  /** How many connections there are. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Cuts the connection with this place among those that there are; new ones are possible. */
  cutOne(at: number): void {
    [...this.#sockets][at]?.destroy();
  }

  /** Cuts all connections; new ones are possible. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts all connections and refuses new ones. */
  down(): void {
    this.#isDown = true;
    this.cut();
  }

  up(): void {
    this.#isDown = false;
  }

  /** Lets so many packets of the client pass, then goes down and calls `onDown`. */
  downAfter(packets: number, onDown: () => void): void {
    this.#packetsLeft = packets;
    this.#onDown = onDown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #onDown: () => void = () => {};

  #admit(socket: Socket): void {
    if (this.#isDown) return void socket.destroy();
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', () => {
      this.#packetsLeft -= 1;
      if (this.#packetsLeft > 0 || this.#isDown) return;
      // The packet itself is on its way: the client dies between two steps, not in one.
      this.#isDown = true;
      setTimeout(() => {
        this.cut();
        this.#onDown();
      }, DIE_AFTER_MS);
    });
  }
}

/** Enough for the packet to pass, not for its answer where the way has a delay. */
const DIE_AFTER_MS = 12;
