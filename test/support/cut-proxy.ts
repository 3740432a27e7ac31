/** A TCP proxy between client and gateway, which can cut connections or drop their bytes. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** How the proxy handles the bytes of one direction. */
type Mode = 'pass' | 'swallow';

/** A proxy in front of one port of this machine. */
export class CutProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #waiting: (() => void)[] = [];
  readonly #onSwallowed: (() => void)[] = [];
  #target: number;
  #mode: Mode = 'pass';
  /** How many connections were made. */
  connections = 0;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => this.#join(client));
  }

  static async start(targetUrl: string): Promise<CutProxy> {
    const server = createServer();
    const proxy = new CutProxy(server, Number(new URL(targetUrl).port));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Returns the address of the proxy, with the path of the target. */
  url(targetUrl: string): string {
    const url = new URL(targetUrl);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Connects later clients to another port. */
  retarget(targetUrl: string): void {
    this.#target = Number(new URL(targetUrl).port);
  }

  /** Cuts all connections. Both ends notice it. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /**
   * Drops all bytes but keeps the connections, so neither end notices it. Fulfilled when the first
   * bytes were dropped.
   */
  swallow(): Promise<void> {
    this.#mode = 'swallow';
    return new Promise((resolve) => this.#onSwallowed.push(resolve));
  }

  /** Forwards the bytes of new connections again. */
  pass(): void {
    this.#mode = 'pass';
  }

  /** Fulfilled when the connection number `count` has been made. */
  async connected(count: number): Promise<void> {
    while (this.connections < count)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      from.setNoDelay(true);
      from.on('data', (bytes: Buffer) => this.#forward(bytes, to));
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    this.connections++;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #forward(bytes: Buffer, to: Socket): void {
    if (this.#mode === 'swallow') {
      for (const resolve of this.#onSwallowed.splice(0)) resolve();
      return;
    }
    to.write(bytes);
  }
}
