/**
 * Which submissions are executed, in which order, and what becomes of those that wait to be
 * allowed.
 */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { hashOperation } from '../../../../../src/contract/schema-hash.ts';
import type { Welcome } from '../../../../../src/protocol/messages/welcome.ts';
import type {
  Authorize,
  Principal,
} from '../../../../../src/server/gateway/context/gateway-context.ts';
import { RawClient, startGateway, StoreDouble } from '../../../../support/wire.ts';

const UPDATE = ['put', 'write', 2, { key: 'x' }];
const READ = ['get', 'read', 2, { key: 'x' }];
/** The rest of a row up to `again`. */
const AGAIN = [null, null, null, null, null, true];

/** Decisions that the test makes by hand, in any order. */
function byHand(): { authorize: Authorize; decide: (index: number, allowed: boolean) => void } {
  const decisions: ((allowed: boolean) => void)[] = [];
  return {
    decide: (index, allowed) => decisions[index]?.(allowed),
    authorize: () => new Promise((resolve) => decisions.push(resolve)),
  };
}

async function ponged(client: RawClient): Promise<void> {
  client.send([9999, 'ping']);
  expect(await client.row()).toEqual([9999, 'pong']);
}

const executed = (store: StoreDouble): unknown[] =>
  store.submitted.map(({ context }) => context.origin?.sequence);

describe('admission that takes time', () => {
  test('decided in another order → executed in the order of submission', async () => {
    const { authorize, decide } = byHand();
    await using server = await startGateway({ authorize });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], [2, 'submit', ...READ], [3, 'submit', ...UPDATE]);
    await ponged(client);
    decide(2, true);
    decide(1, true);
    await ponged(client);
    expect(executed(server.store)).toEqual([]);
    decide(0, true);
    await ponged(client);
    expect(executed(server.store)).toEqual([1, 2, 3]);
  });

  test('decided at once while an earlier one waits → waits for its turn', async () => {
    const { authorize, decide } = byHand();
    const slow: Authorize = (principal, operation) =>
      operation.access === 'read' ? true : authorize(principal, operation);
    await using server = await startGateway({ authorize: slow });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], [2, 'submit', ...READ]);
    await ponged(client);
    expect(executed(server.store)).toEqual([]);
    decide(0, false);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', 'FORBIDDEN']);
    await ponged(client);
    expect(executed(server.store)).toEqual([2]);
  });

  test('submitted again meanwhile → executed once, answered once', async () => {
    const { authorize, decide } = byHand();
    await using server = await startGateway({ authorize });
    server.store.answer = ({ sink }) => sink.view('v', 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], [1, 'submit', ...UPDATE]);
    await ponged(client);
    decide(0, true);
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
    await ponged(client);
    expect(executed(server.store)).toEqual([1]);
  });

  test('the connection ends in the meantime → nothing starts; the client sends it again on its next connection', async () => {
    const { authorize, decide } = byHand();
    await using server = await startGateway({ authorize });
    await using first = await RawClient.greeted(server.url, { attempt: 1 });
    first.send([1, 'submit', ...UPDATE]);
    await ponged(first);
    await using second = await RawClient.greeted(server.url, { attempt: 2 });
    await first.closed;
    decide(0, true);
    second.send([1, 'submit', ...UPDATE]);
    await ponged(second);
    expect(executed(server.store)).toEqual([]);
    decide(1, true);
    await ponged(second);
    expect(executed(server.store)).toEqual([1]);
  });

  test('the token ends meanwhile → not executed', async () => {
    const { authorize, decide } = byHand();
    const principal: Principal & { expiresAt: number } = {
      id: 'ada',
      expiresAt: Date.now() + 60_000,
    };
    await using server = await startGateway({ authorize, authenticate: () => principal });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE]);
    await ponged(client);
    principal.expiresAt = Date.now() - 1;
    decide(0, true);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', 'UNAUTHENTICATED']);
    expect(executed(server.store)).toEqual([]);
  });

  test('the server drains meanwhile → it waits for the decision and for the answer', async () => {
    const { authorize, decide } = byHand();
    await using server = await startGateway({ authorize });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE]);
    await ponged(client);
    const closed = server.listener.close({ drainMs: 10_000 });
    expect((await client.row())[1]).toBe('goaway');
    expect(await client.row()).toEqual([1, 'ping']);
    client.send([1, 'pong']);
    decide(0, true);
    (await server.store.next()).sink.view('v', 'strong');
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
    await closed;
  });
});

