/**
 * Two real sites of Redis of ours: what listens, what is delayed, and what becomes of them when
 * servers die.
 */
import { expect, onTestFinished, test } from 'vitest';
import {
  findSlot,
  flushAll,
  flushScripts,
  killMaster,
  killWithLoss,
  moveSlot,
  promote,
  restartAll,
  restartFromCopy,
  saveCopy,
  type ShardAddress,
} from '../../../engines/redis/faults.ts';
import { ask } from '../../../engines/redis/ask.ts';
import type { NodeLayout } from '../../../engines/redis/layout.ts';
import { connectForTest, withRedis } from '../support/redis.ts';
import { listeningAddresses } from '../support/listening.ts';
import { medianMs } from '../support/median.ts';

const it = withRedis({ wan: 'paper' });

/** Keys of the shards 0, 1 and 2, found by their slots. */
const KEYS = ['b', 'c', 'a'] as const;
const at = (shard: number): ShardAddress => ({ site: 'dublin', shard });

test('starts three masters with a replica each, at each site', async () => {
  for (const site of ['dublin', 'oregon'] as const) {
    const masters = await Promise.all(it.sites.shards.map((shard) => it.sites.master(site, shard)));
    expect(masters.map((node) => node?.name)).toEqual(
      [0, 1, 2].map((shard) => `${site}-${shard}-0`),
    );
  }
  const client = connectForTest(it.sites, 'dublin');
  for (const [shard, key] of KEYS.entries()) {
    await client.set(key, 'v');
    const master = (await it.sites.master('dublin', shard)) as NodeLayout;
    expect(await ask(master.port, 'KEYS', key)).toEqual([key]);
  }
});

test('listens on the loopback interface only', (context) => {
  context.skip(process.platform !== 'linux', "Linux's tables of sockets are read");
  const { servers, proxies } = it.sites.state;
  const pids = [...Object.values(servers), ...Object.values(proxies)].map(({ pid }) => pid);
  expect(pids).toHaveLength(14);
  for (const pid of pids)
    for (const address of listeningAddresses(pid)) expect(address).toMatch(/^127\./);
});

test('delays clients of the other site on all ways, also after a redirection', async () => {
  const near = connectForTest(it.sites, 'dublin');
  const far = connectForTest(it.sites, 'dublin', 'oregon');
  for (const key of KEYS) {
    await far.set(key, 'far');
    expect(await medianMs(3, () => far.get(key))).toBeGreaterThan(129);
    expect(await medianMs(9, () => near.get(key))).toBeLessThan(130);
  }
});

test('holds what crosses a link that is cut until it is healed', async () => {
  const far = connectForTest(it.sites, 'dublin', 'oregon');
  const near = connectForTest(it.sites, 'dublin');
  await far.set('a', 'before');
  it.sites.cutLink('oregon');
  onTestFinished(() => it.sites.healLink('oregon'));
  let isWritten = false;
  const written = far.set('a', 'cut').then(() => (isWritten = true));
  await medianMs(9, () => near.get('a'));
  expect(await near.get('a')).toBe('before');
  expect(isWritten).toBe(false);
  it.sites.healLink('oregon');
  await written;
  expect(await near.get('a')).toBe('cut');
});

test('promotes the replica of a master that was killed, with all its data', async () => {
  const client = connectForTest(it.sites, 'dublin');
  await client.set(KEYS[0], 'kept');
  const master = (await it.sites.master('dublin', 0)) as NodeLayout;
  await expect.poll(() => ask(master.port, 'WAIT', 1, 1_000)).toBe(1);
  const killed = await killMaster(it.sites, at(0));
  expect(it.sites.isRunning(killed)).toBe(false);
  expect((await it.sites.master('dublin', 0))?.name).not.toBe(killed.name);
  expect(await client.get(KEYS[0])).toBe('kept');
  await restartAll(it.sites, 'dublin');
  expect(it.sites.isRunning(killed)).toBe(true);
});

test('loses the last writes of a master that is killed while its replica is frozen', async () => {
  const client = connectForTest(it.sites, 'dublin');
  const counter = `{${KEYS[1]}}:count`;
  for (let n = 1; n <= 50; n += 1) await client.incr(counter);
  const master = (await it.sites.master('dublin', 1)) as NodeLayout;
  await expect.poll(() => ask(master.port, 'WAIT', 1, 1_000)).toBe(1);
  await killWithLoss(it.sites, at(1), async () => {
    for (let n = 51; n <= 80; n += 1) expect(await client.incr(counter)).toBe(n);
  });
  expect(await client.get(counter)).toBe('50');
  await restartAll(it.sites, 'dublin');
});

test('promotes a replica on request, without a loss', async () => {
  const client = connectForTest(it.sites, 'dublin');
  await client.set(KEYS[2], 'kept');
  const before = await it.sites.master('dublin', 2);
  await promote(it.sites, at(2));
  expect((await it.sites.master('dublin', 2))?.name).not.toBe(before?.name);
  expect(await client.get(KEYS[2])).toBe('kept');
});

test('starts a shard on older data, and empty', async () => {
  const client = connectForTest(it.sites, 'dublin');
  await client.set(KEYS[0], 'then');
  const copy = await saveCopy(it.sites, at(0));
  await client.set(KEYS[0], 'now');
  await restartFromCopy(it.sites, at(0), copy);
  expect(await client.get(KEYS[0])).toBe('then');
  await restartFromCopy(it.sites, at(0));
  expect(await client.get(KEYS[0])).toBeNull();
});

test('flushes a shard alone, and the scripts of a site', async () => {
  const client = connectForTest(it.sites, 'dublin');
  for (const key of KEYS) await client.set(key, 'v');
  await flushAll(it.sites, at(1));
  expect(await Promise.all(KEYS.map((key) => client.get(key)))).toEqual(['v', null, 'v']);
  const master = (await it.sites.master('dublin', 0)) as NodeLayout;
  const sha = String(await ask(master.port, 'SCRIPT', 'LOAD', 'return 1'));
  await flushScripts(it.sites, 'dublin');
  expect(await ask(master.port, 'SCRIPT', 'EXISTS', sha)).toEqual([0]);
});

test('moves a slot with its keys to another shard and back while a client writes', async () => {
  const client = connectForTest(it.sites, 'dublin');
  const key = `{${KEYS[0]}}:moved`;
  const slot = await findSlot(it.sites, key);
  const moving = new AbortController();
  const writing = (async () => {
    let count = 0;
    for (; !moving.signal.aborted; count += 1) expect(await client.incr(key)).toBe(count + 1);
    return count;
  })();
  for (const shard of [1, 2, 0]) {
    await moveSlot(it.sites, slot, at(shard));
    const master = (await it.sites.master('dublin', shard)) as NodeLayout;
    expect(await ask(master.port, 'EXISTS', key)).toBe(1);
  }
  moving.abort();
  expect(await client.get(key)).toBe(String(await writing));
});
