/** Where a primary and its replicas listen, and what lies between them. */
import type { Route } from '../delay-proxy.ts';
import { freePorts } from '../ports.ts';
import { roundTripMs, type Place, type WanPreset } from '../wan.ts';

/** Clients are in Ireland, beside the first replica. */
const CLIENTS: Place = 'ireland';
const PLACES: readonly Place[] = ['virginia', 'ireland', 'frankfurt'];

export interface ServerLayout {
  /** `primary`, `replica-1`, `replica-2`: as it starts. A replica may be promoted. */
  readonly name: string;
  readonly place: Place;
  readonly port: number;
  /** Where clients reach it, with the delay between them. */
  readonly clientPort: number;
}

export interface PostgresLayout {
  readonly wan: WanPreset;
  /** The primary first, then its replicas, the nearest to the clients first. */
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
  const ports = await freePorts(2 * count + replicas * (count - 1));
  const nextPort = (): number => ports.pop() as number;
  const servers = PLACES.slice(0, count).map((place, index): ServerLayout => {
    const name = index === 0 ? 'primary' : `replica-${index}`;
    return { name, place, port: nextPort(), clientPort: nextPort() };
  });
  const routes: Route[] = servers.map(({ place, port, clientPort }) =>
    createRoute(clientPort, port, roundTripMs(wan, CLIENTS, place)),
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
