/**
 * The adapter of the red log on a real etcd cluster: every request, and what becomes of it when
 * servers die or freeze.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { EtcdServers } from '../../../src/server/node/etcd/etcd-channel.ts';
import type { Site } from '../../../engines/wan.ts';
import { TestAdapter } from '../support/etcd-adapter.ts';
import { withEtcd } from '../support/etcd.ts';
import { CuttableRoute } from '../support/cuttable-route.ts';

const it = withEtcd();
let tests = 0;

interface Keys {
  readonly key: string;
  readonly end: string;
}

/** An adapter that is connected, and a range of keys of its own. */
async function connect(
  servers: EtcdServers = { endpoints: it.cluster.endpoints() },
): Promise<[TestAdapter, Keys]> {
  const adapter = new TestAdapter(servers);
  onTestFinished(() => adapter.close());
  await adapter.connected();
  tests += 1;
  return [adapter, { key: `/t${tests}/`, end: `/t${tests}0` }];
}

const bytes = (text: string): Buffer => Buffer.from(text);
const create = (key: string, value: string) =>
  ({ kind: 'etcd.create', key, value: bytes(value) }) as const;
const readAll = (keys: Keys) => ({ kind: 'etcd.range', ...keys, limit: 0, revision: 0 }) as const;
const watchFrom = (keys: Keys, fromRevision: number) =>
  ({ kind: 'etcd.watch', ...keys, fromRevision }) as const;

test('create: a key that exists → keeps its value, and the reply is the same', async () => {
  const [adapter, keys] = await connect();
  const first = await adapter.ask(create(`${keys.key}1`, 'first'));
  expect(first).toMatchObject({ kind: 'etcd.created' });
  expect(await adapter.ask(create(`${keys.key}1`, 'second'))).toMatchObject({
    kind: 'etcd.created',
  });
  const read = await adapter.ask(readAll(keys));
  const { revision } = first as { readonly revision: number };
  expect(read).toMatchObject({
    hasMore: false,
    entries: [{ key: `${keys.key}1`, value: bytes('first'), modRevision: revision }],
  });
});

test('range: pages in the order of keys, at one revision', async () => {
  const [adapter, keys] = await connect();
  for (const name of ['b', 'a', 'c']) await adapter.ask(create(keys.key + name, name));
  const read = await adapter.ask({ ...readAll(keys), limit: 2 });
  expect(read).toMatchObject({
    hasMore: true,
    entries: [{ key: `${keys.key}a` }, { key: `${keys.key}b` }],
  });
  const { revision } = read as { readonly revision: number };
  await adapter.ask(create(`${keys.key}d`, 'd'));
  const last = await adapter.ask({ ...readAll(keys), key: `${keys.key}b\0`, revision });
  expect(last).toMatchObject({ hasMore: false, entries: [{ key: `${keys.key}c` }] });
});

test('watch: what is stored from a revision on, in order, and no deletions; progress after it', async () => {
  const [adapter, keys] = await connect();
  const first = (await adapter.ask(create(`${keys.key}1`, '1'))) as { readonly revision: number };
  const watch = adapter.send(watchFrom(keys, first.revision));
  for (const n of [2, 3]) await adapter.ask(create(keys.key + n, String(n)));
  const deleted = await adapter.ask({
    kind: 'etcd.delete',
    key: `${keys.key}1`,
    end: `${keys.key}2`,
  });
  const { revision } = deleted as { readonly revision: number };
  const hasProgress = (): boolean =>
    adapter.list('etcd.progress').some((reply) => reply.revision >= revision);
  // etcd does not answer while the watch is behind.
  await expect.poll(() => [adapter.send({ kind: 'etcd.progress' }), hasProgress()]).toContain(true);
  const events = adapter.list('etcd.events');
  expect(events.every(({ id }) => id === watch)).toBe(true);
  expect(
    events.flatMap(({ entries }) => entries.map(({ value }) => Buffer.from(value).toString())),
  ).toEqual(['1', '2', '3']);
  expect(await adapter.ask(readAll(keys))).toMatchObject({
    entries: [{ key: `${keys.key}2` }, { key: `${keys.key}3` }],
  });
});

test('watch: far behind, with more than a message holds → all comes, in pieces', async () => {
  const [adapter, keys] = await connect();
  const value = Buffer.alloc(1_000_000, 7);
  const first = (await adapter.ask(create(`${keys.key}0`, '0'))) as { readonly revision: number };
  for (let n = 1; n <= 24; n += 1)
    await adapter.ask({ kind: 'etcd.create', key: keys.key + String(n).padStart(2, '0'), value });
  adapter.send(watchFrom(keys, first.revision + 1));
  const count = (): number =>
    adapter.list('etcd.events').reduce((sum, { entries }) => sum + entries.length, 0);
  await adapter.waitFor(() => count() === 24);
  expect(adapter.list('etcd.events').length).toBeGreaterThan(1);
});

test('watch: from a compacted revision → canceled; range there → compacted', async () => {
  const [adapter, keys] = await connect();
  const first = (await adapter.ask(create(`${keys.key}1`, '1'))) as { readonly revision: number };
  const second = (await adapter.ask(create(`${keys.key}2`, '2'))) as { readonly revision: number };
  expect(await adapter.ask({ kind: 'etcd.compact', revision: second.revision })).toMatchObject({
    kind: 'etcd.compacted',
  });
  const reply = await adapter.ask(watchFrom(keys, first.revision));
  expect(reply).toMatchObject({
    kind: 'etcd.canceled',
    message: expect.stringContaining(`revision ${second.revision}`),
  });
  const old = await adapter.ask({ ...readAll(keys), revision: first.revision });
  expect(old).toMatchObject({ kind: 'etcd.failed', reason: 'compacted' });
});

