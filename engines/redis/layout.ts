/**
 * Where everything of two sites listens, and the files by which the servers of a site form a
 * cluster at once.
 */
import { createHash } from 'node:crypto';
import type { Route } from '../delay-proxy.ts';
import { freePorts, LOOPBACK } from '../ports.ts';
import { roundTripMs, type Place, type WanPreset } from '../wan.ts';

/** Each site has a cluster of its own. Nothing but the clients of Redis knows of both. */
export const REDIS_SITES = ['dublin', 'oregon'] as const;
export type RedisSite = (typeof REDIS_SITES)[number];

const PLACES: Readonly<Record<RedisSite, Place>> = { dublin: 'ireland', oregon: 'ore' };
const SLOTS = 16_384;

/**
 * One server. A shard is a master and its replicas; after a promotion they have changed their
 * parts.
 */
export interface NodeLayout {
  readonly site: RedisSite;
  readonly shard: number;
  /** 0: starts as the master of its shard. */
  readonly place: number;
  /** As in `dublin-0-1`. */
  readonly name: string;
  /** By which the servers of a cluster know it. */
  readonly id: string;
  readonly port: number;
  readonly busPort: number;
}

export interface Layout {
  readonly wan: WanPreset;
  readonly nodes: readonly NodeLayout[];
  /** The ways of clients of a site to the servers of the other one. */
  readonly routes: Readonly<Record<RedisSite, readonly Route[]>>;
}

export interface LayoutOptions {
  /** In each site. */
  readonly masters: number;
  /** Of each master. */
  readonly replicas: number;
  readonly wan: WanPreset;
}

/**
 * Chooses ports for everything. What crosses sites does so through a proxy, also without delays: so
 * it can be cut.
 *
 * Servers announce their own ports. A client at the other site translates them to the ports of its
 * proxies (`getNatMap`). If the servers announced the proxies, clients beside them would take the
 * long way too.
 */
export async function layOut({ masters, replicas, wan }: LayoutOptions): Promise<Layout> {
  const count = REDIS_SITES.length * masters * (1 + replicas);
  const ports = await freePorts(3 * count);
  const nextPort = (): number => ports.pop() as number;
  const nodes = REDIS_SITES.flatMap((site) =>
    Array.from({ length: masters * (1 + replicas) }, (_, index): NodeLayout => {
      const [shard, place] = [index % masters, Math.floor(index / masters)];
      const name = `${site}-${shard}-${place}`;
      return {
        site,
        shard,
        place,
        name,
        id: createNodeId(name),
        port: nextPort(),
        busPort: nextPort(),
      };
    }),
  );
  const oneWayMs = roundTripMs(wan, PLACES.dublin, PLACES.oregon) / 2;
  const routesFrom = (from: RedisSite): Route[] =>
    nodes
      .filter(({ site }) => site !== from)
      .map(({ port }) => ({ listenPort: nextPort(), targetPort: port, oneWayMs }));
  return { wan, nodes, routes: { dublin: routesFrom('dublin'), oregon: routesFrom('oregon') } };
}

/**
 * Returns where a client of `from` finds the servers of the other site: the option `natMap` of
 * ioredis.
 */
export function getNatMap(
  { routes }: Layout,
  from: RedisSite,
): Record<string, { host: string; port: number }> {
  return Object.fromEntries(
    routes[from].map(({ listenPort, targetPort }) => [
      `${LOOPBACK}:${targetPort}`,
      { host: LOOPBACK, port: listenPort },
    ]),
  );
}

/**
 * Returns the text of `nodes.conf` with which a server starts as a part of its cluster, so that
 * none has to join.
 */
export function createNodesFile({ nodes }: Layout, { site, name }: NodeLayout): string {
  const ofSite = nodes.filter((node) => node.site === site);
  const masters = ofSite.filter(({ place }) => place === 0);
  const lines = ofSite.map((node) => {
    const master = masters[node.shard] as NodeLayout;
    const isMaster = master === node;
    return [
      node.id,
      `${LOOPBACK}:${node.port}@${node.busPort}`,
      [...(node.name === name ? ['myself'] : []), isMaster ? 'master' : 'slave'].join(','),
      isMaster ? '-' : master.id,
      '0 0', // The last ping and pong.
      node.shard + 1, // Epochs of masters differ.
      'connected',
      ...(isMaster ? [getSlotRange(node.shard, masters.length)] : []),
    ].join(' ');
  });
  return [...lines, `vars currentEpoch ${masters.length} lastVoteEpoch 0`, ''].join('\n');
}

function getSlotRange(shard: number, shards: number): string {
  const first = Math.ceil((SLOTS * shard) / shards);
  const end = Math.ceil((SLOTS * (shard + 1)) / shards);
  return `${first}-${end - 1}`;
}

/** Ids of nodes have 40 hexadecimal digits. */
function createNodeId(name: string): string {
  return createHash('sha1').update(name).digest('hex');
}
