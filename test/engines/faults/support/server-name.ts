/**
 * A name that leads to a server, and later to another one: connections that are open stay where
 * they are.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
}

export class ServerName {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** The port that new connections lead to. */
  targetPort: number;
  /** How many connections were made. */
  connections = 0;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.targetPort = targetPort;
    server.on('connection', (client) => this.#join(client));
  }

  /** Opens a name until the test ends. */
  static async open(targetPort: number): Promise<ServerName> {
    const server = createServer();
    const name = new ServerName(server, targetPort);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => name.#close());
    return name;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Cuts the open connections in both directions, without a word to either end, as a NAT that
   * forgets them.
   */
  cut(): void {
    for (const { client, target } of this.#pairs) {
      client.unpipe(target);
      target.unpipe(client);
      client.pause();
      target.pause();
    }
    this.#pairs.clear();
  }

  /** Loses what the server sends over the open connections. What the client sends still arrives. */
  loseAnswers(): void {
    for (const { client, target } of this.#pairs) {
      target.unpipe(client);
      target.resume();
    }
    this.#pairs.clear();
  }

  #join(client: Socket): void {
    this.connections += 1;
    const target = connect(this.targetPort, '127.0.0.1');
    const pair = { client, target };
    this.#pairs.add(pair);
    client.pipe(target);
    target.pipe(client);
    const end = (): void => {
      if (!this.#pairs.delete(pair)) return; // A lost connection tells its ends nothing.
      client.destroy();
      target.destroy();
    };
    for (const socket of [client, target]) {
      socket.on('error', end);
      socket.on('close', end);
    }
    this.#onClose.push(() => {
      client.destroy();
      target.destroy();
    });
  }

  readonly #onClose: (() => void)[] = [];

  #close(): void {
    this.#server.close();
    for (const close of this.#onClose) close();
  }
}
