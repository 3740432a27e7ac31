/** The websocket and HTTP clients against a mocked network: the platform's own `WebSocket` and `fetch` are intercepted. */
import { http, HttpResponse, ws as mockedSockets } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { remote } from '../../../src/bindings/remote/index.ts';
import { createClient } from '../../../src/correctable/made/client.ts';
import { get } from '../../../src/operations/index.ts';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import { findSites } from '../../../src/transport/find-sites.ts';
import { LEVELS } from '../../support/wire.ts';

const gateway = mockedSockets.link('ws://gateway.test/irl');
const server = setupServer();
const platformWebSocket: unknown = (globalThis as { WebSocket?: unknown }).WebSocket;

const WELCOME = [
  0,
  'welcome',
  { version: PROTOCOL_VERSION, levels: LEVELS, memory: 'm', limits: { frameBytesMax: 1 << 20, inFlightMax: 100 } },
];

beforeAll(() => {
  // Node 20 has none of its own, and the interception replaces the platform's.
  (globalThis as { WebSocket?: unknown }).WebSocket = WebSocket;
  server.listen({ onUnhandledRequest: 'error' });
});
afterEach(() => server.resetHandlers());
afterAll(() => {
  server.close();
  (globalThis as { WebSocket?: unknown }).WebSocket = platformWebSocket;
});

type Row = readonly unknown[];
type Reply = (row: Row, say: (...rows: Row[]) => void) => void;

/** Answers each row of the client. */
function answer(reply: Reply): void {
  server.use(
    gateway.addEventListener('connection', ({ client }) => {
      const say = (...rows: Row[]): void => client.send(JSON.stringify(rows));
      client.addEventListener('message', ({ data }) => {
        for (const row of JSON.parse(String(data)) as Row[]) reply(row, say);
      });
    }),
  );
}

describe('websocket client, mocked', () => {
  test("the platform's WebSocket → greeted, one request, a preliminary and a confirmed final", async () => {
    const heard: Row[] = [];
    answer((row, say) => {
      heard.push(row);
      if (row[1] === 'hello') say(WELCOME);
      if (row[1] === 'submit') say([row[0], 'view', 0, 0, 'hello'], [row[0], 'confirm', 1, 0]);
    });
    const store = createClient(remote({ url: 'ws://gateway.test/irl', levels: LEVELS, codec: 'json' }));
    const views: unknown[] = [];
    for await (const { level, value, confirms } of store.invoke(get('greeting'))) views.push([level, value, confirms]);
    expect(views).toEqual([
      ['weak', 'hello', false],
      ['strong', 'hello', true],
    ]);
    expect(heard[0]).toMatchObject([0, 'hello', { version: PROTOCOL_VERSION, levels: [...LEVELS] }]);
    expect(heard[1]?.slice(0, 6)).toEqual([1, 'submit', 'get', 'read', 3, { key: 'greeting' }]);
    await store.close();
  });

  test('server refuses for good → the operation fails with its reason, no further attempt', async () => {
    let connections = 0;
    server.use(
      gateway.addEventListener('connection', ({ client }) => {
        connections++;
        client.addEventListener('message', () => client.close(4401, 'the token was refused'));
      }),
    );
    const store = createClient(remote({ url: 'ws://gateway.test/irl', levels: LEVELS, codec: 'json', token: 'old' }));
    await expect(store.invoke(get('k'))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(connections).toBe(1);
    await store.close();
  });
});

describe('HTTP client, mocked', () => {
  const directory = (...names: string[]) =>
    HttpResponse.json({ sites: names.map((name) => ({ name, path: `/${name}` })) });
  const ready = () => HttpResponse.json({ ready: true });

  test('several servers → their sites, the one that answers fastest first', async () => {
    // Time passes with answers only, so that the test does not depend on that of the machine.
    let now = 0;
    const near = { answers: 0 };
    server.use(
      http.get('http://far.test/sites', () => directory('vrg')),
      http.get('http://near.test/sites', () => directory('irl')),
      http.get('http://far.test/ready/vrg', async () => {
        while (near.answers < 3) await new Promise(setImmediate);
        now += 40;
        return ready();
      }),
      http.get('http://near.test/ready/irl', () => {
        near.answers++;
        now += 1;
        return ready();
      }),
    );
    const sites = await findSites(['http://far.test', 'http://near.test'], { now: () => now });
    expect(sites).toEqual(['ws://near.test/irl', 'ws://far.test/vrg']);
  });

  test('site that takes no clients → last', async () => {
    server.use(
      http.get('https://shop.test/sites', () => directory('irl', 'frk')),
      http.get('https://shop.test/ready/irl', () => HttpResponse.json({ ready: false }, { status: 503 })),
      http.get('https://shop.test/ready/frk', ready),
    );
    expect(await findSites('https://shop.test')).toEqual(['wss://shop.test/frk', 'wss://shop.test/irl']);
  });

  test('one server out of reach → the sites of the others', async () => {
    server.use(
      http.get('http://gone.test/sites', () => HttpResponse.error()),
      http.get('http://here.test/sites', () => directory('irl')),
      http.get('http://here.test/ready/irl', ready),
    );
    expect(await findSites(['http://gone.test', 'http://here.test'])).toEqual(['ws://here.test/irl']);
  });

  test.each([
    ['an error', () => new HttpResponse(null, { status: 500 })],
    ['no JSON', () => HttpResponse.text('<html>')],
    ['no directory', () => HttpResponse.json({ sites: 'irl' })],
    ['a name that is no path', () => directory('../admin')],
    ['no sites', () => directory()],
  ])('directory answers with %s → UNAVAILABLE', async (_, respond) => {
    server.use(http.get('http://odd.test/sites', respond));
    await expect(findSites('http://odd.test')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('address that is none → INVALID_ARGUMENT naming the field', async () => {
    await expect(findSites('gateway.test:7070')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'directory',
    });
  });

  test('no time limit, or parts of a millisecond → waits for the answer; one that is none → INVALID_ARGUMENT', async () => {
    server.use(
      http.get('http://here.test/sites', () => directory('irl')),
      http.get('http://here.test/ready/irl', ready),
    );
    for (const timeoutMs of [Infinity, 1_500.5, 999.999_999]) {
      expect(await findSites('http://here.test', { timeoutMs })).toEqual(['ws://here.test/irl']);
    }
    await expect(findSites('http://here.test', { timeoutMs: 0 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'timeoutMs',
    });
  });
});
