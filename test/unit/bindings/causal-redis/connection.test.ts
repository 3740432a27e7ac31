import { expect, onTestFinished, test } from 'vitest';
import { getKeySlot } from '../../../../src/bindings/causal-redis/key-slot.ts';
import { OpenedConnection } from '../../../../src/bindings/causal-redis/connection.ts';
import { createReply, FakeRedis, SILENCE, type Answer } from '../../../support/fake-redis.ts';

const MASTER = 'role:master\r\ncluster_enabled:0\r\n';
const REPLICA = 'role:slave\r\ncluster_enabled:0\r\n';

function open(ports: readonly number[]) {
  const redis = new FakeRedis();
  const addresses = ports.map((port) => ({ host: '10.0.0.1', port }));
  const connection = new OpenedConnection(redis.load, { addresses, redisOptions: {} });
  onTestFinished(() => connection.disconnect());
  return { redis, connection };
}

/** A server that answers its port to each command but those for the topology. */
function serve(port: number, topology: () => { info: string; slots?: unknown }): Answer {
  return (command) => {
    if (command === 'INFO') return topology().info;
    if (command === 'CLUSTER') return topology().slots;
    return port;
  };
}

/** Slots 0 to 8191 at one port, and all others at another one. */
function cluster(low: number, high: number): { info: string; slots: unknown } {
  const slots = [
    [0, 8_191, ['', low, 'id']],
    [8_192, 16_383, ['10.0.0.1', high, 'id'], ['10.0.0.1', 9, 'a replica']],
  ];
  return { info: 'role:master\r\ncluster_enabled:1\r\n', slots };
}

test.each([
  ['123456789', 12_739],
  ['{user1000}.following', 3_443],
  ['foo{}{bar}', 8_363],
  ['', 0],
])('the slot of %j is that of Redis', (key, slot) => {
  expect(getKeySlot(key)).toBe(slot);
});

test('uses the first of several servers that is a master', async () => {
  const { redis, connection } = open([1, 2, 3]);
  redis.servers.set(
    1,
    serve(1, () => ({ info: REPLICA })),
  );
  redis.servers.set(
    3,
    serve(3, () => ({ info: MASTER })),
  );
  expect(await connection.call('get', 'a')).toBe(3);
});

test('a silent first server costs a part of a second', async () => {
  const { redis, connection } = open([1, 2]);
  redis.servers.set(1, () => SILENCE);
  redis.servers.set(
    2,
    serve(2, () => ({ info: MASTER })),
  );
  const startedAtMs = performance.now();
  expect(await connection.call('get', 'a')).toBe(2);
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

test('sends each key to the master of its slot', async () => {
  const { redis, connection } = open([1]);
  for (const port of [1, 2])
    redis.servers.set(
      port,
      serve(port, () => cluster(1, 2)),
    );
  expect(await connection.evalshaBuffer('sha', 1, '{user1000}')).toBe(1);
  expect(await connection.evalshaBuffer('sha', 1, 'foo')).toBe(2);
  expect(connection.nodes().length).toBe(2);
});

test('follows a slot that has moved, and one that is on its way', async () => {
  const { redis, connection } = open([1]);
  const commands: string[] = [];
  redis.servers.set(1, (command, ...args) => {
    if (command !== 'get') return serve(1, () => cluster(1, 1))(command);
    throw createReply(args[0] === 'foo' ? 'MOVED 12182 10.0.0.1:2' : 'ASK 3443 10.0.0.1:2');
  });
  redis.servers.set(2, (command) => (commands.push(command), 2));
  expect(await connection.call('get', 'foo')).toBe(2);
  expect(await connection.call('get', 'user1000')).toBe(2);
  expect(commands).toEqual(['PING', 'get', 'ASKING', 'get']);
});

test('after READONLY, the name is looked up again and the server asked for its role', async () => {
  const { redis, connection } = open([1]);
  let isDemoted = false;
  const answer: Answer = (command) => {
    if (command === 'INFO') return isDemoted ? REPLICA : MASTER;
    if (isDemoted && command !== 'PING')
      throw createReply("READONLY You can't write against a read only replica.");
    return 'OK';
  };
  redis.servers.set(1, answer);
  expect(await connection.call('set', 'a', '1')).toBe('OK');
  isDemoted = true;
  await expect(connection.call('set', 'a', '2')).rejects.toThrow('READONLY');
  await expect(connection.call('set', 'a', '2')).rejects.toThrow(
    '10.0.0.1:1 is a replica, and no master',
  );
  isDemoted = false; // The name leads to the new master.
  await expect.poll(() => connection.call('set', 'a', '2').catch(() => 'failed')).toBe('OK');
  expect(redis.opened.length).toBeGreaterThan(1);
});

test('READONLY right after the role was learned → each later failure has that reason, and was not sent', async () => {
  const { redis, connection } = open([1]);
  let isReadOnly = false;
  redis.servers.set(1, (command) => {
    if (command === 'INFO') return MASTER;
    if (isReadOnly && command !== 'PING')
      throw createReply("READONLY You can't write against a read only replica.");
    return 'OK';
  });
  expect(await connection.call('set', 'a', '1')).toBe('OK');
  isReadOnly = true;
  for (let n = 0; n < 4; n += 1)
    await expect(connection.call('set', 'a', '2')).rejects.toThrow('READONLY');
  isReadOnly = false;
  expect(await connection.call('set', 'a', '2')).toBe('OK');
});

test('a master that has gone is looked for among the others', async () => {
  const { redis, connection } = open([1, 2]);
  let at = 3;
  for (const port of [1, 2, 3])
    redis.servers.set(
      port,
      serve(port, () => cluster(1, at)),
    );
  expect(await connection.call('get', 'foo')).toBe(3);
  redis.servers.delete(3);
  redis.refusals.set(3, new Error('connect ECONNREFUSED'));
  at = 2;
  redis.opened.find(({ options }) => options.port === 3)!.disconnect();
  await expect.poll(() => connection.call('get', 'foo').catch(() => 'failed')).toBe(2);
});
