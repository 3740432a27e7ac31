/**
 * Two real sites of Redis for the tests of one file, apart from those that a person may have
 * started.
 */
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import type { Cluster } from 'ioredis';
import { useRedis, type UsedRedis } from '../../../engines/redis/engine.ts';
import type { RedisSite } from '../../../engines/redis/layout.ts';
import type { RedisKind, RedisSites } from '../../../engines/redis/sites.ts';
import { reasonToSkip } from './missing-tools.ts';

/** The first time, the server is downloaded. */
const START_MS = 300_000;

/**
 * Starts the sites before the tests of the file and stops them after these. If the server is
 * missing, the tests fail; with SKIP_ENGINES=1 they are skipped, with the reason.
 */
export function withRedis(kind: Partial<RedisKind> = {}): { readonly sites: RedisSites } {
  let used: UsedRedis | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      used = await useRedis(kind, () => {});
    } catch (error) {
      missing = reasonToSkip(error);
    }
  }, START_MS);
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(async () => await used?.stop());
  return {
    get sites() {
      if (used === undefined) throw new Error('the sites have not been started');
      return used.sites;
    },
  };
}

/** Connects a client that waits for a promotion, until the test ends. */
export function connectForTest(sites: RedisSites, at: RedisSite, from: RedisSite = at): Cluster {
  const cluster = sites.connect(at, from, { slotsRefreshInterval: 200, maxRedirections: 200 });
  cluster.on('error', () => {}); // Commands fail with it.
  onTestFinished(() => cluster.disconnect());
  return cluster;
}
