/**
 * Where everything of a cluster listens. A cluster owns one network of the loopback interface,
 * 127.0.N.*, so that several run side by side on Cassandra's own ports: the nodes are .1 to .5,
 * three of them; with delays, .11 to .15 is how nodes reach each other, .21 to .65 how clients that
 * are elsewhere reach them.
 */
import type { Route } from '../delay-proxy.ts';
import { EngineUnavailable } from '../engine.ts';
import { freePorts, listenProblem } from '../ports.ts';
import {
  accessDelayMs,
  roundTripMs,
  type Place,
  type Placement,
  type Site,
  type WanPreset,
} from '../wan.ts';

/** Frankfurt first: the coordinator of the paper's experiments (Correctables, OSDI 2016, §6). */
export const NODE_SITES = ['frankfurt', 'ireland', 'virginia'] as const satisfies readonly Site[];

/** The nodes, the paper's coordinator first, and all places where clients may be. */
const PLACES: Readonly<
  Record<Placement, { readonly nodes: readonly Place[]; readonly clients: readonly Place[] }>
> = {
  paper: { nodes: NODE_SITES, clients: NODE_SITES },
  twissandra: { nodes: ['virginia', 'nca', 'ore'], clients: ['virginia', 'nca', 'ore', 'ireland'] },
};

/** By their numbers in addresses. */
const NUMBERED: readonly Place[] = [...NODE_SITES, 'nca', 'ore'];

export const CQL_PORT = 9042;
export const STORAGE_PORT = 7000;
export const NETWORK_MAX = 254;

/** Such that the coordinator's quorum is itself and the node that is nearest to it. */
const DATA_CENTERS: Readonly<Record<Placement, Readonly<Partial<Record<Place, string>>>>> = {
  paper: { frankfurt: 'eu', ireland: 'eu', virginia: 'us' },
  twissandra: { virginia: 'us', nca: 'us', ore: 'ore' },
};

export interface NodeLayout {
  readonly site: Place;
  /**
   * Where the node listens, for clients without delay and, unless proxies delay it, for its peers.
   */
  readonly address: string;
  /** How its peers reach it. */
  readonly peerAddress: string;
  readonly dataCenter: string;
  readonly rack: string;
  /** For `nodetool`, on 127.0.0.1. */
  readonly jmxPort: number;
}

export interface Layout {
  readonly network: number;
  readonly wan: WanPreset;
  readonly placement: Placement;
  readonly nodes: readonly NodeLayout[];
  /**
   * What the delay proxy keeps open: client links, and, unless the plugin delays them, the links
   * between nodes.
   */
  readonly routes: readonly Route[];
}

export interface LayoutOptions {
  readonly nodes: 1 | 3;
  readonly wan: WanPreset;
  /** `paper` unless given. */
  readonly placement?: Placement;
  /** The N of 127.0.N.*; one that is free unless given. */
  readonly network?: number;
  /** Whether the nodes delay each other's messages themselves, so that no proxy has to. */
  readonly nodesDelay: boolean;
}

/** @throws EngineUnavailable where an address is taken or unknown to this machine */
export async function layOut(options: LayoutOptions): Promise<Layout> {
  const network = options.network ?? (await freeNetwork(options));
  const layout = layoutIn(network, options, await freePorts(options.nodes));
  const problem = await whatIsTaken(layout);
  if (problem !== undefined) throw new EngineUnavailable(problem);
  return layout;
}

/** The places where clients of a cluster may be. */
export function clientPlaces({ placement }: Pick<Layout, 'placement'>): readonly Place[] {
  return PLACES[placement].clients;
}

/** The address at which a client beside the site `from` reaches the node at `at`. */
export function clientAddress(
  { network, wan }: Pick<Layout, 'network' | 'wan'>,
  from: Place,
  at: Place,
): string {
  if (roundTripMs(wan, from, at) === 0) return hostAt(network, number(at));
  return hostAt(network, 10 + 10 * number(from) + number(at));
}

/** Milliseconds that a message from the first node takes to the second. */
export function oneWayMs(wan: WanPreset, from: Place, to: Place): number {
  return roundTripMs(wan, from, to) / 2;
}

function layoutIn(network: number, options: LayoutOptions, jmxPorts: number[]): Layout {
  const { nodes: count, wan, placement = 'paper', nodesDelay } = options;
  const delayedByProxies = wan !== 'none' && !nodesDelay;
  const sites = PLACES[placement].nodes.slice(0, count);
  const nodes = sites.map((site, index): NodeLayout => {
    const address = hostAt(network, number(site));
    const peerAddress = delayedByProxies ? hostAt(network, 10 + number(site)) : address;
    const jmxPort = jmxPorts[index] as number;
    const dataCenter = DATA_CENTERS[placement][site] as string;
    return { site, address, peerAddress, dataCenter, rack: site.toUpperCase(), jmxPort };
  });
  const routes: Route[] = [];
  const route = (listenHost: string, targetHost: string, port: number, delayMs: number): void => {
    routes.push({ listenHost, listenPort: port, targetHost, targetPort: port, oneWayMs: delayMs });
  };
  for (const { site, address, peerAddress } of nodes) {
    if (peerAddress !== address)
      route(peerAddress, address, STORAGE_PORT, accessDelayMs(wan, site, PLACES[placement].nodes));
    for (const from of PLACES[placement].clients) {
      const listen = clientAddress({ network, wan }, from, site);
      if (listen !== address) route(listen, address, CQL_PORT, oneWayMs(wan, from, site));
    }
  }
  return { network, wan, placement, nodes, routes };
}

/** What keeps a cluster from starting in that network, in words. */
export function whatIsTakenIn(
  network: number,
  options: Pick<LayoutOptions, 'nodes' | 'wan' | 'placement'>,
): Promise<string | undefined> {
  return whatIsTaken(layoutIn(network, { ...options, nodesDelay: false }, [0, 0, 0]));
}

async function whatIsTaken({ nodes, routes }: Layout): Promise<string | undefined> {
  const ours = nodes.flatMap(({ address }) =>
    [STORAGE_PORT, CQL_PORT].map((port) => ({ address, port })),
  );
  const proxies = routes.map(({ listenHost = '', listenPort }) => ({
    address: listenHost,
    port: listenPort,
  }));
  for (const { address, port } of [...ours, ...proxies]) {
    const problem = await listenProblem(port, address);
    if (problem === 'EADDRNOTAVAIL') {
      return `${address} is not an address of this machine: on macOS, sudo ifconfig lo0 alias ${address}, and so for each`;
    }
    if (problem === 'EADDRINUSE')
      return `${address}:${port} is in use: stop what listens there, or choose another --network`;
    if (problem !== undefined) return `cannot listen on ${address}:${port}: ${problem}`;
  }
  return undefined;
}

/**
 * A network in which nothing of a cluster is taken, drawn at random: clusters that start at once
 * keep apart.
 */
async function freeNetwork(options: LayoutOptions): Promise<number> {
  let problem = '';
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const network = 1 + Math.floor(Math.random() * NETWORK_MAX);
    const found = await whatIsTakenIn(network, options);
    if (found === undefined) return network;
    problem = found;
  }
  throw new EngineUnavailable(problem);
}

function hostAt(network: number, host: number): string {
  return `127.0.${network}.${host}`;
}

function number(site: Place): number {
  return NUMBERED.indexOf(site) + 1;
}
