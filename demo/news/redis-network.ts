/** A Redis at each site, on this machine. What travels between two sites takes a way of its own, with its delay. */
import { once } from 'node:events';
import type { Server } from 'node:net';
import { Redis } from 'ioredis';
import { openRoute } from '../../engines/delay-proxy.ts';
import { freePorts, LOOPBACK } from '../../engines/ports.ts';
import { startRedis, type RunningRedis } from '../../engines/redis/single-server.ts';
import { getRoundTripMs, SITES, type Delays, type Site } from './sites.ts';

/** A way from clients at one site to the Redis of another one. */
interface Way {
  readonly from: Site;
  readonly to: Site;
  readonly port: number;
  readonly route: Server;
}

export class RedisNetwork {
  readonly #servers: ReadonlyMap<Site, RunningRedis>;
  readonly #ways: Way[] = [];
  readonly #cutLines = new Set<string>();
  readonly #connections: Redis[] = [];

  private constructor(servers: ReadonlyMap<Site, RunningRedis>) {
    this.#servers = servers;
  }

  /** @throws EngineUnavailable if Redis is not installed and cannot be downloaded */
  static async start(delays: Delays): Promise<RedisNetwork> {
    const servers = await Promise.all(SITES.map(async (site) => [site, await startRedis({ durable: false })] as const));
    const network = new RedisNetwork(new Map(servers));
    try {
      await network.#openWays(delays);
      return network;
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  /** Connects a client at `from` with the Redis at `to`. */
  connect(from: Site, to: Site): Redis {
    const way = this.#ways.find((item) => item.from === from && item.to === to);
    const redis = new Redis({ host: LOOPBACK, port: way?.port ?? this.#getPort(to) });
    redis.on('error', () => {}); // Each command reports its own failure.
    this.#connections.push(redis);
    return redis;
  }

  /** Holds all bytes between two sites, as a network that has failed. Connections stay open. */
  cut(a: Site, b: Site): void {
    this.#cutLines.add(toLine(a, b));
  }

  repair(a: Site, b: Site): void {
    this.#cutLines.delete(toLine(a, b));
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect();
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
    await Promise.all(
      this.#ways.map(async ({ route }) => {
        const closed = once(route, 'close');
        route.close();
        await closed;
      }),
    );
  }

  async #openWays(delays: Delays): Promise<void> {
    const pairs = SITES.flatMap((from) => SITES.filter((to) => to !== from).map((to) => ({ from, to })));
    const ports = await freePorts(pairs.length);
    for (const [at, { from, to }] of pairs.entries()) {
      const port = ports[at] as number;
      const oneWayMs = getRoundTripMs(delays, from, to) / 2;
      const route = await openRoute({
        listenPort: port,
        targetPort: this.#getPort(to),
        oneWayMs: () => (this.#cutLines.has(toLine(from, to)) ? Infinity : oneWayMs),
      });
      this.#ways.push({ from, to, port, route });
    }
  }

  #getPort(site: Site): number {
    return Number(new URL(this.#servers.get(site)?.url ?? '').port);
  }
}

function toLine(a: Site, b: Site): string {
  return [a, b].toSorted().join('-');
}
