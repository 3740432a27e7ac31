/**
 * What a storm works on: the causal store on the clusters of both sites, or plain Redis as the
 * control.
 */
import type { Cluster } from 'ioredis';
import { REDIS_SITES, type RedisSite } from '../../../engines/redis/layout.ts';
import type { RedisSites } from '../../../engines/redis/sites.ts';
import {
  causalRedis,
  createCausalDeployment,
  type CausalRedisAlarm,
} from '../../../src/bindings/causal-redis/index.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { CausalStore, type StormGateway } from './causal-store.ts';
import { compareSites } from './compare-sites.ts';
import { Checkpoints } from './checkpoint.ts';
import type { LossAlarm, SiteIndex } from './history.ts';
import { withJitter } from './jitter.ts';
import { openPlainStore } from './plain-store.ts';
import type { StormStore } from './stores.ts';

export interface DeploymentOptions {
  readonly gatewaysPerSite: number;
  readonly jitterMs: number;
  readonly random: Random;
  readonly progress: (line: string) => void;
}

export interface Deployment {
  readonly store: StormStore;
  readonly partitionCount: number;
  /** `undefined` where nothing is replicated, and no fault is injected. */
  readonly checkpoints: Checkpoints | undefined;
  readonly alarms: readonly CausalRedisAlarm[];
  readonly lossAlarms: readonly LossAlarm[];
  keyOf(partition: number): string;
  restartGateway(gateway: number): Promise<void>;
  /** Compares what is stored at both sites. Returns what differs. */
  compareSites(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const NAME = 'storm';
const PARTITIONS = 12;
const TOKEN_KEY = 'a key that all gateways share';

const keyOf = (partition: number): string => `{${NAME}:${partition}}`;

/** Clients find a promoted server soon. */
const CONNECTION = { slotsRefreshInterval: 1_000, retryDelayOnFailover: 50 };

export async function openCausalDeployment(
  sites: RedisSites,
  { gatewaysPerSite, jitterMs, random, progress }: DeploymentOptions,
): Promise<Deployment> {
  const connections: Cluster[] = [];
  const connect = (at: RedisSite, from: RedisSite): Cluster => {
    const connection = sites.connect(at, from, CONNECTION);
    connection.on('error', () => {}); // Each command reports its own failure.
    connections.push(connection);
    return withJitter(connection, random, jitterMs);
  };
  const connectAll = (from: RedisSite): Record<RedisSite, Cluster> => ({
    dublin: connect('dublin', from),
    oregon: connect('oregon', from),
  });
  const alarms: CausalRedisAlarm[] = [];
  const lossAlarms: LossAlarm[] = [];
  const onAlarm = (alarm: CausalRedisAlarm): void => {
    alarms.push(alarm);
    progress(`alarm ${alarm.code}: ${alarm.message}`);
    if (alarm.code !== 'lost-writes') return;
    const site = REDIS_SITES.indexOf(alarm.site as RedisSite) as SiteIndex;
    const atMs = performance.now();
    lossAlarms.push(...alarm.partitions.map((partition) => ({ site, partition, atMs })));
  };
  for (const site of REDIS_SITES)
    await createCausalDeployment({
      name: NAME,
      site,
      sites: connectAll(site),
      partitions: PARTITIONS,
    });
  const gateways = REDIS_SITES.flatMap((site, index) =>
    Array.from({ length: gatewaysPerSite }, (): StormGateway => ({
      site: index as SiteIndex,
      open: () =>
        causalRedis({ name: NAME, site, sites: connectAll(site), tokenKey: TOKEN_KEY, onAlarm }),
    })),
  );
  const store = new CausalStore(gateways);
  const partitionKeys = Array.from({ length: PARTITIONS }, (_, partition) => keyOf(partition));
  return {
    store,
    partitionCount: PARTITIONS,
    checkpoints: new Checkpoints(store, PARTITIONS),
    alarms,
    lossAlarms,
    keyOf,
    restartGateway: (gateway) => store.restart(gateway),
    compareSites: () => compareSites(sites, partitionKeys),
    close: async () => {
      await store.close();
      for (const connection of connections) connection.disconnect();
    },
  };
}

/** Plain Redis at one site, without faults: its reads are torn without any. */
export async function openControl(
  sites: RedisSites,
  { gatewaysPerSite, jitterMs, random }: DeploymentOptions,
): Promise<Deployment> {
  const connections = Array.from({ length: 2 * gatewaysPerSite }, () => sites.connect('dublin'));
  const store = openPlainStore(
    connections.map((connection) => withJitter(connection, random, jitterMs)),
  );
  return {
    store,
    partitionCount: PARTITIONS,
    checkpoints: undefined,
    alarms: [],
    lossAlarms: [],
    keyOf,
    restartGateway: async () => {},
    compareSites: async () => [],
    close: async () => {
      for (const connection of connections) connection.disconnect();
    },
  };
}
