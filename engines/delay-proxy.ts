/**
 * A TCP proxy that hands bytes on after a delay: the wide area on one machine, without privileges.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LOOPBACK } from './ports.ts';

/** Where bytes go: to the target of a route, or back to the client that connected. */
export type Direction = 'target' | 'client';

/** One way through the proxy, on the loopback interface. */
export interface Route {
  /** 127.0.0.1 unless given. */
  readonly listenHost?: string;
  readonly listenPort: number;
  /** 127.0.0.1 unless given. */
  readonly targetHost?: string;
  readonly targetPort: number;
  /** The delay in each direction: half the round trip. */
  readonly oneWayMs: number;
  /**
   * How long to retry while no server listens at the target. Default: 0, so a client fails at once.
   */
  readonly timeoutMs?: number;
}

/**
 * A delay in each direction. A function is called while bytes wait; as long as it returns
 * `Infinity` they are held.
 */
export type Delay = number | ((towards: Direction) => number);

/** A route whose delay may change. */
type OpenRoute = Omit<Route, 'oneWayMs'> & { readonly oneWayMs: Delay };

const RETRY_MS = 25;
/** How often a delay that may change is read. */
const READ_DELAY_MS = 50;

/** More bytes than this under way in one direction hold up the sender. */
const UNDER_WAY_MAX = 8 * 1024 * 1024;

/** Opens a route; resolves when it listens. */
export function openRoute(route: OpenRoute): Promise<Server> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true });
  server.on('connection', (client) => relay(client, route));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(route.listenPort, route.listenHost ?? LOOPBACK, () => resolve(server));
  });
}

/** Connects a socket that is paused with the target of a route. */
export function relay(client: Socket, route: Omit<OpenRoute, 'listenHost' | 'listenPort'>): void {
  join(client, route, performance.now());
}

function join(client: Socket, route: Parameters<typeof relay>[1], since: number): void {
  const { targetHost = LOOPBACK, targetPort, oneWayMs, timeoutMs = 0 } = route;
  const delayMs = typeof oneWayMs === 'function' ? oneWayMs : () => oneWayMs;
  const target = connect({
    port: targetPort,
    host: targetHost,
    noDelay: true,
    allowHalfOpen: true,
  });
  // Until the target answers, no connection is accepted on its behalf: a client sees at once that
  // it is down.
  const drop = (): void => {
    client.resetAndDestroy();
    target.destroy();
  };
  client.on('error', drop);
  target.on('error', (error: NodeJS.ErrnoException) => {
    const isEarly =
      error.code === 'ECONNREFUSED' && performance.now() - since < timeoutMs && !client.destroyed;
    if (!isEarly) return drop();
    client.removeAllListeners();
    client.on('error', () => {}); // Seen as destroyed, at the next try.
    setTimeout(() => join(client, route, since), RETRY_MS);
  });
  client.on('close', () => {
    if (target.connecting) target.destroy();
  });
  target.once('connect', () => {
    new DelayedPipe(client, target, () => delayMs('target')).start();
    new DelayedPipe(target, client, () => delayMs('client')).start();
    client.resume();
  });
}

interface Chunk {
  readonly cameAt: number;
  /** The bytes, or what became of the sender: it has said all, it is gone. */
  readonly content: Buffer | 'end' | 'close';
}

/** One direction of a connection. */
class DelayedPipe {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #delayMs: () => number;
  readonly #chunks: Chunk[] = [];
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, delayMs: () => number) {
    this.#from = from;
    this.#to = to;
    this.#delayMs = delayMs;
  }

  start(): void {
    this.#from.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#from.on('end', () => this.#take('end'));
    this.#from.on('close', () => this.#take('close'));
    this.#to.on('close', () => clearTimeout(this.#timer));
  }

  #take(content: Chunk['content']): void {
    if (this.#to.destroyed) return;
    this.#chunks.push({ cameAt: performance.now(), content });
    if (typeof content !== 'string') this.#underWay += content.length;
    if (this.#underWay > UNDER_WAY_MAX) this.#from.pause();
    this.#schedule();
  }

  #schedule(): void {
    const next = this.#chunks[0];
    if (next === undefined || this.#timer !== undefined) return;
    const waitMs = Math.max(0, next.cameAt + this.#delayMs() - performance.now());
    // A timer may fire a little early; what is left of a millisecond is not waited for again.
    this.#timer = setTimeout(() => this.#deliver(), Math.min(waitMs, READ_DELAY_MS));
  }

  #deliver(): void {
    this.#timer = undefined;
    const cameBy = performance.now() + 0.5 - this.#delayMs();
    while (this.#chunks[0] !== undefined && this.#chunks[0].cameAt <= cameBy) {
      const { content } = this.#chunks.shift() as Chunk;
      if (this.#to.destroyed) return;
      if (content === 'end') this.#to.end();
      else if (content === 'close') this.#to.destroySoon();
      else {
        this.#to.write(content);
        this.#underWay -= content.length;
      }
    }
    if (this.#underWay <= UNDER_WAY_MAX && this.#from.isPaused()) this.#from.resume();
    this.#schedule();
  }
}
