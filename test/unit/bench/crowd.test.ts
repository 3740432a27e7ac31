/** What a site is held to under a crowd, and the connections of the load generator. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { computeGoalResults, type Name } from '../../../bench/crowd/goals.ts';
import { openConnection } from '../../../bench/crowd/connections.ts';
import { VERSION } from '../../../bench/crowd/requests.ts';
import type { Measured } from '../../../bench/load/processes.ts';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';

function runs(serverUsPerOp: number): Measured[] {
  const item = {
    opsPerSecond: 1,
    clientUsPerOp: 1,
    serverUsPerOp,
    serverCores: 1,
    p50Ms: 1,
    p99Ms: 1,
    p999Ms: 1,
  };
  return Array.from({ length: 7 }, (_, at) => ({ ...item, start: at + 1 }));
}

test.each([
  [14, 'met'],
  [19, 'held'],
  [21, 'missed'],
])('a blue write of %i µs beside an echo of 10 µs is %s', (site, verdict) => {
  const samples = new Map<Name, Measured[]>([
    ['echo', runs(10)],
    ['site', runs(site)],
    ['site, durable', runs(30)],
    ["a day's work", runs(20)],
    ["a day's work, durable", runs(20)],
  ]);
  const bars = computeGoalResults(new Map([['blue', samples]] as const));
  const bar = (name: string): unknown => bars.find((item) => item.name === name);
  expect(bar('blue-time-vs-echo')).toMatchObject({ value: site / 10, floor: 2, aim: 1.5, verdict });
  expect(bar('blue-time-vs-day')).toMatchObject({ value: site / 20, verdict: null });
});

test('a connection reads frames that come in pieces, and answers pings', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await once(server, 'listening');
  const pongs: string[] = [];
  server.on('connection', (socket, { socket: raw }) => {
    socket.on('pong', (data) => pongs.push(data.toString()));
    socket.on('message', (data: Buffer) => {
      socket.ping('alive');
      // One frame of 200 bytes, one byte at a time.
      raw.setNoDelay(true);
      const frame = Buffer.concat([Buffer.from([0x82, 126, 0, 200]), Buffer.alloc(200, data[0])]);
      for (const byte of frame) raw.write(Buffer.from([byte]));
    });
  });
  const connection = await openConnection(
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  for (const byte of [7, 8])
    expect(await connection.ask(Buffer.alloc(300, byte))).toEqual(Buffer.alloc(200, byte));
  while (pongs.length < 2) await setImmediate();
  expect(pongs).toEqual(['alive', 'alive']);
});

test('a crowd speaks the version of the wire that servers have', () => {
  expect(VERSION).toBe(PROTOCOL_VERSION);
});
