/** The types of the binding fit the clients of ioredis, and the sites that are named. */
import type { Cluster, Redis } from 'ioredis';
import { expectTypeOf, test } from 'vitest';
import {
  causalRedis,
  createCausalDeployment,
  type CausalDeployment,
} from '../../src/bindings/causal-redis/index.ts';
import { createClient } from '../../src/index.ts';

declare const redis: Redis;
declare const cluster: Cluster;

test('a site is a Redis, a Cluster, or its nodes', () => {
  const store = createClient(
    causalRedis({ name: 'shop', site: 'dublin', sites: { dublin: redis, oregon: cluster } }),
  );
  expectTypeOf(store.levels).toEqualTypeOf<readonly ['causal', 'latest']>();
  causalRedis({
    name: 'shop',
    site: 'oregon',
    sites: { dublin: { nodes: ['10.0.0.1:6379'] }, oregon: cluster },
  });
  const prepared = createCausalDeployment({
    name: 'shop',
    site: 'dublin',
    sites: { dublin: redis, oregon: cluster },
  });
  expectTypeOf(prepared).toEqualTypeOf<Promise<CausalDeployment>>();
});

test('other sites and other values are refused', () => {
  // @ts-expect-error no such site
  causalRedis({ name: 'shop', site: 'paris', sites: { dublin: redis, oregon: cluster } });
  // @ts-expect-error neither a client nor nodes
  causalRedis({ name: 'shop', site: 'dublin', sites: { dublin: { host: '10.0.0.1' } } });
});
