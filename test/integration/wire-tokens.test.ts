/** Tokens that end. */
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import { exponentialBackoff, remote } from '../../src/bindings/remote/index.ts';
import type { Principal } from '../../src/server/gateway/context/gateway-context.ts';
import { LEVELS, quietContext, RawClient, SinkDouble, startGateway, StoreDouble, writeX } from '../support/wire.ts';

/** Tokens `name:milliseconds`; they last that long from when they are seen. */
function authenticate(token: string | undefined): Principal {
  const [id, lastsMs] = token?.split(':') ?? [];
  if (id === undefined || lastsMs === undefined) throw new Error('no such token');
  return { id, expiresAt: Date.now() + Number(lastsMs) };
}

const PUT = ['put', 'write', 2, { key: 'x', value: 1 }] as const;

describe('tokens', () => {
  test('welcome → has the remaining time of the token', async () => {
    await using server = await startGateway({ authenticate });
    await using client = new RawClient(server.url);
    const [, , welcome] = await client.greet({ token: 'ada:60000' });
    const { expiresInMs } = welcome as { expiresInMs: number };
    expect(expiresInMs).toBeGreaterThan(50_000);
    expect(expiresInMs).toBeLessThanOrEqual(60_000);
  });

  test('expired → closed with 4402, which a client takes as a reason to come back', async () => {
    await using server = await startGateway({ authenticate });
    await using client = await RawClient.greeted(server.url, { token: 'ada:20' });
    expect((await client.closed).code).toBe(4402);
  });

  test('renewed on the live connection → goes on beyond the first end, operations in flight too', async () => {
    await using server = await startGateway({ authenticate });
    await using client = await RawClient.greeted(server.url, { token: 'ada:60000' });
    client.send([1, 'submit', ...PUT], [0, 'renew', 'ada:90000']);
    const { sink } = await server.store.next();
    const [id, kind, expiresInMs] = await client.row();
    expect([id, kind]).toEqual([0, 'renewed']);
    expect(expiresInMs).toBeGreaterThan(60_000);
    sink.view('v', 'strong');
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
  });

  test.each([
    ['rejected', 'none', 4401],
    ['of another user', 'eve:60000', 4402],
    ['over', 'ada:-1', 4402],
  ])('fresh token is %s → closed with %s', async (_, token, code) => {
    await using server = await startGateway({ authenticate });
    await using client = await RawClient.greeted(server.url, { token: 'ada:60000' });
    client.send([0, 'renew', token]);
    expect((await client.closed).code).toBe(code);
  });

  test('client with a token function → asks it again in time, over one connection', async () => {
    await using server = await startGateway({ authenticate });
    let requested = 0;
    let enough: () => void;
    const thrice = new Promise<void>((resolve) => (enough = resolve));
    const token = (): string => {
      if (++requested === 3) enough();
      return 'ada:200';
    };
    const states: string[] = [];
    const store = remote({
      url: server.url,
      levels: LEVELS,
      WebSocket,
      token,
      onStateChange: (state) => states.push(state),
    });
    await thrice;
    expect(states.filter((state) => state === 'waiting')).toEqual([]);
    await store.close();
  });

  test('expired while the client had no fresh one → it comes back with the next, its write is executed once', async () => {
    const store = new StoreDouble();
    await using server = await startGateway({ authenticate, store });
    const tokens = ['ada:60', 'none', 'ada:60000'];
    const never = new Promise<string>(() => {});
    const reconnect = exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 20 });
    const asks = { count: 0 };
    // The second one, for the renewal, never comes; the third is for the new connection.
    const token = (): string | Promise<string> => (++asks.count === 2 ? never : (tokens[asks.count - 1] as string));
    const client = remote({ url: server.url, levels: LEVELS, WebSocket, token, reconnect });
    const sink = new SinkDouble();
    client.submitOperation(writeX, LEVELS, sink, quietContext());
    const submitted = await store.next();
    while (asks.count < 3 || server.gateway.status().connections === 0) await new Promise(setImmediate);
    await client.ready;
    submitted.sink.view('v', 'strong');
    expect(await sink.call(0)).toMatchObject({ value: 'v' });
    expect(store.submitted).toHaveLength(1);
    await client.close();
  });
});
