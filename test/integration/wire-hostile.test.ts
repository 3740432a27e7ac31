/** Clients that break the rules: each gets an error, and none takes the gateway down. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CorrectableError } from '../../src/correctable/errors.ts';
import type { OperationRegistry } from '../../src/contract/operation-registry.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/codec/version.ts';
import {
  LEVELS,
  RawClient,
  startGateway,
  StoreDouble,
  type RunningGateway,
} from '../support/wire.ts';

const GET = ['get', 'read', 3, { key: 'x' }];
const PUT = ['put', 'write', 3, { key: 'x' }];

/** The gateway is well if it still serves another client. */
async function expectServing(server: RunningGateway): Promise<void> {
  await using client = new RawClient(server.url);
  expect(await client.greet({ client: 'b'.repeat(32) })).toMatchObject([0, 'welcome', {}]);
  server.store.answer = ({ sink }) => sink.view('fine', 'strong');
  client.send([1, 'submit', ...GET]);
  expect(await client.row()).toEqual([1, 'view', 1, 0, 'fine']);
}

describe('wire: handshake', () => {
  test('welcome → version, levels, limits', async () => {
    await using server = await startGateway({ limits: { maxFrameBytes: 5_000, maxInFlight: 7 } });
    await using client = new RawClient(server.url);
    const limits = { maxFrameBytes: 5_000, maxInFlight: 7 };
    expect(await client.greet()).toEqual([
      0,
      'welcome',
      { version: PROTOCOL_VERSION, levels: LEVELS, memoryId: expect.any(String), limits },
    ]);
  });

  test('operation before hello → closed with 4400', async () => {
    await using server = await startGateway();
    await using client = new RawClient(server.url);
    await client.opened();
    client.send([1, 'submit', ...GET]);
    expect(await client.closed).toMatchObject({ code: 4400 });
    expect(server.store.submitted).toEqual([]);
  });

  test.each([
    ['another version', { version: PROTOCOL_VERSION + 1 }, 'hello.version'],
    ['other levels', { levels: ['strong', 'weak'] }, 'hello.levels'],
    [
      'a contract that the server does not have',
      { contract: { name: 'shop', hash: 'x' } },
      'hello.contract',
    ],
  ])('%s → fails with the cause, closed with 4406', async (_, overrides, field) => {
    await using server = await startGateway();
    await using client = new RawClient(server.url);
    expect(await client.greet(overrides)).toMatchObject([
      0,
      'fail',
      'PROTOCOL',
      expect.any(String),
      null,
      { field },
    ]);
    expect(await client.closed).toMatchObject({ code: 4406 });
  });

  test.each(['correctables.v9+json', 'mqtt'])('subprotocol %s → HTTP 400', async (subprotocol) => {
    await using server = await startGateway();
    await using client = new RawClient(server.url, { subprotocol });
    await expect(client.opened()).rejects.toThrow('HTTP 400');
  });
});

describe('wire: authentication of connections', () => {
  test('a page of elsewhere → HTTP 403; a listed page → welcome', async () => {
    await using server = await startGateway({ origins: ['https://shop.example'] });
    await using refused = new RawClient(server.url, { origin: 'https://evil.example' });
    await expect(refused.opened()).rejects.toThrow('HTTP 403');
    await using client = new RawClient(server.url, { origin: 'https://shop.example' });
    expect(await client.greet()).toMatchObject([0, 'welcome', {}]);
  });

  test("another principal with the same client id → does not see the first one's replies", async () => {
    await using server = await startGateway({ authenticate: (token) => ({ id: token ?? '' }) });
    server.store.answer = ({ sink, context }) => sink.view(context.operationId, 'strong');
    await using ada = await RawClient.greeted(server.url, { token: 'ada' });
    ada.send([1, 'submit', ...PUT]);
    await ada.row();
    await using eve = await RawClient.greeted(server.url, { token: 'eve', attempt: 2 });
    eve.send([1, 'submit', ...PUT]);
    expect(await eve.row()).toMatchObject([1, 'view', 1, 0, expect.stringMatching(/^eve\//)]);
    expect(server.store.submitted).toHaveLength(2);
  });
});

describe('wire: operations', () => {
  const shop: OperationRegistry = {
    name: 'shop',
    hash: 'f00',
    operations: { dequeue: { access: 'write', args: z.object({ queue: z.string() }) } },
  };

  test('unknown to the store → UNSUPPORTED', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', 'unknown', 'read', 1, null]);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', 'UNSUPPORTED']);
  });

  test.each([
    ['not in the contract', ['get', 'read', 1, null], 'UNSUPPORTED', undefined],
    [
      'with a bad argument',
      ['dequeue', 'write', 1, { queue: 5 }],
      'INVALID_ARGUMENT',
      'args.queue',
    ],
    ['with another effect', ['dequeue', 'read', 1, { queue: 'q' }], 'INVALID_ARGUMENT', 'access'],
    [
      'at a level that does not exist',
      ['dequeue', 'write', 4, { queue: 'q' }],
      'UNKNOWN_LEVEL',
      'levels',
    ],
  ])('%s → refused, not executed', async (_, row, code, field) => {
    await using server = await startGateway({ contract: shop });
    await using client = await RawClient.greeted(server.url, {
      contract: { name: 'shop', hash: 'f00' },
    });
    client.send([1, 'submit', ...row]);
    const [, , got, , , details] = await client.row();
    expect(got).toBe(code);
    expect((details as { field?: string }).field).toBe(field);
    expect(server.store.submitted).toEqual([]);
  });

  test.each([
    ['ends without a final', () => Promise.resolve(), 'CLOSED_WITHOUT_FINAL'],
    [
      'is rejected',
      () => Promise.reject(new CorrectableError('CONFLICT', 'try again')),
      'CONFLICT',
    ],
  ] as const)('promise of the store %s → %s', async (_, returned, code) => {
    class PromisingStore extends StoreDouble {
      // As a store written with an async method looks to who calls it.
      override submitOperation(): void {
        return returned() as unknown as void;
      }
    }
    await using server = await startGateway({ store: new PromisingStore() });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...GET]);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', code]);
  });

  test('submitted twice on one connection → executed once, answered in full', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...PUT], [1, 'submit', ...PUT]);
    const { sink } = await server.store.next();
    sink.view('v', 'weak');
    sink.view('v', 'strong');
    expect(await client.row()).toEqual([1, 'view', 0, 0, 'v']);
    expect(await client.row()).toEqual([1, 'view', 1, 1, 'v']);
    client.send([1, 'submit', ...PUT]);
    expect(await client.row()).toEqual([1, 'view', 1, 1, 'v']);
    expect(server.store.submitted).toHaveLength(1);
  });

  test('numbers in any order, over and over, acknowledged in between → each executed at most once', async () => {
    await using server = await startGateway();
    server.store.answer = ({ operation, sink }) => sink.view(operation.args, 'strong');
    await using client = await RawClient.greeted(server.url);
    const order = [9, 3, 7, 3, 12, 9, 1, 12, 5, 7, 1, 20, 3];
    for (const id of order) client.send([id, 'submit', 'put', 'write', 2, id]);
    client.send([7, 'ack']);
    for (const id of order) client.send([id, 'submit', 'put', 'write', 2, id]);
    for (const id of order) expect(await client.row()).toEqual([id, 'view', 1, 0, id]);
    for (const id of order) {
      const row = await client.row();
      if (id <= 7) expect(row.slice(0, 3)).toEqual([id, 'fail', 'REPLY_EXPIRED']);
      else expect(row).toEqual([id, 'view', 1, 0, id]);
    }
    const executed = server.store.submitted.map(({ operation }) => operation.args as number);
    expect(executed.toSorted((a, b) => a - b)).toEqual([1, 3, 5, 7, 9, 12, 20]);
  });

  test('a cancelled write → UNKNOWN, since it runs on; a resend still gets its reply', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...PUT], [1, 'cancel']);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', 'UNKNOWN']);
    (await server.store.next()).sink.view('done', 'strong');
    client.send([1, 'submit', ...PUT]);
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'done']);
    expect(server.store.submitted).toHaveLength(1);
  });
});

