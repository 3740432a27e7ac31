/** Whether a binding is connected, and why it is not. */
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { zookeeper } from '../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../support/zookeeper-server/ensemble.ts';

test('connected: a server that is there → resolves, also when retried', async () => {
  await using ensemble = await FakeEnsemble.start();
  const binding = zookeeper({ servers: ensemble.connectString });
  await binding.whenConnected();
  await binding.whenConnected();
  await binding.close();
});

test('connected: no server listens → rejects within the session timeout, with the cause', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const binding = zookeeper({ servers: `127.0.0.1:${port}`, sessionTimeoutMs: 200 });
  await expect(binding.whenConnected()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED') as string,
    cause: { code: 'CONNECTION_LOSS' },
  });
  await binding.close();
});

test('connected: an identity that is refused → rejects at once', async () => {
  await using ensemble = await FakeEnsemble.start();
  ensemble.server.refusesAuth = true;
  const auth = { scheme: 'digest', secret: 'ada:wrong' };
  const binding = zookeeper({ servers: ensemble.connectString, auth });
  // The refusal comes behind the connection.
  const code = (): Promise<string> =>
    binding.whenConnected().then(
      () => '',
      (error: { code: string }) => error.code,
    );
  await expect.poll(code).toBe('UNAUTHENTICATED');
  await binding.close();
});

test('connected: closed → rejects, not to be retried', async () => {
  await using ensemble = await FakeEnsemble.start();
  const binding = zookeeper({ servers: ensemble.connectString });
  await binding.close();
  await expect(binding.whenConnected()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryable: false,
  });
});
