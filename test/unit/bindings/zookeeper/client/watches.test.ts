/** Watches as the Java client keeps them (docs/spec/zookeeper-client.md). */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper, type WatchEvent } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';

/** Writes down what is heard. */
function listener(): { readonly heard: string[]; readonly watch: (event: WatchEvent) => void } {
  const heard: string[] = [];
  return { heard, watch: ({ type, path }) => void heard.push(`${type} ${path}`) };
}

test('one-time watches → each fires once: data, existence, children', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  const { heard, watch } = listener();
  await zk.exists('/w', { watch });
  await zk.create('/w', null);
  await zk.get('/w', { watch });
  await zk.set('/w', '1');
  await zk.set('/w', '2');
  await zk.children('/w', { watch });
  await zk.create('/w/child', null);
  await zk.create('/w/other', null);
  expect(heard).toEqual(['created /w', 'data-changed /w', 'children-changed /w']);
});

test('a read that fails → leaves no watch, but exists of a node that is not there', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  const [data, existence] = [listener(), listener()];
  await expect(zk.get('/w', { watch: data.watch })).rejects.toMatchObject({ code: 'NO_NODE' });
  await zk.exists('/w', { watch: existence.watch });
  await zk.create('/w', null);
  expect([data.heard, existence.heard]).toEqual([[], ['created /w']]);
});

test('a change → heard before any reply that shows it', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  await using other = new ZooKeeper(ensemble.connectString);
  await zk.create('/w', 'old');
  const order: string[] = [];
  await zk.get('/w', { watch: () => order.push('heard') });
  const change = other.set('/w', 'new');
  for (let isNew = false; !isNew;)
    isNew = Buffer.from((await zk.get('/w')).data ?? []).toString() === 'new';
  order.push('shown');
  await change;
  expect(order).toEqual(['heard', 'shown']);
});

test('persistent and recursive watches → every change; a recursive one hears of nodes, not of lists', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  const [flat, deep] = [listener(), listener()];
  await zk.create('/p', null);
  await zk.watch('/p', flat.watch);
  await zk.watch('/', deep.watch, { isRecursive: true });
  await zk.create('/p/a', null);
  await zk.set('/p', '1');
  await zk.set('/p', '2');
  expect(flat.heard).toEqual(['children-changed /p', 'data-changed /p', 'data-changed /p']);
  expect(deep.heard).toEqual(['created /p/a', 'data-changed /p', 'data-changed /p']);
});

test('the next connection → all are set again with what was seen last, and missed events are reported', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using zk = new ZooKeeper(ensemble.at(0).address);
  await using other = new ZooKeeper(ensemble.at(1).address);
  for (const path of ['/data', '/children', '/gone', '/calm']) await zk.create(path, null);
  const { heard, watch } = listener();
  for (const path of ['/data', '/gone', '/calm']) await zk.get(path, { watch });
  await zk.children('/children', { watch });
  await zk.exists('/absent', { watch });
  ensemble.at(0).connectionsMax = 0;
  ensemble.at(0).cut();
  await other.set('/data', 'x');
  await other.create('/children/a', null);
  await other.delete('/gone');
  await other.create('/absent', null);
  expect(heard).toEqual([]);
  ensemble.at(0).connectionsMax = Infinity;
  await zk.sync();
  const missed = [
    'children-changed /children',
    'created /absent',
    'data-changed /data',
    'deleted /gone',
  ];
  expect(heard.toSorted()).toEqual(missed);
  await other.set('/calm', 'x');
  await zk.sync();
  expect(heard.at(-1)).toBe('data-changed /calm');
  expect(
    ensemble.at(0).requests.some(({ type, xid }) => type === OP.setWatches && xid === -8),
  ).toBe(true);
});

test('very many watches → asked for again in portions that a server takes', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  const name = 'x'.repeat(200);
  const { heard, watch } = listener();
  await Promise.all(Array.from({ length: 1_500 }, (_, n) => zk.exists(`/${name}-${n}`, { watch })));
  zk.dropConnection();
  await zk.create(`/${name}-7`, null);
  const portions = ensemble.server.requests.filter(({ type }) => type === OP.setWatches);
  expect(portions).toHaveLength(3);
  expect(heard).toEqual([`created /${name}-7`]);
});

test('chroot → paths of events and of sequential nodes without it', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using maker = new ZooKeeper(ensemble.connectString);
  await maker.create('/app', null);
  await using zk = new ZooKeeper(`${ensemble.connectString}/app`);
  const { heard, watch } = listener();
  await zk.children('/', { watch });
  expect(await zk.create('/-', null, { mode: 'persistent-sequential' })).toBe('/-0000000000');
  expect(heard).toEqual(['children-changed /']);
});

test('a watch given up → the server forgets it', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  const { heard, watch } = listener();
  const stop = await zk.watch('/p', watch);
  await stop();
  await zk.create('/p', null);
  expect(heard).toEqual([]);
  expect(ensemble.server.requests.filter(({ type }) => type === OP.removeWatches)).toHaveLength(1);
});

test.each(['data', 'exists', 'children'] as const)(
  'a watch stopped while a request for another one (%s) is in flight → the other one fires',
  async (kind) => {
    await using ensemble = await FakeEnsemble.start();
    await using zk = new ZooKeeper(ensemble.connectString);
    await zk.create('/w', null);
    const stop = await zk.watch('/w', () => {});
    const { heard, watch } = listener();
    const asking = {
      data: () => zk.get('/w', { watch }),
      exists: () => zk.exists('/w', { watch }),
      children: () => zk.children('/w', { watch }),
    };
    const requested = asking[kind]();
    const stopped = stop();
    await Promise.all([requested, stopped]);
    if (kind === 'children') await zk.create('/w/a', null);
    else await zk.set('/w', 'x');
    expect(heard).toHaveLength(1);
  },
);

test('a question for a watch that fails → the path is given up again with the last watch', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  const stop = await zk.watch('/w', () => {});
  await zk.get('/w', { watch: () => {} }).catch(() => {});
  await stop();
  expect(ensemble.server.requests.filter(({ type }) => type === OP.removeWatches)).toHaveLength(1);
});