describe('wire: limits', () => {
  test('repetition of what was executed, at the limit → its reply, never OVERLOADED', async () => {
    await using server = await startGateway({ limits: { maxInFlight: 1 } });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...PUT]);
    (await server.store.next()).sink.view('done', 'strong');
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'done']);
    client.send([2, 'submit', ...GET], [1, 'submit', ...PUT]);
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'done']);
  });

  test('frame beyond the limit → closed with 1009, others are served', async () => {
    await using server = await startGateway({ limits: { maxFrameBytes: 1_000 } });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', 'get', 'read', 1, 'x'.repeat(2_000)]);
    expect(await client.closed).toMatchObject({ code: 1009 });
    await expectServing(server);
  });
});

describe('wire: one client, two connections', () => {
  test('newer connection → the older is closed with 4409 and its writes answer on the newer', async () => {
    await using server = await startGateway();
    await using older = await RawClient.greeted(server.url, { attempt: 1 });
    older.send([1, 'submit', ...PUT]);
    const { sink } = await server.store.next();
    await using newer = await RawClient.greeted(server.url, { attempt: 2 });
    expect(await older.closed).toMatchObject({ code: 4409 });
    newer.send([1, 'submit', ...PUT], [7, 'ping']);
    expect(await newer.row()).toEqual([7, 'pong']);
    sink.view('v', 'strong');
    expect(await newer.row()).toEqual([1, 'view', 1, 0, 'v']);
  });

  test('older connection that arrives late → refused, the newer stays', async () => {
    await using server = await startGateway();
    await using newer = await RawClient.greeted(server.url, { attempt: 2 });
    await using older = new RawClient(server.url);
    await older.opened();
    older.send([0, 'hello', { ...RawClient.hello(), attempt: 1 }]);
    expect(await older.closed).toMatchObject({ code: 4409 });
    newer.send([7, 'ping']);
    expect(await newer.row()).toEqual([7, 'pong']);
  });
});

describe('wire: malformed', () => {
  test('bad row → fails alone with the path of the field, its neighbors are served', async () => {
    await using server = await startGateway();
    server.store.answer = ({ sink }) => sink.view('v', 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send(
      [1, 'submit', ...GET],
      [2, 'submit', 'get', 'destroy', 3, null],
      [3, 'submit', ...GET],
    );
    const rows = [await client.row(), await client.row(), await client.row()];
    expect(rows.find(([id]) => id === 2)).toMatchObject([
      2,
      'fail',
      'PROTOCOL',
      expect.any(String),
      null,
      { field: 'access' },
    ]);
    expect(rows.filter(([, kind]) => kind === 'view').map(([id]) => id)).toEqual([1, 3]);
  });

  test('again and again → closed with 4400', async () => {
    await using server = await startGateway({ bounds: { maxMalformedMessages: 3 } });
    await using client = await RawClient.greeted(server.url);
    for (let i = 0; i < 3; i++) client.sendText('{');
    expect(await client.closed).toMatchObject({ code: 4400 });
  });

  test('binary frame on the text protocol → malformed, connection goes on', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.socket.send(Buffer.from([1, 2, 3]));
    expect((await client.row()).slice(0, 3)).toEqual([0, 'fail', 'PROTOCOL']);
  });
});