describe('token that has ended', () => {
  test('between two operations, before its timer → the second is not executed', async () => {
    const principal: Principal & { expiresAt: number } = {
      id: 'ada',
      expiresAt: Date.now() + 60_000,
    };
    await using server = await startGateway({ authenticate: () => principal });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE]);
    await ponged(client);
    principal.expiresAt = Date.now() - 1;
    client.send([2, 'submit', ...UPDATE]);
    expect((await client.closed).code).toBe(4402);
    expect(executed(server.store)).toEqual([1]);
  });

  test.each([Infinity, 1e300, undefined])('ends at %s → never', async (expiresAt) => {
    await using server = await startGateway({ authenticate: () => ({ id: 'ada', expiresAt }) });
    await using client = new RawClient(server.url);
    expect((await client.greet())[2]).not.toHaveProperty('expiresInMs');
    await ponged(client);
  });
});

describe('write that was sent before, under another memory', () => {
  test('to a store that keeps no names, unknown here → UNKNOWN, not executed', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE, ...AGAIN]);
    const row = await client.row();
    expect(row.slice(0, 3)).toEqual([1, 'fail', 'UNKNOWN']);
    expect(row[5]).toMatchObject({ retryable: false });
    expect(executed(server.store)).toEqual([]);
  });

  test('known here → its reply', async () => {
    await using server = await startGateway();
    server.store.answer = ({ sink }) => sink.view('v', 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], [1, 'submit', ...UPDATE, ...AGAIN]);
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
    expect(executed(server.store)).toEqual([1]);
  });

  test('to a store that executes each name once → handed to it', async () => {
    const store = new StoreDouble();
    store.isExactlyOnce = true;
    await using server = await startGateway({ store });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE, ...AGAIN]);
    expect((await store.next()).context.operationId).toMatch(/\/1$/);
  });

  test('moved on while it is in flight here, to a store that keeps no names → not executed twice', async () => {
    await using server = await startGateway({ site: 'ireland' });
    await using client = await RawClient.greeted(server.url);
    client.send(
      [1, 'submit', ...UPDATE],
      [1, 'submit', ...UPDATE, null, null, null, null, ['ireland', 2], true],
    );
    (await server.store.next()).sink.view('v', 'strong');
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'v']);
    expect(executed(server.store)).toEqual([1]);
  });
});

