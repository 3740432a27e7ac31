/**
 * The numbers of requests belong to the session: over connections none is used again, and no reply
 * is taken for another's.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import {
  createRandomRequestNumbers,
  createRequestNumbers,
} from '../../../../../src/bindings/zookeeper/client/request-numbers.ts';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/client/zookeeper.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';

const SEQUENTIAL = { mode: 'persistent-sequential' } as const;
const NUMBER_MAX = 2 ** 29 - 1;

test('request numbers: a lost connection → the next one goes on counting', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  for (let n = 0; n < 3; n += 1) {
    await zk.create(`/n${n}`, null);
    zk.dropConnection();
    await zk.sync();
  }
  const xids = ensemble.server.requests.filter(({ xid }) => xid > 0).map(({ xid }) => xid);
  expect(xids).toEqual(xids.map((_, n) => n + 1));
});

test('request numbers: the last one → 1 again; none has the bits that say something else', () => {
  const next = createRequestNumbers(NUMBER_MAX);
  expect([next(), next()]).toEqual([NUMBER_MAX, 1]);
  for (let n = 0; n < 1_000; n += 1) {
    const number = createRandomRequestNumbers()();
    expect(number >= 1 && number <= NUMBER_MAX).toBe(true);
  }
});

test('request numbers: a session of another client taken up → other numbers than that one used', async () => {
  await using ensemble = await FakeEnsemble.start();
  const first = new ZooKeeper(ensemble.connectString);
  await first.sync();
  const { credentials } = first;
  if (credentials === undefined) throw new Error('no session');
  await using second = new ZooKeeper(ensemble.connectString, { credentials });
  await second.sync();
  const [before, after] = ensemble.server.requests
    .filter(({ type }) => type === OP.sync)
    .map(({ xid }) => xid);
  expect(before).toBe(1);
  expect(after).toBeGreaterThan(1);
});

test('a move while a create waits for agreement → the next create has a node of its own, not that one', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using admin = new ZooKeeper(ensemble.connectString);
  await admin.create('/x', null);
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.whenConnected();
  ensemble.leader.agreement.hold();
  const first = zk.create('/x/-', 'first', SEQUENTIAL).catch(() => undefined);
  await expect.poll(() => ensemble.children('/x')).toHaveLength(1);
  ensemble.at(0).cut();
  await first;
  const second = zk.create('/x/-', 'second', SEQUENTIAL);
  await expect.poll(() => ensemble.children('/x')).toHaveLength(2);
  ensemble.leader.agreement.release();
  const { data } = await admin.get(await second);
  expect(Buffer.from(data ?? []).toString()).toBe('second');
  expect(ensemble.at(1).mismatches).toEqual([]);
});

test('a reply with the path of another create → rejected as lost, never taken', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/q', null);
  ensemble.server.mistakes = (path) => (path.startsWith('/q/mine') ? '/q/other-0000000000' : path);
  await expect(zk.create('/q/mine-', null, SEQUENTIAL)).rejects.toMatchObject({
    code: 'CONNECTION_LOSS',
    mayHaveTakenEffect: true,
    hint: expect.stringContaining('the reply is that of another request') as string,
  });
  await expect(zk.multi([{ type: 'create', path: '/q/mine' }])).rejects.toMatchObject({
    mayHaveTakenEffect: true,
  });
  ensemble.server.mistakes = undefined;
  expect(await zk.create('/q/mine-', null, SEQUENTIAL)).toMatch(/^\/q\/mine-\d{10}$/);
});
