/**
 * The Cassandra binding on a real cluster, whichever way it goes there: pages, coordinators, nodes
 * that die.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import {
  cassandra,
  implementStatements,
  getKeyValueTableCql,
  oneRow,
  page,
} from '../../src/bindings/cassandra/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, isCorrectableError, type Client } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';
import { createGateway, listenGateways } from '../../src/server/index.ts';
import { isShort, withCassandra } from './support/cassandra.ts';
import { besideFrankfurt, WAYS, type OpenWay } from './support/cassandra-read-strategies.ts';

const it = withCassandra();

const post = z.object({ at: z.number(), body: z.string() });

const contract = defineContract('posts', {
  ...keyValueOperations,
  timeline: {
    access: 'read',
    args: z.object({
      user: z.string(),
      pageState: z.string().optional(),
      pageSize: z.int().optional(),
    }),
    result: z.object({ rows: z.array(post), pageState: z.string().optional() }),
  },
  write: { access: 'write', args: post.extend({ user: z.string() }), result: z.void() },
  coordinator: { access: 'read', args: z.object({}), result: z.string().optional() },
});

const statements = implementStatements(contract, {
  timeline: {
    cql: 'SELECT at, body FROM posts WHERE user = :user',
    result: page(post, { size: 10 }),
  },
  write: {
    cql: 'INSERT INTO posts (user, at, body) VALUES (:user, :at, :body)',
    isIdempotent: true,
  },
  coordinator: {
    cql: 'SELECT broadcast_address FROM system.local',
    result: oneRow((row) => row['broadcast_address'] as string),
  },
});

beforeAll(async () => {
  const client = it.client('frankfurt');
  const tables = [
    getKeyValueTableCql({ keyspace: it.keyspace }),
    `CREATE TABLE ${it.keyspace}.posts (user text, at int, body text, PRIMARY KEY (user, at))`,
  ];
  for (const table of tables) await client.execute(table);
});

describe.each(WAYS)('cassandra: $name', (way) => {
  let opened: OpenWay;
  let client: Client<readonly ['weak', 'strong']>;

  beforeAll(async () => {
    opened = await way.open(it, { statements, contract });
    client = createClient(opened.binding);
  });
  afterAll(() => opened?.close());

  test('pages: 25 rows, 10 a page → three pages, each row once, in both views', async () => {
    const name = `paged by ${way.name}`;
    const written = Array.from({ length: 25 }, (_, at) => ({ user: name, at, body: `post ${at}` }));
    await Promise.all(written.map((item) => client.invoke(contract.write(item))));
    const seen: number[][] = [];
    for (let pageState: string | undefined, more = true; more; more = pageState !== undefined) {
      const read = client.invoke(contract.timeline({ user: name, pageState }));
      const { value } = await read.settle();
      seen.push(value.rows.map(({ at }) => at));
      pageState = value.pageState;
    }
    expect(seen.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(seen.flat()).toEqual(written.map(({ at }) => at));
    const small = await client.invoke(contract.timeline({ user: name, pageSize: 3 }));
    expect(small.rows.map(({ at }) => at)).toEqual([0, 1, 2]);
  });

  test('coordinator: whatever is read → the closest node', async () => {
    const reads = Array.from({ length: 30 }, () => client.invoke(contract.coordinator({})));
    expect(new Set(await Promise.all(reads))).toEqual(new Set([it.cluster.nodes[0]?.peerAddress]));
  });
});

test('gateway: both views of a large value → it travels once', async () => {
  const value = 'x'.repeat(10_000);
  let received = 0;
  class CountingWebSocket extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      this.on('message', (data: Buffer | ArrayBuffer) => (received += data.byteLength));
    }
  }
  const store = cassandra(besideFrankfurt(it));
  const listener = await listenGateways({
    sites: { frankfurt: createGateway({ binding: store, contract }) },
  });
  const url = listener.siteUrl('frankfurt');
  const client = createClient(
    remote({ url, levels: ['weak', 'strong'], contract, WebSocket: CountingWebSocket }),
  );
  await client.invoke(put('large', value));
  received = 0;
  const read = client.invoke(get('large'));
  const early = await read.when('weak');
  expect(early.value).toBe(value);
  const atFirst = received;
  expect(await read.settle()).toMatchObject({ value, confirms: true });
  expect(atFirst).toBeGreaterThan(value.length);
  expect(received - atFirst).toBeLessThan(100);
  await client.close();
  await listener.close({ drainMs: 0 });
  await store.close();
});

test('tables: missing → FINAL_FAILED with the call that creates them; with createTable → created', async () => {
  const without = createClient(cassandra({ ...besideFrankfurt(it), table: 'not_made' }));
  await expect(without.invoke(get('k'))).rejects.toMatchObject({
    code: 'FINAL_FAILED',
    message: expect.stringContaining('getKeyValueTableCql'),
  });
  await without.close();
  const made = createClient(
    cassandra({ ...besideFrankfurt(it), table: 'not_made', createTable: true }),
  );
  expect(await made.invoke(get('k'))).toBeUndefined();
  await made.close();
});

// The last ones: they kill nodes.
test('two of three nodes die → weak views go on, finals fail with what is known, until the nodes are back', async (context) => {
  context.skip(isShort, 'nodes have to start again: not with --short');
  const client = createClient(cassandra(besideFrankfurt(it)));
  await client.invoke(put('k', 'kept'));
  await Promise.all([it.cluster.kill('ireland'), it.cluster.kill('virginia')]);
  expect(await client.invokeWeak(get('k'))).toBe('kept');
  for (let code: string | undefined; code !== 'UNAVAILABLE';) {
    const error: unknown = await client.invoke(get('k')).catch((reason: unknown) => reason);
    if (!isCorrectableError(error)) throw error;
    expect(['UNAVAILABLE', 'TIMEOUT']).toContain(error.code);
    expect(error.lastView).toMatchObject({ level: 'weak', value: 'kept' });
    ({ code } = error);
  }
  expect(await client.invoke(get('k')).settle({ orLatest: true })).toMatchObject({
    value: 'kept',
    final: false,
  });
  await expect(client.invoke(put('k', 'refused'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryable: true,
  });
  await Promise.all([it.cluster.restart('ireland'), it.cluster.restart('virginia')]);
  expect(await client.invoke(get('k'))).toBe('kept');
  await client.close();
});
