/** A client beside one site, behind a way of its own to each, which can be cut; it moves to another site where one is lost. */
import { WebSocket } from 'ws';
import { roundTripMs, SITES, type Site } from '../../../engines/wan.ts';
import { exponentialBackoff, redblue, type RedBlueLevels } from '../../../src/bindings/redblue/index.ts';
import { createClient, type Client, type Session } from '../../../src/index.ts';
import { CuttableRoute } from '../../engines/support/cuttable-route.ts';
import { scene } from './contract.ts';
import type { Server } from './server.ts';

/** A site that sends nothing is given up after this. */
const HEARTBEAT_MS = 1_500;
const PONG_MS = 500;
const RECONNECT = exponentialBackoff({ initialDelayMs: 20, maxDelayMs: 300 });

export class Caller {
  readonly name: string;
  /** The way to its own site first. */
  readonly routes: readonly CuttableRoute[];
  readonly client: Client<RedBlueLevels>;
  readonly #sessions: Session[] = [];
  #names = 0;

  private constructor(name: string, routes: readonly CuttableRoute[], urls: readonly string[]) {
    this.name = name;
    this.routes = routes;
    const times = { heartbeatIntervalMs: HEARTBEAT_MS, pongTimeoutMs: PONG_MS, connectTimeoutMs: 2 * HEARTBEAT_MS };
    this.client = createClient(redblue(scene, { url: urls, WebSocket, reconnect: RECONNECT, ...times }));
  }

  static async open(server: Server, name: string, site: Site): Promise<Caller> {
    const nearestFirst = [...SITES].sort((a, b) => roundTripMs('paper', site, a) - roundTripMs('paper', site, b));
    const routes = await Promise.all(
      nearestFirst.map((to) => CuttableRoute.open(`127.0.0.1:${server.port}`, roundTripMs('paper', site, to) / 2)),
    );
    const urls = nearestFirst.map((to, n) => server.url(to, routes[n]?.address));
    return new Caller(name, routes, urls);
  }

  /** A name that no other call has. */
  newName(): string {
    this.#names += 1;
    return `${this.name}.${this.#names}`;
  }

  /** A session, open as long as the client is. */
  session(): Session {
    const session = this.client.session();
    this.#sessions.push(session);
    return session;
  }

  cut(): void {
    for (const route of this.routes) route.cut();
  }

  up(): void {
    for (const route of this.routes) route.up();
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.close();
    await this.client.close();
    await Promise.all(this.routes.map((route) => route[Symbol.asyncDispose]()));
  }
}
