/** Where everything of an ensemble listens, and the configuration files that follow from it. */
import type { Route } from '../delay-proxy.ts';
import { freePorts, LOOPBACK } from '../ports.ts';
import { roundTripMs, SITES, type Site, type WanPreset } from '../wan.ts';

export interface NodeLayout {
  readonly site: Site;
  /** ZooKeeper's `myid`. Of equals, the highest is elected. */
  readonly id: number;
  readonly clientPort: number;
  readonly quorumPort: number;
  readonly electionPort: number;
  /** Follows the ensemble without a vote. */
  readonly isObserver: boolean;
}

export interface Layout {
  readonly wan: WanPreset;
  readonly leader: Site;
  readonly nodes: readonly NodeLayout[];
  /**
   * The port at which a client beside the first site reaches the server at the second:
   * `clientPorts.ireland.virginia`.
   */
  readonly clientPorts: Readonly<Record<Site, Readonly<Partial<Record<Site, number>>>>>;
  /** The port at which the first server reaches the quorum port of the second. */
  readonly quorumPorts: Readonly<Record<Site, Readonly<Partial<Record<Site, number>>>>>;
  readonly routes: readonly Route[];
}

export interface LayoutOptions {
  readonly nodes: 1 | 3;
  readonly leader: Site;
  readonly wan: WanPreset;
  /** Servers that give preliminary replies (`research/zookeeper-czk`). */
  readonly czk?: boolean;
  /** A site whose server has no vote: it follows, and answers its clients. None unless given. */
  readonly observer?: Site;
}

type Port = 'clientPort' | 'quorumPort';

/** How long a leader that has been elected may take to open its port. */
const ELECTED_MS = 2_000;

/** Chooses ports for everything. With delays, whatever crosses sites does so through a proxy. */
export async function layOut({
  nodes: count,
  leader,
  wan,
  observer,
}: LayoutOptions): Promise<Layout> {
  const sites = count === 1 ? [leader] : [...SITES.filter((site) => site !== leader), leader];
  const ports = await freePorts(sites.length * 3 + SITES.length * sites.length + sites.length ** 2);
  const nextPort = (): number => ports.pop() as number;
  const nodes = sites.map((site, index): NodeLayout => {
    const isObserver = site === observer;
    return {
      site,
      id: index + 1,
      clientPort: nextPort(),
      quorumPort: nextPort(),
      electionPort: nextPort(),
      isObserver,
    };
  });
  const routes: Route[] = [];
  const reach = (from: Site, to: NodeLayout, port: Port): number => {
    const targetPort = to[port];
    const oneWayMs = roundTripMs(wan, from, to.site) / 2;
    if (oneWayMs === 0) return targetPort;
    const listenPort = nextPort();
    // A follower that is faster than its new leader would be rejected, and the election would begin
    // again.
    const timeoutMs = port === 'quorumPort' ? ELECTED_MS : 0;
    routes.push({ listenPort, targetPort, oneWayMs, timeoutMs });
    return listenPort;
  };
  const reachAll = (from: Site, port: Port): Partial<Record<Site, number>> =>
    Object.fromEntries(nodes.map((node) => [node.site, reach(from, node, port)]));
  const fromEverywhere = (port: Port): Layout['clientPorts'] => ({
    ireland: reachAll('ireland', port),
    frankfurt: reachAll('frankfurt', port),
    virginia: reachAll('virginia', port),
  });
  return {
    wan,
    leader,
    nodes,
    clientPorts: fromEverywhere('clientPort'),
    quorumPorts: fromEverywhere('quorumPort'),
    routes,
  };
}

/** The text of a node's `zoo.cfg`. */
export function configOf(layout: Layout, node: NodeLayout, dataFolder: string): string {
  const servers = layout.nodes.map((item) => {
    const quorumPort = item === node ? item.quorumPort : layout.quorumPorts[node.site][item.site];
    return `server.${item.id}=${LOOPBACK}:${quorumPort}:${item.electionPort}${item.isObserver ? ':observer' : ''}`;
  });
  return [
    'tickTime=2000',
    'initLimit=5',
    'syncLimit=5',
    `dataDir=${dataFolder}`,
    `clientPort=${node.clientPort}`,
    `clientPortAddress=${LOOPBACK}`,
    'maxClientCnxns=0',
    'minSessionTimeout=1000',
    'admin.enableServer=false',
    '4lw.commands.whitelist=srvr,ruok,mntr,cons,stat',
    'extendedTypesEnabled=true', // Nodes with a time to live.
    'reconfigEnabled=false', // With it, the proxies' ports would be taken for a change of the ensemble.
    'preAllocSize=1024', // 1 MB of log at a time instead of 64.
    ...(layout.nodes.length === 1 ? [] : ['standaloneEnabled=false', ...servers]),
    ...(node.isObserver ? ['peerType=observer'] : []),
    '',
  ].join('\n');
}
