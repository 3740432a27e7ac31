/** Tokens that end. */
import { describe, expect, test } from 'vitest';
import type { Principal } from '../../src/server/gateway/context/gateway-context.ts';
import { RawClient, startGateway } from '../support/wire.ts';

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

  test('renewed with a token of another user → closed with 4402', async () => {
    await using server = await startGateway({ authenticate });
    await using client = await RawClient.greeted(server.url, { token: 'ada:60000' });
    client.send([0, 'renew', 'eve:60000']);
    expect((await client.closed).code).toBe(4402);
  });
});