describe('numbers', () => {
  test('up to the acknowledged one → REPLY_EXPIRED for a write, executed for a read', async () => {
    await using server = await startGateway();
    server.store.answer = ({ sink }) => sink.view('v', 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send(
      [7, 'ack'],
      [3, 'submit', ...READ],
      [4, 'submit', ...UPDATE],
      [7, 'submit', ...UPDATE],
    );
    expect(await client.row()).toEqual([3, 'view', 1, 0, 'v']);
    for (const id of [4, 7])
      expect((await client.row()).slice(0, 3)).toEqual([id, 'fail', 'REPLY_EXPIRED']);
  });
});

describe('welcome', () => {
  const welcomeOf = async (url: string, overrides: object = {}): Promise<Welcome> => {
    await using client = new RawClient(url);
    return (await client.greet(overrides))[2] as Welcome;
  };

  test('principal → a tag: the same for the same one wherever, never its name; none without authenticate', async () => {
    const authenticate = (token: string | undefined) => ({ id: `user ${token}` });
    await using ireland = await startGateway({ authenticate });
    await using frankfurt = await startGateway({ authenticate });
    await using open = await startGateway();
    const [ada, adaElsewhere, eve] = [
      await welcomeOf(ireland.url, { token: 'ada' }),
      await welcomeOf(frankfurt.url, { token: 'ada' }),
      await welcomeOf(ireland.url, { token: 'eve', attempt: 2 }),
    ].map(({ principal }) => principal);
    expect(ada).toBe(adaElsewhere);
    expect(ada).not.toBe(eve);
    expect(ada).not.toContain('ada');
    expect(await welcomeOf(open.url)).not.toHaveProperty('principal');
  });

  test('memory → the same on the next connection, another at another gateway', async () => {
    await using server = await startGateway();
    await using other = await startGateway();
    const { memoryId } = await welcomeOf(server.url, { attempt: 1 });
    expect(memoryId).toEqual(expect.any(String));
    expect((await welcomeOf(server.url, { attempt: 2 })).memoryId).toBe(memoryId);
    expect((await welcomeOf(other.url)).memoryId).not.toBe(memoryId);
  });

  test('contract of another version → let in, with the fingerprint of each operation; of the same → without', async () => {
    const put = { access: 'write', args: z.object({ key: z.string() }), result: z.null() } as const;
    const contract = defineContract('shop', { put });
    await using server = await startGateway({ contract });
    const { name, hash } = contract;
    expect((await welcomeOf(server.url, { contract: { name, hash } })).contract).toEqual({
      name,
      hash,
    });
    expect(
      (await welcomeOf(server.url, { contract: { name, hash: 'older' }, attempt: 2 })).contract,
    ).toEqual({
      name,
      hash,
      operations: { put: hashOperation(put) },
    });
  });

  test('limits without end → a number that the client can read', async () => {
    await using server = await startGateway({ limits: { maxInFlight: Infinity } });
    expect((await welcomeOf(server.url)).limits.maxInFlight).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('time limits', () => {
  test('deadline of an operation, the machine’s clock is set → by that clock, which bindings read', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...READ, null, 5_000]);
    const { context } = await server.store.next();
    const offByMs = (): number => Math.abs(context.deadlineAt! - 5_000 - Date.now());
    expect(offByMs()).toBeLessThan(5_000);
    const now = Date.now.bind(Date);
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    expect(offByMs()).toBeLessThan(5_000);
    spy.mockRestore();
  });
});

describe('idempotency keys', () => {
  const withKey = (id: number, effect = 'write'): unknown[] => {
    const nothing = Array.from({ length: 6 }, () => null);
    return [
      id,
      'submit',
      effect === 'read' ? 'get' : 'put',
      effect,
      2,
      {},
      ...nothing,
      'order-4711',
    ];
  };

  test('a store with keys → given the key behind the principal, the same from each of its clients', async () => {
    const store = Object.assign(new StoreDouble(), { hasIdempotencyKeys: true });
    await using server = await startGateway({
      store,
      authenticate: (token) => ({ id: token ?? '' }),
    });
    const keys: unknown[] = [];
    for (const [index, token] of ['ada', 'ada', 'b/ob'].entries()) {
      await using client = await RawClient.greeted(server.url, {
        token,
        client: String(index).repeat(32),
      });
      client.send(withKey(1));
      keys.push((await store.next()).context.idempotencyKey);
    }
    expect(keys).toEqual([
      '\u0001ada/order-4711',
      '\u0001ada/order-4711',
      '\u0001b%2Fob/order-4711',
    ]);
  });

  test('a store without keys → UNSUPPORTED for a write, and a read goes without its key', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send(withKey(1), withKey(2, 'read'));
    const [id, kind, code, message, level, details] = await client.row();
    expect([id, kind, code, level, details]).toEqual([
      1,
      'fail',
      'UNSUPPORTED',
      null,
      { retryable: false, field: 'idempotencyKey' },
    ]);
    expect(message).toContain('not applied');
    expect((await server.store.next()).context.idempotencyKey).toBeUndefined();
    expect(executed(server.store)).toEqual([2]);
  });
});
