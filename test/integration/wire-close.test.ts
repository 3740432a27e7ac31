/**
 * A gateway that closes: what is under way ends first, what has no final goes to the next server.
 */
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { exponentialBackoff, remote } from '../../src/bindings/remote/index.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import {
  LEVELS,
  quietContext,
  RawClient,
  readX,
  SinkDouble,
  startGateway,
  writeX,
  type RunningGateway,
} from '../support/wire.ts';

const GET = ['get', 'read', 3, null];
const PUT = ['put', 'write', 3, null];

interface Scene extends AsyncDisposable {
  readonly server: RunningGateway;
  readonly client: RawClient;
  /**
   * Begins to close the server, and waits until the client has read that; `closed` is fulfilled at
   * the end.
   */
  goAway(drainMs: number, reported?: number): Promise<{ readonly closed: Promise<void> }>;
}

/** A client at a gateway. */
async function connected(): Promise<Scene> {
  const server = await startGateway();
  const client = await RawClient.greeted(server.url);
  return {
    server,
    client,
    async goAway(drainMs, reported = drainMs) {
      const closed = server.listener.close({ drainMs });
      expect([await client.row(), await client.row()]).toEqual([
        [0, 'goaway', reported],
        [1, 'ping'],
      ]);
      return { closed };
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The same, with an operation under way. */
async function underWay(operation: readonly unknown[]) {
  const scene = await connected();
  scene.client.send([1, 'submit', ...operation]);
  const { sink } = await scene.server.store.next();
  return { ...scene, sink };
}

test('close: operation that does not end → closed all the same after the time to drain', async () => {
  await using scene = await underWay(PUT);
  await scene.server.listener.close({ drainMs: 10 });
  expect(await scene.client.closed).toMatchObject({ code: 1001 });
});

test('close: a submission that crosses the goaway → not executed here, and its client gets the failure', async () => {
  await using scene = await underWay(GET);
  const { server, client, sink } = scene;
  const { closed } = await scene.goAway(5_000);
  client.send([2, 'submit', ...PUT], [3, 'ping'], [1, 'pong']);
  expect((await client.row()).slice(0, 3)).toEqual([2, 'fail', 'UNAVAILABLE']);
  expect(await client.row()).toEqual([3, 'pong']);
  sink.view('v', 'strong');
  await closed;
  expect(server.store.submitted).toHaveLength(1);
});

test('close: repetition of a write that has begun crosses the goaway → answered by the first', async () => {
  await using scene = await underWay(PUT);
  const { server, client, sink } = scene;
  const { closed } = await scene.goAway(5_000);
  client.send([1, 'submit', ...PUT], [2, 'ping'], [1, 'pong']);
  expect(await client.row()).toEqual([2, 'pong']);
  sink.view('v', 'strong');
  expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
  await closed;
  expect(server.store.submitted).toHaveLength(1);
});

test('close: client with more to do → moves to the server that comes next, nothing is lost', async () => {
  const first = await startGateway();
  await using proxy = await CutProxy.start(first.url);
  const reconnect = exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 20 });
  const store = remote({ url: proxy.url(first.url), levels: LEVELS, WebSocket, reconnect });
  const under = new SinkDouble();
  store.submitOperation(readX, LEVELS, under, quietContext());
  const { sink } = await first.store.next();
  await using second = await startGateway();
  proxy.retarget(second.url);
  const closed = first.listener.close({ drainMs: 5_000 });
  // The old server is still at work when the new one answers.
  await expect.poll(() => second.gateway.status().connections).toBe(1);
  const later = new SinkDouble();
  store.submitOperation(writeX, LEVELS, later, quietContext());
  (await second.store.next()).sink.view('new server', 'strong');
  expect(await later.call(0)).toMatchObject({ value: 'new server' });
  expect(under.calls).toEqual([]);
  sink.view('old server', 'strong');
  expect(await under.call(0)).toMatchObject({ value: 'old server' });
  expect(first.store.submitted).toHaveLength(1);
  await closed;
  await store.close();
});

test.each([NaN, -1, '5', null])(
  'close: drainMs is %j → INVALID_ARGUMENT naming it, and nothing closes',
  async (drainMs) => {
    await using scene = await connected();
    const { server } = scene;
    const closing = { drainMs } as { drainMs: number };
    for (const closed of [server.gateway.close(closing), server.listener.close(closing)]) {
      await expect(closed).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'drainMs' });
    }
    expect(server.gateway.status()).toMatchObject({ state: 'serving', connections: 1 });
  },
);

test.each([
  [5_000, 5_000],
  [1_500.5, 1_501],
  [Infinity, 2 ** 30],
  [2 ** 40, 2 ** 30],
])(
  'close: drainMs is %d → a client gets %d and its final view, then 1001',
  async (drainMs, reported) => {
    await using scene = await underWay(GET);
    const { server, client, sink } = scene;
    const { closed } = await scene.goAway(drainMs, reported);
    client.send([1, 'pong']);
    sink.view('v', 'strong');
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
    expect(await client.closed).toMatchObject({ code: 1001 });
    await closed;
    expect(server.gateway.status()).toMatchObject({ state: 'closed', connections: 0 });
  },
);

test.each([
  [60_000, 60_000],
  [Infinity, 2 ** 30],
])('close: retried with less time than %d ms → both end then, once', async (drainMs, reported) => {
  await using scene = await underWay(PUT);
  const { server, client } = scene;
  const { closed: first } = await scene.goAway(drainMs, reported);
  // Longer than what it has: that changes nothing.
  const longer = server.gateway.close({ drainMs: Infinity });
  await server.gateway.close({ drainMs: 0 });
  expect(server.gateway.status()).toMatchObject({ state: 'closed', connections: 0 });
  await Promise.all([first, longer]);
  expect(await client.closed).toMatchObject({ code: 1001 });
  await expect(client.row()).rejects.toThrow('closed');
});

test('close: connections while draining → HTTP 503', async () => {
  await using scene = await underWay(GET);
  const { server, client, sink } = scene;
  const closed = server.listener.close({ drainMs: 5_000 });
  await using late = new RawClient(server.url);
  await expect(late.opened()).rejects.toThrow('HTTP 503');
  sink.view('v', 'strong');
  client.send([1, 'pong']);
  await closed;
});

test('close: the client sends goodbye → the server keeps none of its replies', async () => {
  await using server = await startGateway();
  server.store.answer = ({ sink }) => sink.view('v', 'strong');
  const store = remote({ url: server.url, levels: LEVELS, WebSocket });
  const sink = new SinkDouble();
  store.submitOperation(writeX, LEVELS, sink, quietContext());
  await sink.call(0);
  await store.close();
  await expect
    .poll(() => server.gateway.status())
    .toMatchObject({ connections: 0, inFlight: 0, replies: 0 });
});
