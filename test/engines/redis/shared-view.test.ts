/** What the gateways of a site publish together, by the script of the lease on a real server. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../../../engines/redis/single-server.ts';
import { RedisKeyspace } from '../../../src/bindings/causal-redis/keyspace.ts';
import type { ScriptConnection } from '../../../src/bindings/causal-redis/driver.ts';
import { decodeView, encodeView } from '../../../src/bindings/causal-redis/view-codec.ts';
import type { SiteView } from '../../../src/causal/partition-calls.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { mergeViews } from '../../support/merged-view.ts';
import { reasonToSkip } from '../support/missing-tools.ts';

const START_MS = 300_000;
const EXCHANGES = 300;
const SIZES = { siteCount: 2, partitionCount: 5 };
const LEASE_MS = 60_000;

/** Few different numbers, so that many are equal. */
function drawView(random: Random): SiteView {
  const draw = (): number =>
    random.pick([0, 1, 255, 256, 1_795_900_019_894_991, 1_795_900_019_894_992]);
  const drawEach = (count: number): number[] => Array.from({ length: count }, draw);
  const { siteCount, partitionCount } = SIZES;
  return {
    siteTime: draw(),
    stable: drawEach(siteCount),
    lastSeen: drawEach(partitionCount),
    healedAt: drawEach(partitionCount),
    healedTo: drawEach(partitionCount),
  };
}

test.for(['redis', 'valkey'] as const)(
  'a view on %s has what any gateway has seen, and all else of the one with the lease (CAUSAL-13)',
  { timeout: START_MS },
  async (server, context) => {
    const running = await startRedis({ server, durable: false }).catch((error: unknown) =>
      context.skip(reasonToSkip(error)),
    );
    const redis = new Redis(running.url);
    onTestFinished(async () => {
      redis.disconnect();
      await running.stop();
    });
    const keyspace = new RedisKeyspace(redis as unknown as ScriptConnection, 'shop');
    const random = new Random(1);
    const exchange = async (
      gateway: string,
      view: SiteView | undefined,
    ): Promise<SiteView | undefined> => {
      const { partitionCount } = SIZES;
      const bytes = view && encodeView(view);
      const { isLeader, published } = await keyspace.exchangeView({
        gateway,
        leaseMs: LEASE_MS,
        view: bytes,
        partitionCount,
      });
      expect(isLeader).toBe(gateway === 'leader');
      return published && decodeView(published.bytes, 0, SIZES);
    };

    expect(await exchange('leader', undefined)).toBeUndefined();
    expect(await exchange('other', drawView(random))).toBeUndefined();
    let expected = drawView(random);
    expect(await exchange('leader', expected)).toEqual(expected);
    for (let count = 0; count < EXCHANGES; count += 1) {
      const isLeader = random.chance(0.5);
      const view = random.chance(0.1) ? undefined : drawView(random);
      if (view !== undefined) expected = mergeViews(expected, view, isLeader);
      expect(await exchange(isLeader ? 'leader' : 'other', view)).toEqual(expected);
    }
  },
);
