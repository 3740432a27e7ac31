/** Where everything of an etcd cluster listens. */
import type { Route } from '../delay-proxy.ts';
import { freePorts } from '../ports.ts';
import { accessDelayMs, roundTripMs, SITES, type Site, type WanPreset } from '../wan.ts';

export interface MemberLayout {
  readonly site: Site;
  /** Where the server listens for clients. */
  readonly clientPort: number;
  /** Where it listens for the other servers, and the port at which these reach it. */
  readonly peerPort: number;
  readonly announcedPeerPort: number;
}

export interface Layout {
  readonly wan: WanPreset;
  readonly members: readonly MemberLayout[];
  /**
   * The port at which a client beside the first site reaches the server at the second:
   * `clientPorts.ireland.virginia`.
   */
  readonly clientPorts: Readonly<Record<Site, Readonly<Partial<Record<Site, number>>>>>;
  readonly routes: readonly Route[];
}

export interface LayoutOptions {
  readonly nodes: 1 | 3;
  readonly wan: WanPreset;
}

/** How long a server that starts may take to open its port. */
const START_MS = 2_000;

/**
 * Chooses ports for everything. With delays, whatever crosses sites does so through a proxy. All
 * servers have to name one peer by one address, so that address delays by what the site adds to
 * every trip; a server sends through the connection that the receiver has opened to it, so a
 * request and its answer take a round trip together.
 */
export async function layOut({ nodes: count, wan }: LayoutOptions): Promise<Layout> {
  const sites = SITES.slice(0, count);
  const ports = await freePorts(3 * sites.length + SITES.length * sites.length);
  const nextPort = (): number => ports.pop() as number;
  const routes: Route[] = [];
  const reach = (targetPort: number, oneWayMs: number, timeoutMs: number): number => {
    if (oneWayMs === 0) return targetPort;
    const listenPort = nextPort();
    routes.push({ listenPort, targetPort, oneWayMs, timeoutMs });
    return listenPort;
  };
  const members = sites.map((site): MemberLayout => {
    const peerPort = nextPort();
    const delayMs = wan === 'none' ? 0 : accessDelayMs(wan, site, SITES);
    return {
      site,
      clientPort: nextPort(),
      peerPort,
      announcedPeerPort: reach(peerPort, delayMs, START_MS),
    };
  });
  const reachAll = (from: Site): Partial<Record<Site, number>> =>
    Object.fromEntries(
      members.map(({ site, clientPort }) => [
        site,
        reach(clientPort, roundTripMs(wan, from, site) / 2, 0),
      ]),
    );
  const clientPorts = {
    ireland: reachAll('ireland'),
    frankfurt: reachAll('frankfurt'),
    virginia: reachAll('virginia'),
  };
  return { wan, members, clientPorts, routes };
}
