/** The same with Valkey, whose servers can have wrong clocks. */
import { expect, onTestFinished, test } from 'vitest';
import { Redis } from 'ioredis';
import { ask } from '../../../engines/redis/ask.ts';
import { killMaster, restartAll } from '../../../engines/redis/faults.ts';
import type { NodeLayout } from '../../../engines/redis/layout.ts';
import { startRedis } from '../../../engines/redis/single-server.ts';
import { connectForTest, withRedis } from '../support/redis.ts';

const it = withRedis({ server: 'valkey', hasFakeClocks: true });

async function readSeconds({ port }: NodeLayout): Promise<number> {
  const [seconds] = (await ask(port, 'TIME')) as [string];
  return Number(seconds);
}

test('promotes a replica, and takes the killed server back', async () => {
  const client = connectForTest(it.sites, 'oregon');
  await client.set('b', 'kept');
  const master = (await it.sites.master('oregon', 0)) as NodeLayout;
  await expect.poll(() => ask(master.port, 'WAIT', 1, 1_000)).toBe(1);
  await killMaster(it.sites, { site: 'oregon', shard: 0 });
  expect(await client.get('b')).toBe('kept');
  await restartAll(it.sites, 'oregon');
});

test('gives one server another time of day, and takes it back', async () => {
  const [node, other] = it.sites.nodes('dublin') as [NodeLayout, NodeLayout];
  const computeOffset = async (): Promise<number> =>
    (await readSeconds(node)) - (await readSeconds(other));
  expect(Math.abs(await computeOffset())).toBeLessThan(60);
  it.sites.setClock(node, 3_600_000);
  await expect.poll(computeOffset).toBeGreaterThan(3_500);
  it.sites.setClock(node, 0);
  await expect.poll(computeOffset).toBeLessThan(60);
});

test.each(['redis', 'valkey'] as const)(
  'starts a single %s that keeps what it has answered',
  async (server) => {
    const { url, stop } = await startRedis({ server, durable: true });
    onTestFinished(stop);
    const client = new Redis(url);
    onTestFinished(() => client.disconnect());
    expect(await client.set('k', 'v')).toBe('OK');
    expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', 'always']);
  },
);
