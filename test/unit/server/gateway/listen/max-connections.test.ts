/** How many connections a port takes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createGateway } from '../../../../../src/server/gateway/gateway.ts';
import {
  computeMaxConnections,
  computeMaxConnectionsPerAddress,
} from '../../../../../src/server/gateway/listen/http-server.ts';
import { listenGateways } from '../../../../../src/server/gateway/listen/listen.ts';
import { memory } from '../../../../../src/bindings/memory/index.ts';

test.each([
  { descriptors: Infinity, most: 2 * 100 + 256, why: 'the clients of all sites, and some others' },
  {
    descriptors: 256,
    most: 192,
    why: 'three quarters of the descriptors: the others are for files',
  },
  { descriptors: 128, most: 80, why: 'all but what a process has open before it opens files' },
  { descriptors: 16, most: 1, why: 'one connection' },
])('$descriptors descriptors → $why', async ({ descriptors, most }) => {
  const gateways = ['a', 'b'].map(() =>
    createGateway({ binding: memory(), limits: { maxConnections: 100 } }),
  );
  const [a, b] = gateways as [(typeof gateways)[0], (typeof gateways)[0]];
  expect(computeMaxConnections({ a, b }, descriptors)).toBe(most);
  await Promise.all(gateways.map((gateway) => gateway.close()));
});

test('one address, as far as each site has a bound → its clients and some requests; else as many as there are', () => {
  const [few, any] = [{ maxConnectionsPerAddress: 3 }, {}].map((limits) =>
    createGateway({ binding: memory(), limits }),
  );
  expect(computeMaxConnectionsPerAddress({ a: few!, b: few! })).toBe(2 * 3 + 16);
  expect(computeMaxConnectionsPerAddress({ a: few!, b: any! })).toBe(Infinity);
});

test('connections of one address that say nothing → no more than its part: there is room for another address', async () => {
  const gateway = createGateway({
    binding: memory(),
    limits: { maxConnections: 4, maxConnectionsPerAddress: 2 },
  });
  const listener = await listenGateways({ sites: { here: gateway } });
  const port = Number(new URL(listener.url).port);
  const silent = Array.from({ length: 40 }, () =>
    connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' }),
  );
  const refused = new Set<Socket>();
  const allOthersClosed = new Promise<void>((resolve) => {
    for (const socket of silent) {
      socket.on('error', () => {}).resume();
      socket.once(
        'close',
        () => refused.add(socket).size === silent.length - (2 + 16) && resolve(),
      );
    }
  });
  await allOthersClosed;
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  other.write('GET /ready HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n');
  const [answer] = (await once(other, 'data')) as [Buffer];
  expect(answer.toString()).toMatch('HTTP/1.1 200');
  expect(refused.size).toBe(silent.length - (2 + 16));
  for (const socket of silent) socket.destroy();
  other.destroy();
  await listener.close({ drainMs: 0 });
});
