/**
 * Sessions as the Java client keeps them: over connections, servers and their ends
 * (docs/spec/zookeeper-client.md).
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper, type SessionEvent } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { come, pause } from '../set-up.ts';

function eventOf(zk: ZooKeeper, type: SessionEvent['type']): Promise<SessionEvent> {
  return new Promise((resolve) => {
    const stop = zk.onSession((event) => {
      if (event.type !== type) return;
      stop();
      resolve(event);
    });
  });
}

const typesAt = (ensemble: FakeEnsemble, index = 0): number[] =>
  ensemble.at(index).requests.map(({ type }) => type);

test('requests of one client → executed and answered in the order in which they were made', async () => {
  await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 1, fromLeaderMs: 1 });
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/a', null);
  const answered: number[] = [];
  const note = ({ version }: { readonly version: number }): void => void answered.push(version);
  const sets = Array.from({ length: 20 }, (_, n) =>
    zk.set('/a', `${n}`, { version: n }).then(note),
  );
  await Promise.all(sets);
  expect(answered).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
});

test('a reply that is not due → the connection ends, what was sent is undecided, the session goes on', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/a', null);
  ensemble.server.garble = (frame) => {
    const other = Buffer.from(frame);
    other.writeInt32BE(other.readInt32BE(4) + 1, 4);
    return other;
  };
  const disconnected = eventOf(zk, 'disconnected');
  await expect(zk.set('/a', 'x')).rejects.toMatchObject({
    code: 'CONNECTION_LOSS',
    mayHaveTakenEffect: true,
  });
  expect(await disconnected).toMatchObject({ reason: { code: 'PROTOCOL_ERROR' } });
  ensemble.server.garble = undefined;
  expect((await zk.exists('/a'))?.version).toBe(1);
});

test('a connection lost → what was sent fails, undecided if a write; what was not sent waits for the next', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/a', null);
  ensemble.server.onRequest = () => ({ until: new Promise(() => {}) });
  const [update, read] = [zk.set('/a', 'x'), zk.get('/a')].map((item) =>
    item.catch((error: unknown) => error),
  );
  await come(ensemble.server, 1, ({ type }) => type === OP.getData);
  ensemble.server.onRequest = undefined;
  zk.dropConnection();
  expect(await update).toMatchObject({ code: 'CONNECTION_LOSS', mayHaveTakenEffect: true });
  expect(await read).toMatchObject({ code: 'CONNECTION_LOSS', mayHaveTakenEffect: false });
  expect((await zk.set('/a', 'y')).version).toBe(2);
});

test('the next connection → the same session by number and password, its ephemeral nodes alive', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/e', null, { mode: 'ephemeral' });
  const id = zk.sessionId;
  zk.dropConnection();
  await zk.sync();
  expect(ensemble.at(1).greetings).toMatchObject([{ session: id, isAccepted: true }]);
  expect((await zk.exists('/e'))?.ephemeralOwner).toBe(id);
});

test('a password that is not the session’s → expired, as by the ensemble', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.whenConnected();
  const credentials = { sessionId: zk.sessionId, password: new Uint8Array(16) };
  const thief = new ZooKeeper(ensemble.connectString, { credentials });
  await expect(thief.exists('/')).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
  expect(zk.state).toBe('connected');
});

test('a server that has seen less than the session → refuses, and the next one is taken', async () => {
  await using ensemble = await FakeEnsemble.start(3);
  ensemble.at(1).fromLeader.hold();
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/a', null);
  const seen = zk.lastZxid;
  zk.dropConnection();
  await zk.sync();
  expect(ensemble.at(1).greetings).toMatchObject([{ lastZxid: seen, isAccepted: false }]);
  expect(zk.server).toBe(ensemble.at(2).address);
});

test('what a session has seen → the zxid of replies, not of notifications', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString);
  await using other = new ZooKeeper(ensemble.connectString);
  await zk.create('/a', null);
  const reported = new Promise((resolve) => void zk.exists('/a', { watch: resolve }));
  await zk.sync();
  const seen = zk.lastZxid;
  await other.set('/a', 'x');
  await reported;
  expect(zk.lastZxid).toBe(seen);
  await zk.sync();
  expect(zk.lastZxid).toBeGreaterThan(seen);
});

test('expired by the ensemble → reported once, requests rejected, nothing connects any more', async () => {
  await using ensemble = await FakeEnsemble.start();
  const zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/e', null, { mode: 'ephemeral' });
  const expired = eventOf(zk, 'expired');
  ensemble.leader.expire(zk.sessionId);
  await expired;
  expect(zk.state).toBe('expired');
  await expect(zk.exists('/e')).rejects.toMatchObject({
    code: 'SESSION_EXPIRED',
    mayHaveTakenEffect: false,
  });
  expect(ensemble.children('/')).toEqual([]);
  const { length } = ensemble.server.greetings;
  await pause(100);
  expect(ensemble.server.greetings).toHaveLength(length);
});

test('close → the requests before it are answered, the session ends, its ephemeral nodes with it', async () => {
  await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 2, fromLeaderMs: 2 });
  const zk = new ZooKeeper(ensemble.connectString);
  await zk.whenConnected();
  const made = zk.create('/e', null, { mode: 'ephemeral' });
  const closed = zk.close();
  expect(await made).toBe('/e');
  await closed;
  expect(typesAt(ensemble)).toEqual([OP.create, OP.closeSession]);
  expect([ensemble.children('/'), ensemble.leader.sessions.size]).toEqual([[], 0]);
});

test('nothing sent for a third of the session’s time → a ping, which has no other effect', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString, { sessionTimeoutMs: 300 });
  await zk.whenConnected();
  await expect
    .poll(() => typesAt(ensemble).filter((type) => type === OP.ping).length)
    .toBeGreaterThan(1);
  expect(ensemble.server.requests.find(({ type }) => type === OP.ping)?.xid).toBe(-2);
  expect(await zk.exists('/a')).toBeNull();
  expect(ensemble.server.greetings).toHaveLength(1);
});

test('a server that is silent → left before the session would be over, for the next one', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using zk = new ZooKeeper(ensemble.connectString, { sessionTimeoutMs: 600 });
  await zk.whenConnected();
  const id = zk.sessionId;
  ensemble.at(0).onRequest = () => ({ until: new Promise(() => {}) });
  const from = performance.now();
  const { reason } = (await eventOf(zk, 'disconnected')) as SessionEvent & { type: 'disconnected' };
  expect(performance.now() - from).toBeLessThan(600);
  expect(reason.hint).toMatch(/silent/);
  await zk.sync();
  expect([zk.server, zk.sessionId]).toEqual([ensemble.at(1).address, id]);
});

test('a server partitioned from the others (read-only) → not asked for, refuses, and the next one is taken', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  ensemble.at(0).isReadOnly = true;
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.sync();
  expect(ensemble.at(0).greetings).toMatchObject([{ isReadOnly: false, isAccepted: false }]);
  expect(zk.server).toBe(ensemble.at(1).address);
});

test('a server that turns out to be read-only → left', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  ensemble.at(0).claimsReadOnly = true;
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.sync();
  expect(zk.server).toBe(ensemble.at(1).address);
});

test('identities → on every connection, in their order, before watches and before what waited', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using zk = new ZooKeeper(ensemble.connectString);
  zk.addAuth('digest', 'ada:secret');
  await zk.whenConnected();
  zk.addAuth('digest', 'bob:secret');
  await zk.watch('/', () => {});
  zk.dropConnection();
  await zk.exists('/');
  expect(typesAt(ensemble, 1)).toEqual([OP.auth, OP.auth, OP.setWatches2, OP.exists]);
  for (const { identities } of ensemble.servers)
    expect(identities).toEqual(['digest ada:secret', 'digest bob:secret']);
});

test('a rejected identity → the session has failed for good, with that error', async () => {
  await using ensemble = await FakeEnsemble.start();
  const zk = new ZooKeeper(ensemble.connectString);
  await zk.whenConnected();
  ensemble.server.refusesAuth = true;
  const failed = eventOf(zk, 'auth-failed');
  zk.addAuth('digest', 'ada:wrong');
  await failed;
  await expect(zk.exists('/')).rejects.toMatchObject({ code: 'AUTH_FAILED' });
});

test('servers that cannot be reached → the next one, in the order given; all of them → a pause, longer each time', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  for (const server of ensemble.servers) server.connectionsMax = 0;
  await using zk = new ZooKeeper(ensemble.connectString);
  // The second server is asked only after the first, and both again only after a pause.
  await expect.poll(() => ensemble.at(1).refusals).toBeGreaterThan(1);
  expect(zk.blockedBy).toMatchObject({ code: 'CONNECTION_LOSS' });
  ensemble.at(1).connectionsMax = Infinity;
  await zk.whenConnected();
  expect([zk.server, zk.blockedBy]).toEqual([ensemble.at(1).address, undefined]);
});
