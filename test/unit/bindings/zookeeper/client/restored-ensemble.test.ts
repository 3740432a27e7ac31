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
    message: expect.stringMatching(/restored from a backup or created again.* 0x1\w+.* seen 0x1/) as string,
  });
  expect(after.leader.sessions.size).toBe(0); // The probe has ended its own.
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
    message: expect.stringMatching(/no server could be reached for 600 ms \(127.*maxClientCnxns.*not sent/) as string,
  });
});
