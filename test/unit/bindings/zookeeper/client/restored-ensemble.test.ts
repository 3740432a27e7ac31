/** Servers that are all behind what a client has seen. */
import { expect, test } from 'vitest';
import { ZooKeeper, type SessionEvent } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import type { FakeServer } from '../../../../support/zookeeper-server/server.ts';
import { createAgain } from '../set-up.ts';

test('all servers are older than what it has seen → expired, with the reason', async () => {
  await using before = await FakeEnsemble.start(2);
  const zk = new ZooKeeper(before.connectString, { sessionTimeoutMs: 10_000 });
  for (let n = 0; n < 20; n += 1) await zk.exists('/').then(() => zk.create(`/n${n}`, null));
  const ended = new Promise<SessionEvent>((resolve) => {
    zk.onSession((event) => event.type === 'expired' && resolve(event));
  });
  await using after = await createAgain(before);
  await expect.poll(() => zk.state).not.toBe('connected');
  const waiting = zk.exists('/').catch((error: unknown) => error);
  expect(await ended).toMatchObject({ type: 'expired', restoredTo: expect.any(BigInt) as bigint });
  expect(await waiting).toMatchObject({
    code: 'SESSION_EXPIRED',
    message: expect.stringMatching(
      /restored from a backup or created again.* 0x1\w+.* seen 0x1/,
    ) as string,
  });
  expect(after.leader.sessions.size).toBe(0); // The probe has ended its own.
});

/** Opens a client that has seen more than an ensemble that begins again will have. */
async function openWithHistory(servers: string, sessionTimeoutMs: number): Promise<ZooKeeper> {
  const zk = new ZooKeeper(servers, { sessionTimeoutMs });
  for (let n = 0; n < 40; n += 1) await zk.create(`/n${n}`, null);
  return zk;
}

test.each([0, 1, 2])(
  'restored, and server %i serves no client → expired, wherever it was connected',
  async (at) => {
    await using before = await FakeEnsemble.start(3);
    const zk = await openWithHistory(before.connectString, 60_000);
    const { address } = before.at(at);
    zk.preferServer(address);
    await expect.poll(() => zk.server).toBe(address);
    await zk.sync();
    zk.preferServer(undefined);
    await using after = await createAgain(before);
    after.at(at).connectionsMax = 0;
    await expect.poll(() => zk.state, { timeout: 10_000 }).toBe('expired');
  },
);

test('restored, and most servers are away → expired once the session would have expired', async () => {
  await using before = await FakeEnsemble.start(3);
  const zk = await openWithHistory(before.connectString, 1_000);
  await using after = await createAgain(before);
  const startedAtMs = performance.now();
  for (const at of [0, 1]) after.at(at).connectionsMax = 0;
  await expect.poll(() => zk.state, { timeout: 10_000 }).toBe('expired');
  expect(performance.now() - startedAtMs).toBeGreaterThan(900);
});

test('a server of another ensemble, while the others are away → the session goes on', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using stray = await FakeEnsemble.start(1);
  stray.server.connectionsMax = 0;
  await using zk = await openWithHistory(
    `${ensemble.connectString},${stray.connectString}`,
    60_000,
  );
  const { sessionId } = zk;
  stray.server.connectionsMax = Infinity;
  for (const server of ensemble.servers) server.connectionsMax = 0;
  for (const server of ensemble.servers) server.cut();
  await expect.poll(() => zk.state).toBe('connecting');
  const waiting = zk.exists('/n39');
  // Each round ends with a probe, which has seen nothing.
  const countProbes = (): number =>
    stray.server.greetings.filter(({ lastZxid }) => lastZxid === 0n).length;
  await expect.poll(countProbes, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
  for (const server of ensemble.servers) server.connectionsMax = Infinity;
  expect(await waiting).toBeDefined();
  expect(zk.sessionId).toBe(sessionId);
});

test('a server that is behind, and one that is not → no other session', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  const [behind, current] = [ensemble.at(0), ensemble.at(1)] as [FakeServer, FakeServer];
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.whenConnected();
  const { sessionId } = zk;
  zk.preferServer(current.address);
  await expect.poll(() => zk.server).toBe(current.address);
  behind.fromLeader.delayMs = 300;
  await zk.create('/a', null);
  current.connectionsMax = 0;
  current.cut();
  await expect.poll(() => behind.greetings.at(-1)?.isAccepted).toBe(false);
  await zk.exists('/a');
  expect(zk.sessionId).toBe(sessionId);
});

test('no server accepts a session → it waits, and names the last refusal', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using zk = new ZooKeeper(ensemble.connectString, { sessionTimeoutMs: 600 });
  await zk.create('/a', null);
  ensemble.server.connectionsMax = 0;
  ensemble.server.cut();
  await expect.poll(() => ensemble.server.refusals).toBeGreaterThan(0);
  await expect(zk.exists('/a')).rejects.toMatchObject({
    code: 'CONNECTION_LOSS',
    message: expect.stringMatching(
      /no server could be reached for 600 ms \(127.*maxClientCnxns.*not sent/,
    ) as string,
  });
});
