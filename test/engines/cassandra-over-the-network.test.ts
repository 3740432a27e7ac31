/**
 * Each feature of the Cassandra binding works through `httpHandler` and through a gateway, or is
 * refused with the reason.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import {
  cassandra,
  getKeyValueTableCql,
  implementStatements,
  oneRow,
  wasApplied,
} from '../../src/bindings/cassandra/index.ts';
import { http } from '../../src/bindings/http/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';
import { createClient } from '../../src/index.ts';
import { httpHandler } from '../../src/http/index.ts';
import { put } from '../../src/operations/index.ts';
import { createGateway, listenGateways } from '../../src/server/index.ts';
import { transaction } from '../../src/transactions/index.ts';
import { withCassandra } from './support/cassandra.ts';
import { besideFrankfurt } from './support/cassandra-read-strategies.ts';

const it = withCassandra({ nodes: 1 });
const LEVELS = ['weak', 'strong'] as const;

const id = z.object({ id: z.string() });
const people = defineContract('people', {
  ...keyValueOperations,
  register: { access: 'write', args: id, result: z.boolean() },
  age: { access: 'write', args: z.object({ id: z.string(), age: z.unknown() }), result: z.void() },
  person: { access: 'read', args: id, result: z.unknown() },
  lost: { access: 'read', args: id, result: z.unknown() },
});

const statements = implementStatements(people, {
  register: { cql: 'INSERT INTO people (id) VALUES (:id) IF NOT EXISTS', result: wasApplied() },
  age: { cql: 'UPDATE people SET age = :age WHERE id = :id', isIdempotent: true },
  person: { cql: 'SELECT id, age FROM people WHERE id = :id', result: oneRow((row) => row) },
  lost: { cql: 'SELECT id FROM secret_table WHERE id = :id', result: oneRow((row) => row) },
});

beforeAll(async () => {
  if (!it.isThere) return;
  await it.client('frankfurt').execute(getKeyValueTableCql({ keyspace: it.keyspace }));
  await it
    .client('frankfurt')
    .execute(`CREATE TABLE ${it.keyspace}.people (id text PRIMARY KEY, age int)`);
});

function openStore() {
  return cassandra({ ...besideFrankfurt(it), statements });
}

async function openHttp() {
  const store = openStore();
  const handle = httpHandler(people, store, { onError: () => {} });
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await store.close();
  };
  return { binding: http(people, { url: `http://127.0.0.1:${port}/api`, levels: LEVELS }), close };
}

async function openGateway() {
  const store = openStore();
  const listener = await listenGateways({
    sites: { here: createGateway({ binding: store, contract: people }) },
  });
  const close = async (): Promise<void> => {
    await listener.close({ drainMs: 0 });
    await store.close();
  };
  const url = listener.siteUrl('here');
  return { binding: remote({ url, levels: LEVELS, contract: people, WebSocket }), close };
}

describe.each([
  ['http', openHttp],
  ['gateway', openGateway],
] as const)('through %s', (way, open) => {
  async function openClient() {
    const { binding, close } = await open();
    const client = createClient(binding, { timeoutMs: 20_000 });
    onTestFinished(async () => {
      await client.close();
      await close();
    });
    return client;
  }

  test('views arrive up to the final one, and several keys at once', async () => {
    const client = await openClient();
    const key = `views ${way}`;
    await client.invoke(people.put({ key, value: { n: 1 } }));
    const views: unknown[] = [];
    for await (const { level, value } of client.invoke(people.get({ key })))
      views.push([level, value]);
    // On one node, the quorum may be as fast as the first replica.
    expect([
      ['weak', { n: 1 }],
      ['strong', { n: 1 }],
    ]).toEqual(expect.arrayContaining(views));
    expect(views.at(-1)).toEqual(['strong', { n: 1 }]);
    expect(await client.invokeStrong(people.getMany({ keys: [key, 'none'] }))).toEqual([
      { n: 1 },
      undefined,
    ]);
  });

  test('statements: a conditional write, a plain one, and a read', async () => {
    const client = await openClient();
    const person = { id: `ada ${way}` };
    expect([
      await client.invoke(people.register(person)),
      await client.invoke(people.register(person)),
    ]).toEqual([true, false]);
    await client.invoke(people.age({ ...person, age: 36 }));
    expect(await client.invokeStrong(people.person(person))).toEqual({ ...person, age: 36 });
  });

  test('a value that the column does not take → INVALID_ARGUMENT that names it, and nothing is written', async () => {
    const client = await openClient();
    const write = client.invoke(people.age({ id: `bob ${way}`, age: 'young' }));
    await expect(write).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'args.age',
      retryable: false,
    });
    expect(await client.invokeStrong(people.person({ id: `bob ${way}` }))).toBeUndefined();
  });

  test('a missing table → FINAL_FAILED without its name', async () => {
    const client = await openClient();
    const read = client.invokeStrong(people.lost({ id: 'x' }));
    await expect(read).rejects.toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    await expect(read).rejects.not.toThrow(/secret_table/);
  });

  test('a value that must expire, an idempotency key, a transaction → UNSUPPORTED, and nothing is written', async () => {
    const client = await openClient();
    const key = `refused ${way}`;
    const refused = { code: 'UNSUPPORTED', retryable: false };
    await expect(client.invoke(put(key, 1, { ttlMs: 1_000 }))).rejects.toMatchObject(refused);
    await expect(
      client.invoke(people.put({ key, value: 1 }), { idempotencyKey: 'once' }),
    ).rejects.toMatchObject(refused);
    await expect(transaction(client, async (tx) => tx.put(key, 1))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
    expect(await client.invokeStrong(people.get({ key }))).toBeUndefined();
  });
});