test('too large a value → fails, and the connection goes on', async () => {
  const [adapter, keys] = await connect();
  const failed = await adapter.ask({
    kind: 'etcd.create',
    key: `${keys.key}1`,
    value: Buffer.alloc(1_700_000),
  });
  expect(failed).toMatchObject({
    kind: 'etcd.failed',
    reason: 'other',
    message: expect.stringContaining('too large'),
  });
  expect(await adapter.ask({ kind: 'etcd.status' })).toMatchObject({ quotaBytes: 2 * 1024 ** 3 });
  expect(adapter.list('etcd.disconnected')).toEqual([]);
});

test('reconnect → the next endpoint in a circle, without noticing that the last one is over', async () => {
  const [adapter, keys] = await connect();
  const endpoints = it.cluster.endpoints();
  for (let times = 2; times <= 4; times += 1) {
    adapter.adapter.send({ kind: 'etcd.reconnect' });
    await adapter.connected(times);
    expect(await adapter.ask(readAll(keys))).toMatchObject({ entries: [] });
  }
  const [first, second, third] = endpoints;
  expect(adapter.list('etcd.connected').map(({ endpoint }) => endpoint)).toEqual([
    first,
    second,
    third,
    first,
  ]);
  expect(adapter.list('etcd.disconnected')).toEqual([]);
});

test('the way is cut → disconnected, and at the next endpoint; no reply to what was under way', async () => {
  await using route = await CuttableRoute.open(
    it.cluster.endpoint('ireland').replace('http://', ''),
    0,
  );
  const [adapter, keys] = await connect({
    endpoints: [`http://${route.address}`, it.cluster.endpoint('virginia')],
  });
  adapter.send(watchFrom(keys, 0));
  await adapter.ask(create(`${keys.key}1`, '1'));
  route.down();
  await adapter.wait(({ kind }) => kind === 'etcd.disconnected');
  const before = adapter.replies.length;
  await adapter.connected(2);
  expect(adapter.replies.slice(before)).toEqual([
    { kind: 'etcd.connected', endpoint: it.cluster.endpoint('virginia') },
  ]);
  expect(adapter.adapter.status).toEqual({
    endpoint: it.cluster.endpoint('virginia'),
    isConnected: true,
  });
});

test('no server can be reached → goes on trying, and reports the cause', async () => {
  await using route = await CuttableRoute.open(
    it.cluster.endpoint('ireland').replace('http://', ''),
    0,
  );
  route.down();
  const adapter = new TestAdapter({ endpoints: [`http://${route.address}`] });
  onTestFinished(() => adapter.close());
  await expect.poll(() => adapter.adapter.status.problem).toContain(route.address);
  route.up();
  await adapter.connected();
  expect(adapter.replies).toHaveLength(1);
});

/** How many sockets this process has. */
function countSockets(): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return ''; // Closed meanwhile.
    }
  });
  return links.filter((link) => link.startsWith('socket:')).length;
}

test('a server stands still → close lets go of it at once, and so does the next endpoint', async (context) => {
  context.skip(process.platform !== 'linux', "Linux's table of open files is read");
  const leader = (await it.cluster.leader()) as Site;
  const frozen = it.cluster.sites.find((site) => site !== leader) as Site;
  const [adapter, keys] = await connect({
    endpoints: [it.cluster.endpoint(frozen), it.cluster.endpoint(leader)],
  });
  const [other] = await connect({ endpoints: [it.cluster.endpoint(frozen)] });
  adapter.send(watchFrom(keys, 0));
  other.send(watchFrom(keys, 0));
  const before = countSockets();
  it.cluster.signal(frozen, 'SIGSTOP');
  onTestFinished(() => it.cluster.signal(frozen, 'SIGCONT'));
  adapter.send(create(`${keys.key}1`, '1'));
  other.close();
  adapter.adapter.send({ kind: 'etcd.reconnect' });
  await adapter.connected(2);
  expect(await adapter.ask(create(`${keys.key}2`, '2'))).toMatchObject({ kind: 'etcd.created' });
  await expect.poll(countSockets).toBe(before - 1);
});

test('a server that is cut off from the others → reported', async () => {
  const [adapter, keys] = await connect({ endpoints: [it.cluster.endpoint('ireland')] });
  adapter.send(watchFrom(keys, 0));
  for (const site of ['frankfurt', 'virginia'] as const) it.cluster.signal(site, 'SIGSTOP');
  onTestFinished(async () => {
    for (const site of ['frankfurt', 'virginia'] as const) it.cluster.signal(site, 'SIGCONT');
    await it.cluster.untilServing('ireland');
  });
  expect(await adapter.wait(({ kind }) => kind === 'etcd.canceled')).toMatchObject({
    message: expect.stringContaining('no leader'),
  });
  expect(await adapter.ask(create(`${keys.key}1`, '1'))).toMatchObject({
    kind: 'etcd.failed',
    reason: 'other',
  });
});
