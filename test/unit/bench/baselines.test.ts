/** What we are compared with does its best: a handicap of a baseline would be a gain of ours. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { pack, unpack } from 'msgpackr';
import { expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { callsOver } from '../../../bench/load/baseline-client.ts';
import type { BaselineReply, BaselineCall } from '../../../bench/load/baseline-protocol.ts';
import { connectRedis } from '../../../bench/load/redis-client.ts';
import { keepingArgs } from '../../../engines/redis/single-server.ts';
import { NAMES_OF } from '../../../bench/redblue-overhead/goals.ts';
import { TARGETS as OVERHEAD_TARGETS } from '../../../bench/redblue-overhead/targets.ts';
import { PAIRS, TARGETS } from '../../../bench/server/targets.ts';
import { firstOf } from '../../../bench/wire/echo-frame-parts.ts';
import { openEcho } from '../../../bench/wire/echo.ts';

test("a day's client: the calls of a turn go in one frame, at its end, and are answered without a detour", async () => {
  const frames: (readonly BaselineCall[])[] = [];
  let hear = (_frame: Buffer): void => {};
  const call = callsOver({
    send: (frame) => void frames.push(unpack(frame) as readonly BaselineCall[]),
    on: (_, hearing) => (hear = hearing),
  });
  let answered = 0;
  for (let n = 0; n < 10; n += 1) void call('balance', 'ann').then(() => (answered += 1));
  expect(frames).toEqual([]);
  await setImmediate();
  expect(frames.map((calls) => calls.length)).toEqual([10]);
  const answers = frames.flat().map(([id]): BaselineReply => [id, 1]);
  hear(Buffer.from(pack(answers)));
  // Its caller goes on with the first microtask that there is.
  await undefined;
  expect(answered).toBe(10);
});

test('the client of Redis: the commands of a turn go in one write', async () => {
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      const commands = data.toString().match(/^\*\d+\r\n/gm)?.length ?? 0;
      socket.write('$0\r\n\r\n'.repeat(commands));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const redis = connectRedis(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await once(redis, 'ready');
  // Of the socket itself: what has been written in several parts may come in one.
  const write = vi.spyOn(redis.stream, 'write');
  await Promise.all(Array.from({ length: 10 }, (_, n) => redis.get(`key:${n}`)));
  redis.disconnect();
  server.close();
  expect(write).toHaveBeenCalledTimes(1);
});

test('an echo of as many bytes: ten rows of a turn go in one frame', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const frames: Buffer[] = [];
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      frames.push(data);
      socket.send(firstOf(data));
    }),
  );
  const send = await openEcho(
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    () => undefined,
  );
  const rows = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      send(['put', 'write', 2, { key: `key:${n}` }, `key:${n}`]),
    ),
  );
  expect(rows).toHaveLength(10);
  expect(frames).toHaveLength(1);
  for (const client of server.clients) client.terminate();
  server.close();
});

test('Redis keeps what the one beside it keeps: all of it, synced, or nothing', () => {
  expect(keepingArgs(false).join(' ')).toBe('--save  --appendonly no');
  expect(keepingArgs(true).join(' ')).toBe('--save  --appendonly yes --appendfsync always');
  for (const { of, to } of PAIRS) expect(TARGETS[to].durable).toBe(TARGETS[of].durable);
});

test('the same parts batch as the site does, and both are as durable', () => {
  expect(OVERHEAD_TARGETS['one site']).toEqual({ kind: 'redblue', sites: 1, durable: false });
  expect(OVERHEAD_TARGETS['the same parts']).toEqual({ kind: 'plain' });
  expect(OVERHEAD_TARGETS["a day's work, durable"].durable).toBe(
    OVERHEAD_TARGETS['one site, durable'].durable,
  );
  expect(Object.keys(OVERHEAD_TARGETS).toSorted()).toEqual(
    [...new Set(Object.values(NAMES_OF).flat())].toSorted(),
  );
});
