/** The network between the sites: a delayed route for each direction, which a visitor can cut. */
import type { Server } from 'node:net';
import { openRoute } from '../../engines/delay-proxy.ts';
import { roundTripMs, SITES, type Site, type WanPreset } from '../../engines/wan.ts';

interface Way {
  readonly from: Site;
  readonly to: Site;
  readonly port: number;
  readonly route: Server;
}

const WAYS = SITES.flatMap((from) => SITES.filter((to) => to !== from).map((to) => ({ from, to })));
export const WAY_COUNT: number = WAYS.length;

export class Network {
  readonly #cutSites = new Set<Site>();
  #ways: readonly Way[] = [];

  /**
   * Opens the routes.
   *
   * @param ports free ports, one for each route
   * @param portOf where the node of a site listens for other nodes
   */
  static async open(
    ports: readonly number[],
    portOf: Readonly<Record<Site, number>>,
    wan: WanPreset,
  ): Promise<Network> {
    const network = new Network();
    const ways = WAYS.map(async ({ from, to }, n): Promise<Way> => {
      const port = ports[n] as number;
      const delayMs = roundTripMs(wan, from, to) / 2;
      // Data in flight while a site is cut off is held back, and arrives afterwards.
      const oneWayMs = (): number =>
        network.isCut(from) || network.isCut(to) ? Infinity : delayMs;
      return {
        from,
        to,
        port,
        route: await openRoute({ listenPort: port, targetPort: portOf[to], oneWayMs }),
      };
    });
    network.#ways = await Promise.all(ways);
    return network;
  }

  /** The port at which `from` reaches the node of `to`. */
  port(from: Site, to: Site): number {
    const way = this.#ways.find((item) => item.from === from && item.to === to);
    if (way === undefined) throw new RangeError(`no way from ${from} to ${to}`);
    return way.port;
  }

  isCut(site: Site): boolean {
    return this.#cutSites.has(site);
  }

  /** Cuts the routes between a site and the others, or connects them again. */
  setCut(site: Site, isCut: boolean): void {
    if (isCut) this.#cutSites.add(site);
    else this.#cutSites.delete(site);
  }

  close(): void {
    for (const { route } of this.#ways) route.close();
  }
}
