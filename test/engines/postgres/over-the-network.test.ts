/** Each feature of the PostgreSQL binding works through `httpHandler` and through a gateway. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { http } from '../../../src/bindings/http/index.ts';
import { implementStatements, oneRow } from '../../../src/bindings/postgres/index.ts';
import { remote } from '../../../src/bindings/remote/index.ts';
import {
  defineContract,
  keyValueOperations,
  queueOperations,
} from '../../../src/contract/index.ts';
import type { Binding } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { httpHandler } from '../../../src/http/index.ts';
import { getRemaining, put } from '../../../src/operations/index.ts';
import { createGateway, listenGateways } from '../../../src/server/index.ts';
import type { OpenedBinding } from '../../../src/testing/index.ts';
import { transaction } from '../../../src/transactions/index.ts';
import { runConformance } from '../../support/run-conformance.ts';
import { openBinding, prepareTables, untilAllCaughtUp } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();
const LEVELS = ['replica', 'primary'] as const;

/** Other names are refused without a trip. */
const OPERATIONS = [
  'get',
  'getMany',
  'put',
  'enqueue',
  'dequeue',
  'peek',
  'readVersions',
  'commit',
  'lend',
  'loan',
];

const shop = defineContract('shop', {
  ...keyValueOperations,
  ...queueOperations,
  lend: {
    access: 'write',
    args: z.object({ id: z.int() }),
    result: z.object({ days: z.number() }),
  },
  loan: {
    access: 'read',
    args: z.object({ id: z.int() }),
    result: z.optional(z.object({ n: z.int() })),
  },
});

const statements = implementStatements(shop, {
  lend: {
    sql: "insert into loans (id, period) values (:id, '14 days') returning period",
    result: oneRow(({ period }) => ({ days: (period as { days: number }).days })),
  },
  loan: {
    sql: 'select count(*)::int as n from loans where id = :id',
    result: oneRow(({ n }) => ({ n: n as number })),
  },
} as never);

beforeAll(async () => {
  await it.servers.query('primary', 'create table loans (id int, period interval not null)');
  await prepareTables(it.servers);
});

interface OpenedNetwork extends OpenedBinding {
  connect(): Binding<typeof LEVELS>;
  close(): Promise<void>;
}

async function openHttp(): Promise<OpenedNetwork> {
  const store = openBinding(it.servers, { statements });
  const handle = httpHandler(shop, store, { onError: () => {} });
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connect = () =>
    http(shop, { url: `http://127.0.0.1:${port}/api`, levels: LEVELS, hasSessions: true });
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await store.close();
  };
  return {
    binding: connect(),
    secondBinding: async () => connect(),
    connect,
    release: close,
    close,
  };
}

async function openGateway(): Promise<OpenedNetwork> {
  const store = openBinding(it.servers, { statements });
  const listener = await listenGateways({ sites: { here: createGateway({ binding: store }) } });
  const connect = () =>
    remote({
      url: listener.siteUrl('here'),
      levels: LEVELS,
      operations: OPERATIONS,
      hasSessions: true,
      WebSocket,
    });
  const close = async (): Promise<void> => {
    await listener.close({ drainMs: 0 });
    await store.close();
  };
  return {
    binding: connect(),
    secondBinding: async () => connect(),
    connect,
    release: close,
    close,
  };
}

const ways = [
  ['http', openHttp],
  ['gateway', openGateway],
] as const;

for (const [name, open] of ways) {
  runConformance({
    name: `postgres through ${name}`,
    createBinding: async () => {
      await it.servers.query('primary', 'delete from correctables_values');
      await untilAllCaughtUp(it.servers);
      return await open();
    },
    write: shop.put({ key: 'k', value: { n: 1 } }),
    read: shop.get({ key: 'k' }),
    expected: { n: 1 },
  });
}

describe.each(ways)('through %s', (way, open) => {
  async function openClient() {
    const network = await open();
    const client = createClient(network.connect(), { timeoutMs: 20_000 });
    onTestFinished(async () => {
      await client.close();
      await network.close();
    });
    return { client, network };
  }

  // @rule REPL-12
  test('a statement with an idempotency key is executed once, whatever printable key it is', async () => {
    const { client } = await openClient();
    for (const [at, idempotencyKey] of [
      `order-4711 ${way}`,
      ` ein Weg ÷ ☃ % ${way} `,
      way.padEnd(128, 'k'),
    ].entries()) {
      const id = at + (way === 'http' ? 100 : 200);
      const lend = () => client.invoke(shop.lend({ id }), { idempotencyKey });
      expect(await lend()).toEqual({ days: 14 });
      expect(await lend()).toEqual({ days: 14 });
      expect(await client.invokeStrong(shop.loan({ id }))).toEqual({ n: 1 });
      await expect(
        client.invoke(shop.lend({ id: id + 1_000 }), { idempotencyKey }),
      ).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        field: 'idempotencyKey',
      });
    }
  });

  // @rule REPL-12
  test('a dequeue with an idempotency key takes one item', async () => {
    const { client } = await openClient();
    const queue = `seats ${way}`;
    for (const item of ['A1', 'A2']) await client.invoke(shop.enqueue({ queue, item }));
    const take = () => client.invoke(shop.dequeue({ queue }), { idempotencyKey: `seat ${way}` });
    expect(await take()).toEqual({ item: 'A1' });
    expect(await take()).toEqual({ item: 'A1' });
    const view = await client.invoke(shop.peek({ queue })).settle();
    expect([view.value, getRemaining(view)]).toEqual([{ item: 'A2' }, 1]);
  });

  // @rule REPL-5
  test('a session reads its own writes at the replica, also in another client', async () => {
    const { client, network } = await openClient();
    const session = client.session();
    await client.invoke(shop.put({ key: `own ${way}`, value: 1 }), { session });
    const other = createClient(network.connect());
    onTestFinished(() => other.close());
    const moved = other.session({ tokens: session.tokens });
    expect(await other.invokeWeak(shop.get({ key: `own ${way}` }), { session: moved })).toBe(1);
  });

  test('a value that must expire is refused, since PostgreSQL keeps it', async () => {
    const { client } = await openClient();
    await expect(client.invoke(put('short', 1, { ttlMs: 1_000 }))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
    expect(await client.invokeStrong(shop.get({ key: 'short' }))).toBeUndefined();
  });

  test('several keys are read at once', async () => {
    const { client } = await openClient();
    await client.invoke(shop.put({ key: `many ${way}`, value: [1] }));
    expect(await client.invokeStrong(shop.getMany({ keys: [`many ${way}`, 'none'] }))).toEqual([
      [1],
      undefined,
    ]);
  });

  test.runIf(way === 'gateway')('a transaction commits', async () => {
    const { client } = await openClient();
    const count = () =>
      transaction(client, async (tx) => {
        const n = ((await tx.get<number>('visits')) ?? 0) + 1;
        tx.put('visits', n);
        return n;
      });
    expect([await count(), await count()]).toEqual([1, 2]);
  });
});
