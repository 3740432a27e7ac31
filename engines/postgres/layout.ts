/** Where a primary and its replicas listen, and what lies between them. */
import type { Route } from '../delay-proxy.ts';
import { freePorts } from '../ports.ts';
import { roundTripMs, SITES, type Site, type WanPreset } from '../wan.ts';

/** The primary is in Virginia. */
const PLACES: readonly Site[] = ['virginia', 'ireland', 'frankfurt'];

export interface ServerLayout {
  /** `primary`, `replica-1`, `replica-2`: as it starts. A replica may be promoted. */
  readonly name: string;
  readonly place: Site;
  readonly port: number;
  /** Where clients of each site reach it, with the delay between them. */
  readonly clientPorts: Readonly<Record<Site, number>>;
}

export interface PostgresLayout {
  readonly wan: WanPreset;
  /** The primary first, then its replicas. */
  readonly servers: readonly ServerLayout[];
  /** Where each replica reaches each other server, as `links['replica-1']['primary']`. */
  readonly links: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly routes: readonly Route[];
}

export interface LayoutOptions {
  readonly replicas: number;
  readonly wan: WanPreset;
}

/** Chooses ports for everything. Whatever crosses places does so through a proxy. */
export async function layOut({ replicas, wan }: LayoutOptions): Promise<PostgresLayout> {
  const count = 1 + replicas;
  const ports = await freePorts((1 + SITES.length) * count + replicas * (count - 1));
  const nextPort = (): number => ports.pop() as number;
  const servers = PLACES.slice(0, count).map((place, index): ServerLayout => {
    const name = index === 0 ? 'primary' : `replica-${index}`;
    const clientPorts = Object.fromEntries(SITES.map((site) => [site, nextPort()])) as Record<
      Site,
      number
    >;
    return { name, place, port: nextPort(), clientPorts };
  });
  const routes: Route[] = servers.flatMap(({ place, port, clientPorts }) =>
    SITES.map((site) => createRoute(clientPorts[site], port, roundTripMs(wan, site, place))),
  );
  const links: Record<string, Record<string, number>> = {};
  for (const from of servers.slice(1)) {
    const others = servers.filter((server) => server !== from);
    const reached = others.map((to): [string, number] => {
      const port = nextPort();
      routes.push(createRoute(port, to.port, roundTripMs(wan, from.place, to.place)));
      return [to.name, port];
    });
    links[from.name] = Object.fromEntries(reached);
  }
  return { wan, servers, links, routes };
}

function createRoute(listenPort: number, targetPort: number, roundTrip: number): Route {
  return { listenPort, targetPort, oneWayMs: roundTrip / 2 };
}
