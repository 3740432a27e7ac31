/** A way to a server whose connections can be cut without a word, in one direction or in both. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LOOPBACK } from '../../../engines/ports.ts';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class SilentRoute implements AsyncDisposable {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  /** Where new connections lead, as `host:port`. */
  target: string;

  private constructor(target: string) {
    this.target = target;
    this.#listener = createServer((client) => this.#join(client));
  }

  /** Opens a way to `target`, at a free port of `host`, or at `port`. */
  static async open(target: string, { host = LOOPBACK, port = 0 } = {}): Promise<SilentRoute> {
    const route = new SilentRoute(target);
    await new Promise<void>((resolve) => route.#listener.listen(port, host, resolve));
    return route;
  }

  get address(): string {
    return `${LOOPBACK}:${this.port}`;
  }

  get port(): number {
    return (this.#listener.address() as { readonly port: number }).port;
  }

  /** Drops all bytes of the connections that there are. New ones work. */
  cutSilently(): void {
    for (const { client, server } of this.#take()) {
      silence(client);
      silence(server);
    }
  }

  /** Drops the answers of the connections that there are. Requests still arrive. */
  dropAnswers(): void {
    for (const { server } of this.#take()) silence(server);
  }

  /** Closes all connections. New ones work. */
  closeAll(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isClosed = new Promise((resolve) => this.#listener.close(resolve));
    this.closeAll();
    await isClosed;
  }

  /** The connections that there are. They no longer end each other. */
  #take(): readonly Pair[] {
    const pairs = [...this.#pairs];
    for (const { client, server } of pairs) {
      client.removeAllListeners('close');
      server.removeAllListeners('close');
    }
    return pairs;
  }

  #join(client: Socket): void {
    const at = this.target.lastIndexOf(':');
    const server = connect(Number(this.target.slice(at + 1)), this.target.slice(0, at));
    const pair = { client, server };
    this.#pairs.add(pair);
    client.pipe(server);
    server.pipe(client);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}

/** Reads what arrives, and passes nothing on. */
function silence(socket: Socket): void {
  socket.unpipe();
  socket.resume();
}
