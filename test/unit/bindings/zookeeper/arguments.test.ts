/** What the ZooKeeper client and binding refuse before anything is sent. */
import { expect, test } from 'vitest';
import { checkPath, Chroot } from '../../../../src/bindings/zookeeper/client/path.ts';
import {
  parseConnectString,
  ServerPool,
} from '../../../../src/bindings/zookeeper/client/server-pool.ts';
import { ZooKeeper } from '../../../../src/bindings/zookeeper/client/zookeeper.ts';
import {
  encodeNodeName,
  parseSequenceNumber,
  Paths,
} from '../../../../src/bindings/zookeeper/paths.ts';
import {
  computeMinThreshold,
  assertThreshold,
  zookeeper,
} from '../../../../src/bindings/zookeeper/index.ts';

test.each(['', 'a', '/a/', '//', '/a//b', '/./a', '/a/..', '/\u0000', '/a\ud83d\ude00'])(
  'path: %j → BAD_ARGUMENTS',
  (path) => {
    expect(() => checkPath(path)).toThrow(/BAD_ARGUMENTS/);
  },
);

test.each(['/', '/a', '/a b', '/ä/ö', '/a.b', '/...'])('path: %j → taken', (path) => {
  expect(checkPath(path)).toBe(path);
});

test.each(['a\ud800', '\udc00'])(
  'key, queue: %j, which has half of a surrogate pair → INVALID_ARGUMENT',
  (name) => {
    const paths = new Paths('/shop');
    expect(() => paths.key(name)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'key' }),
    );
    expect(() => paths.queue(name)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'queue' }),
    );
  },
);

test('path: sequential with an empty name → taken, the number follows', () => {
  expect(checkPath('/queue/', true)).toBe('/queue/');
});

test('connect string: hosts, ports, IPv6, chroot → parsed', () => {
  expect(parseConnectString('a:1, b,[::1]:3/app/x')).toEqual({
    servers: [
      { host: 'a', port: 1 },
      { host: 'b', port: 2181 },
      { host: '::1', port: 3 },
    ],
    chroot: '/app/x',
  });
});

test.each(['', 'a:0', 'a:b', 'a,,b', 'a:99999', 'http://a:1'])(
  'connect string: %j → BAD_ARGUMENTS',
  (text) => {
    expect(() => parseConnectString(text)).toThrow(/BAD_ARGUMENTS/);
  },
);

test('chroot: there and back → the same path, and only below it', () => {
  const chroot = new Chroot('/app');
  expect(chroot.toServerPath('/')).toBe('/app');
  expect(chroot.toClientPath('/app')).toBe('/');
  expect(chroot.toClientPath(chroot.toServerPath('/a/b'))).toBe('/a/b');
  expect(chroot.toClientPath('/application')).toBe('/application');
});

test('servers: a failing one → the next; a preferred one → first in each round', () => {
  const { servers } = parseConnectString('a:1,b:2,c:3');
  const ring = new ServerPool(servers);
  const ports = (count: number): number[] =>
    Array.from({ length: count }, () => ring.getNext().server.port);
  expect(ports(4)).toEqual([1, 2, 3, 1]);
  ring.recordSuccess('b:2');
  expect(ports(3)).toEqual([3, 1, 2]);
  ring.preferServer('c:3');
  expect(ports(3)).toEqual([3, 1, 2].toSorted((x, y) => Number(y === 3) - Number(x === 3)));
  expect(ring.getNext().isNewRound).toBe(true);
});

test('client: options and paths that make no sense → named', async () => {
  expect(() => new ZooKeeper('a:1', { sessionTimeoutMs: 0 })).toThrow(/sessionTimeoutMs/);
  await using zk = new ZooKeeper('127.0.0.1:1');
  await expect(zk.multi([{ type: 'delete', path: 'a' }])).rejects.toThrow(/starts with/);
});

test('client: more than a request may hold → refused, not cut off by the server', async () => {
  await using zk = new ZooKeeper('127.0.0.1:1', { maxRequestBytes: 1000 });
  await expect(zk.create('/a', new Uint8Array(2000))).rejects.toThrow(/jute\.maxbuffer/);
});

test('client: no server answers → the request fails unsent, once the session would have expired', async () => {
  await using zk = new ZooKeeper('127.0.0.1:1', { sessionTimeoutMs: 50 });
  await expect(zk.create('/a', null)).rejects.toMatchObject({
    code: 'CONNECTION_LOSS',
    mayHaveTakenEffect: false,
  });
});

test('names: any → one part of a path', () => {
  expect(['a/b', '.', '..', 'ä', 'a b'].map(encodeNodeName)).toEqual([
    'a%2Fb',
    '%2E',
    '%2E%2E',
    '%C3%A4',
    'a%20b',
  ]);
  expect(new Paths('/r').queue('a/b').item(7)).toBe('/r/queues/a%2Fb/i/-0000000007');
  expect(parseSequenceNumber('id.3-0000000042')).toBe(42);
});

test('threshold: what others may take while agreement takes so long → no less will do', () => {
  const consumers = { consumers: 4, maxInFlight: 5, minSlotIntervalMs: 40, commitLatencyMs: 110 };
  expect(computeMinThreshold(consumers)).toBe(60);
  expect(computeMinThreshold({ consumers: 1, maxInFlight: 100 })).toBe(0);
  expect(() => assertThreshold(60, consumers)).not.toThrow();
  expect(() => assertThreshold(59, consumers)).toThrow(/give at least 60/);
});

test('threshold: unknown rates of other consumers → no threshold is enough', () => {
  expect(computeMinThreshold({ consumers: 2, maxInFlight: 1 })).toBe(Infinity);
  expect(computeMinThreshold({ consumers: 2, maxInFlight: 1, minSlotIntervalMs: 40 })).toBe(
    Infinity,
  );
  expect(computeMinThreshold({ consumers: 2, maxInFlight: 1, commitLatencyMs: 40 })).toBe(Infinity);
  expect(() => assertThreshold(1_000_000, { consumers: 2, maxInFlight: 1 })).toThrow(
    /minSlotIntervalMs, commitLatencyMs/,
  );
});

test('binding: an operation that claims another effect than it has → not supported', async () => {
  const binding = zookeeper({ servers: '127.0.0.1:1' });
  expect(binding.supports({ name: 'dequeue', args: {}, access: 'write' })).toBe(true);
  expect(binding.supports({ name: 'dequeue', args: {}, access: 'read' })).toBe(false);
  expect(binding.supports({ name: 'peek', args: {}, access: 'write' })).toBe(false);
  await binding.close();
});
