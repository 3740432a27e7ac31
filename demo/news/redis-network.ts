/**
 * A Redis Cluster at each site, on this machine. Data between two sites uses separate routes with a
 * delay.
 */
import { once } from 'node:events';
import type { Server } from 'node:net';
import { Cluster } from 'ioredis';
import { openRoute } from '../../engines/delay-proxy.ts';
import { freePorts, LOOPBACK } from '../../engines/ports.ts';
import { RedisSite } from './redis-site.ts';
import { getRoundTripMs, SITES, type Delays, type Site } from './sites.ts';

/**
 * The timeout of a refresh of the slots. The default of ioredis is shorter than a round trip with
 * slow delays.
 */
const SLOTS_REFRESH_MS = 10_000;

/** A route from clients at one site to one master of another site. */
interface Way {
  readonly from: Site;
  readonly targetPort: number;
  readonly port: number;
  readonly route: Server;
}

export class RedisNetwork {
  readonly #sites: ReadonlyMap<Site, RedisSite>;
  readonly #ways: Way[] = [];
  readonly #cutLines = new Set<string>();
  #hasDelays = false;
  readonly #connections: Cluster[] = [];

  private constructor(sites: ReadonlyMap<Site, RedisSite>) {
    this.#sites = sites;
  }

  /** @throws EngineUnavailable if Redis is not installed and cannot be downloaded */
  static async start(delays: Delays): Promise<RedisNetwork> {
    const starting = SITES.map(async (site) => [site, await RedisSite.start()] as const);
    const starts = await Promise.allSettled(starting);
    const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const network = new RedisNetwork(new Map(started));
    try {
      await Promise.all(starting);
      await network.#openWays(delays);
      return network;
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  /**
   * Connects a client at `from` with the cluster at `to`. Masters announce their own ports, so the
   * client translates them to those of the routes.
   */
  connect(from: Site, to: Site): Cluster {
    const ways = this.#ways.filter((way) => way.from === from);
    const natMap = Object.fromEntries(
      ways.map(({ targetPort, port }) => [`${LOOPBACK}:${targetPort}`, { host: LOOPBACK, port }]),
    );
    const masters = this.#getPorts(to).map(
      (port) => natMap[`${LOOPBACK}:${port}`] ?? { host: LOOPBACK, port },
    );
    const cluster = new Cluster(masters, { natMap, slotsRefreshTimeout: SLOTS_REFRESH_MS });
    cluster.on('error', () => {}); // Ignore the event: each command reports its own failure.
    this.#connections.push(cluster);
    return cluster;
  }

  /** Resolves once all connections are open. */
  async waitUntilConnected(): Promise<void> {
    await Promise.all(
      this.#connections.map(async (cluster) => {
        if (cluster.status !== 'ready') await once(cluster, 'ready');
        await Promise.all(cluster.nodes('master').map((master) => master.ping()));
      }),
    );
  }

  /**
   * Begins the delays. Before that nothing is delayed, so that connections and stores are ready in
   * seconds.
   */
  beginDelays(): void {
    this.#hasDelays = true;
  }

  /** Holds back all bytes between two sites, like a failed network. Connections stay open. */
  cut(a: Site, b: Site): void {
    this.#cutLines.add(toLine(a, b));
  }

  repair(a: Site, b: Site): void {
    this.#cutLines.delete(toLine(a, b));
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect();
    await Promise.all([...this.#sites.values()].map((site) => site.stop()));
    await Promise.all(
      this.#ways.map(async ({ route }) => {
        const closed = once(route, 'close');
        route.close();
        await closed;
      }),
    );
  }

  async #openWays(delays: Delays): Promise<void> {
    const pairs = SITES.flatMap((from) =>
      SITES.filter((to) => to !== from).map((to) => ({ from, to })),
    );
    const targets = pairs.flatMap(({ from, to }) =>
      this.#getPorts(to).map((targetPort) => ({ from, to, targetPort })),
    );
    const ports = await freePorts(targets.length);
    for (const [at, { from, to, targetPort }] of targets.entries()) {
      const port = ports[at] as number;
      const oneWayMs = getRoundTripMs(delays, from, to) / 2;
      const route = await openRoute({
        listenPort: port,
        targetPort,
        oneWayMs: () => this.#getDelayMs(from, to, oneWayMs),
      });
      this.#ways.push({ from, targetPort, port, route });
    }
  }

  #getDelayMs(from: Site, to: Site, oneWayMs: number): number {
    if (this.#cutLines.has(toLine(from, to))) return Infinity;
    return this.#hasDelays ? oneWayMs : 0;
  }

  #getPorts(site: Site): readonly number[] {
    return this.#sites.get(site)?.ports ?? [];
  }
}

function toLine(a: Site, b: Site): string {
  return [a, b].toSorted().join('-');
}
