/** A causal deployment on two real sites of Redis, with a name of its own. */
import { randomUUID } from 'node:crypto';
import type { Cluster } from 'ioredis';
import {
  causalRedis,
  createCausalDeployment,
  type CausalLevels,
  type CausalRedisOptions,
} from '../../../src/bindings/causal-redis/index.ts';
import type { Binding } from '../../../src/index.ts';
import { REDIS_SITES, type RedisSite } from '../../../engines/redis/layout.ts';
import type { RedisSites } from '../../../engines/redis/sites.ts';

export const TOKEN_KEY = 'a secret of all processes';

export interface CausalDeployment {
  readonly name: string;
  /** Opens the binding of one more process at a site. `stop` closes it. */
  open(site: RedisSite, options?: Partial<CausalRedisOptions<RedisSite>>): Binding<CausalLevels>;
  stop(): Promise<void>;
}

/**
 * Prepares both sites. Each process of a site has connections of its own, over the delays between
 * the sites.
 */
export async function startDeployment(
  sites: RedisSites,
  partitions = 6,
): Promise<CausalDeployment> {
  const name = `t-${randomUUID().slice(0, 8)}`;
  const clusters: Cluster[] = [];
  const bindings: Binding<CausalLevels>[] = [];
  const connect = (from: RedisSite): Record<RedisSite, Cluster> => {
    const entries = REDIS_SITES.map((at) => {
      const cluster = sites.connect(at, from, { slotsRefreshInterval: 200, maxRedirections: 200 });
      cluster.on('error', () => {}); // Calls fail with it.
      clusters.push(cluster);
      return [at, cluster] as const;
    });
    return Object.fromEntries(entries) as Record<RedisSite, Cluster>;
  };
  for (const site of REDIS_SITES)
    await createCausalDeployment({ name, site, sites: connect(site), partitions });
  return {
    name,
    open: (site, options = {}) => {
      const shared = { name, site, sites: connect(site), tokenKey: TOKEN_KEY, onAlarm: () => {} };
      const binding = causalRedis({ ...shared, ...options });
      bindings.push(binding);
      return binding;
    },
    stop: async () => {
      await Promise.all(bindings.map((binding) => binding.close()));
      for (const cluster of clusters) cluster.disconnect();
    },
  };
}
