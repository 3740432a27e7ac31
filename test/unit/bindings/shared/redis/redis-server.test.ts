import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import {
  RedisServer,
  type RedisServerOptions,
} from '../../../../../src/bindings/shared/redis/redis-server.ts';
import { loadRedisDriver } from '../../../../../src/bindings/shared/redis/redis-driver.ts';
import { virtualClock } from '../../../../../src/testing/index.ts';
import { createReply, FakeRedis, SILENCE, type Answer } from '../../../../support/fake-redis.ts';

const ADDRESS = { host: '10.0.0.1', port: 6379 };

function open(answer: Answer = () => 'OK', options: Partial<RedisServerOptions> = {}) {
  const clock = virtualClock();
  const redis = new FakeRedis();
  redis.servers.set(6379, answer);
  const server = new RedisServer({
    address: ADDRESS,
    redisOptions: {},
    loadDriver: redis.load,
    clock,
    ...options,
  });
  return { clock, redis, server };
}

test('opens one connection for calls that come together', async () => {
  const { redis, server } = open();
  const [first, second] = await Promise.all([server.connect(), server.connect()]);
  expect(first).toBe(second);
  expect(server.ready).toBe(first);
  expect(redis.opened.length).toBe(1);
});

test('names the cause if there is no connection, and tries again after a pause', async () => {
  const { clock, redis, server } = open();
  redis.refusals.set(6379, createReply('WRONGPASS invalid username-password pair.'));
  const message = 'no connection to 10.0.0.1:6379: WRONGPASS invalid username-password pair';
  await expect(server.connect()).rejects.toThrow(message);
  await expect(server.connect()).rejects.toThrow(message);
  expect(redis.opened.length).toBe(1);
  redis.refusals.clear();
  await clock.advance(50);
  await server.connect();
  expect(redis.opened.length).toBe(2);
});

test('reads the options for each connection, so that a password can change', async () => {
  let password = 'first';
  const redisOptions = {
    get password() {
      return password;
    },
  };
  const { redis, server } = open(undefined, { redisOptions });
  server.giveUp(await server.connect(), 'test');
  password = 'second';
  await server.connect();
  expect(redis.opened.map(({ options }) => options.password)).toEqual(['first', 'second']);
});

test('gives a connection up if commands wait and no reply comes', async () => {
  const { clock, redis, server } = open((command) => (command === 'PING' ? 'PONG' : SILENCE), {
    maxSilenceMs: 1_000,
  });
  const client = await server.connect();
  const reply = server.watch(client, client.call('get', 'a'));
  reply.catch(() => {}); // The clock advances first.
  await clock.advance(1_010);
  await expect(reply).rejects.toThrow('the connection was abandoned: no reply came within 1000 ms');
  expect(server.ready).toBeUndefined();
  redis.servers.set(6379, () => 'OK');
  const next = await server.connect();
  expect(await server.watch(next, next.call('get', 'a'))).toBe('OK');
});

test('keeps a connection while replies or bytes arrive', async () => {
  const { clock, redis, server } = open((command) => (command === 'slow' ? SILENCE : 'OK'), {
    maxSilenceMs: 1_000,
  });
  const client = await server.connect();
  server.watch(client, client.call('slow')).catch(() => {});
  for (let at = 0; at < 5; at += 1) {
    await clock.advance(900);
    await server.watch(client, client.call('get', 'a'));
  }
  for (let at = 0; at < 5; at += 1) {
    await clock.advance(600);
    redis.opened[0]!.stream.bytesRead += 1;
  }
  expect(server.ready).toBe(client);
  await clock.advance(2_100);
  expect(server.ready).toBeUndefined();
});

test('probes an idle connection, and gives it up if it is dead', async () => {
  let isDead = false;
  const commands: string[] = [];
  const { clock, server } = open((command) => {
    commands.push(command);
    return isDead ? SILENCE : 'PONG';
  });
  await server.connect();
  await clock.advance(5_010);
  expect(commands).toEqual(['PING', 'PING']);
  expect(server.ready).toBeDefined();
  isDead = true;
  await clock.advance(7_100);
  expect(server.ready).toBeUndefined();
});

test('a server that accepts connections and does not answer is no connection', async () => {
  const { clock, server } = open(() => SILENCE);
  const connecting = server.connect();
  connecting.catch(() => {}); // The clock advances first.
  await clock.advance(2_000);
  await expect(connecting).rejects.toThrow('it did not answer within 2000 ms');
});

test('close ends an attempt that waits', async () => {
  const { server } = open(() => SILENCE);
  const connecting = server.connect();
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  server.close();
  await expect(connecting).rejects.toThrow('it is closed');
});

// @rule REPL-26
test('a frozen server, whose kernel accepts connections, passes no probe', async () => {
  const sockets: Socket[] = [];
  const frozen = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve));
  const clock = virtualClock();
  const { port } = frozen.address() as AddressInfo;
  const server = new RedisServer({
    address: { host: '127.0.0.1', port },
    // With it, `ioredis` sends nothing of its own.
    redisOptions: { protocol: 2 },
    loadDriver: async () => ({ Redis }) as never,
    clock,
  });
  try {
    const probe = server.probe().then(
      () => 'passed',
      (error: Error) => error.message,
    );
    await expect.poll(() => sockets.length).toBe(1);
    expect(
      await Promise.race([probe, new Promise((resolve) => setTimeout(resolve, 50))]),
    ).toBeUndefined();
    await clock.advance(2_000);
    expect(await probe).toBe('it did not answer within 2000 ms');
  } finally {
    server.close();
    for (const socket of sockets) socket.destroy();
    frozen.close();
  }
});

test.each([
  'NOAUTH Authentication required.',
  'LOADING Redis is loading the dataset in memory',
  'ERR max number of clients reached',
])('a server whose first reply is %s is no connection, with that cause', async (reply) => {
  const { server } = open(() => {
    throw createReply(reply);
  });
  await expect(server.connect()).rejects.toThrow(
    `no connection to 10.0.0.1:6379: ${reply.replace(/\.$/, '')}`,
  );
  await expect(server.probe()).rejects.toThrow(reply);
});

// @rule REPL-26
test.each([
  'NOPERM this user may not run ping',
  'MISCONF writes are refused',
  'BUSY a script runs',
  "ERR unknown command 'PING'",
])(
  'a server that replies %s to PING answers, and each command has its own outcome',
  async (reply) => {
    const { server } = open((command) => {
      if (command !== 'PING') return 'OK';
      throw createReply(reply);
    });
    const client = await server.connect();
    expect(await client.call('get', 'a')).toBe('OK');
  },
);

test('a package that is missing is no lost connection', async () => {
  const loadDriver = () =>
    loadRedisDriver('The test', () => Promise.reject(new Error('ERR_MODULE_NOT_FOUND')));
  const { server } = open(undefined, { loadDriver });
  await expect(server.connect()).rejects.toMatchObject({ code: 'UNSUPPORTED', retryable: false });
  await expect(server.probe()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});
