/** A read whose strong level fails at once, while the server of its weak view does not answer. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { OP } from '../../../../src/bindings/zookeeper/client/requests.ts';
import { zookeeper, type ZooKeeperLevels } from '../../../../src/bindings/zookeeper/index.ts';
import { createClient, type Client } from '../../../../src/correctable/client/client.ts';
import { systemClock } from '../../../../src/correctable/clock.ts';
import { get } from '../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../support/zookeeper-server/ensemble.ts';

async function setUp(): Promise<Client<ZooKeeperLevels>> {
  const ensemble = await FakeEnsemble.start();
  const binding = zookeeper({ servers: ensemble.connectString });
  await binding.whenConnected();
  const reader = [...ensemble.server.connections].at(-1)?.session;
  const READS: readonly number[] = [OP.exists, OP.getData];
  ensemble.server.onRequest = ({ session, type }) => {
    if (!READS.includes(type)) return undefined;
    return session === reader ? { until: new Promise(() => {}) } : { error: -102 };
  };
  const client = createClient(binding);
  onTestFinished(async () => {
    await client.close();
    await ensemble.stop();
  });
  return client;
}

test('weak and strong → the failure after a second', async () => {
  const client = await setUp();
  const setTimer = vi.spyOn(systemClock, 'setTimer');
  onTestFinished(() => setTimer.mockRestore());
  const isOver = (): (() => void) | undefined =>
    setTimer.mock.calls.find(([, delayMs]) => delayMs === 1_000)?.[0];
  const read = client.invoke(get('k'));
  const failed = Promise.resolve(read).catch((error: unknown) => error);
  await expect.poll(isOver).toBeDefined();
  isOver()?.();
  expect(await failed).toMatchObject({ code: 'FORBIDDEN' });
});

test('the limit of the weak level passes → the failure then', async () => {
  const client = await setUp();
  const failed = client.invoke(get('k'), { levelTimeoutsMs: { weak: 20 } });
  await expect(failed).rejects.toMatchObject({
    code: 'FORBIDDEN',
    levelErrors: { weak: { code: 'TIMEOUT' } },
  });
});
