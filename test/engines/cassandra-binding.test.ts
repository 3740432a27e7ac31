/** The Cassandra binding on a real cluster, whichever way it goes there: values, pages, corrections, nodes that die. */
import cassandraDriver from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { cassandra, implementStatements, keyValueTable, one, page, rows } from '../../src/bindings/cassandra/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, isCorrectableError, type Client } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';
import { createGateway, listenGateways } from '../../src/server/index.ts';
import { isShort, withCassandra } from './support/cassandra.ts';
import { besideFrankfurt, WAYS, type OpenWay } from './support/cassandra-ways.ts';

const { all, one: oneReplica } = cassandraDriver.types.consistencies;
const it = withCassandra();

const user = z.object({ user: z.string() });
const post = z.object({ at: z.number(), body: z.string() });

const contract = defineContract('posts', {
  ...keyValueOperations,
  everyType: { effect: 'read', args: z.object({ id: z.number() }), result: z.unknown() },
  timeline: {
    effect: 'read',
    args: z.object({ user: z.string(), pageState: z.string().optional(), pageSize: z.int().optional() }),
    result: z.object({ rows: z.array(post), pageState: z.string().optional() }),
  },
  newest: { effect: 'read', args: user, result: z.array(z.number()) },
  write: { effect: 'update', args: post.extend({ user: z.string() }), result: z.void() },
  coordinator: { effect: 'read', args: z.object({}), result: z.string().optional() },
});

const statements = implementStatements(contract, {
  everyType: { cql: 'SELECT * FROM every_type WHERE id = :id', result: one((row): unknown => row) },
  timeline: { cql: 'SELECT at, body FROM posts WHERE user = :user', result: page(post, { size: 10 }) },
  newest: { cql: 'SELECT at FROM posts WHERE user = :user', result: rows((row) => row['at'] as number, { max: 20 }) },
  write: { cql: 'INSERT INTO posts (user, at, body) VALUES (:user, :at, :body)', idempotent: true },
  coordinator: {
    cql: 'SELECT broadcast_address FROM system.local',
    result: one((row) => row['broadcast_address'] as string),
  },
});

beforeAll(async () => {
  const client = it.client('frk');
  const tables = [
    keyValueTable({ keyspace: it.keyspace }),
    `CREATE TYPE ${it.keyspace}.place (street text, number varint)`,
    `CREATE TABLE ${it.keyspace}.posts (user text, at int, body text, PRIMARY KEY (user, at))`,
    `CREATE TABLE ${it.keyspace}.every_type (id int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e decimal, f double,
       g float, h inet, j list<bigint>, k map<text, int>, l set<uuid>, m timestamp, n timeuuid, o uuid, p varint, q date,
       r time, s duration, t tuple<int, text>, u smallint, v tinyint, w map<int, text>, x frozen<place>, y text,
       z vector<float, 2>)`,
  ];
  for (const table of tables) await client.execute(table);
  await client.execute(
    `INSERT INTO ${it.keyspace}.every_type (id, a, b, c, d, e, f, g, h, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, z)
       VALUES (1, 'a', -9007199254740993, 0x00ff, true, 1.250, 1.5, 0.5, '::1', [1, 2], {'one': 1}, {${UUID}}, 1000,
       ${TIMEUUID}, ${UUID}, 123456789012345678901, '2026-01-02', '10:20:30.5', 1mo2d3h, (1, 'x'), 3, 4, {1: 'one'},
       {street: 'High', number: 7}, [1.5, 2])`,
    [],
    { consistency: all },
  );
});

const UUID = '00000000-0000-4000-8000-000000000001';
const TIMEUUID = '00000000-0000-1000-8000-000000000001';

const EVERY_TYPE = {
  id: 1,
  a: 'a',
  b: -9007199254740993n,
  c: new Uint8Array([0, 255]),
  d: true,
  e: '1.250',
  f: 1.5,
  g: 0.5,
  h: '::1',
  j: [1n, 2n],
  k: { one: 1 },
  l: [UUID],
  m: new Date(1000),
  n: TIMEUUID,
  o: UUID,
  p: 123456789012345678901n,
  q: '2026-01-02',
  r: '10:20:30.5',
  s: '1mo2d3h',
  t: [1, 'x'],
  u: 3,
  v: 4,
  w: [[1, 'one']],
  x: { street: 'High', number: 7n },
  y: null,
  z: [1.5, 2],
};

describe.each(WAYS)('cassandra: $name', (way) => {
  let opened: OpenWay;
  let client: Client<readonly ['weak', 'strong']>;

  beforeAll(async () => {
    opened = await way.open(it, { statements, contract });
    client = createClient(opened.binding);
  });
  afterAll(() => opened?.close());

  test('values: every type of CQL → plain, the same early and late', async () => {
    const views = [];
    for await (const view of client.invoke(contract.everyType({ id: 1 }))) views.push(view);
    expect(views.map(({ level, value }) => [level, value])).toEqual([
      ['weak', EVERY_TYPE],
      ['strong', EVERY_TYPE],
    ]);
    expect(views[1]?.confirms).toBe(true);
  });

  test('pages: 25 rows, 10 a page → three pages, each row once, in both views', async () => {
    const name = `paged by ${way.name}`;
    const written = Array.from({ length: 25 }, (_, at) => ({ user: name, at, body: `post ${at}` }));
    await Promise.all(written.map((each) => client.invoke(contract.write(each))));
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

  test('pages: a state that is none → INVALID_ARGUMENT', async () => {
    const read = client.invoke(contract.timeline({ user: 'ada', pageState: 'abcd' }));
    await expect(read).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.pageState' });
  });

  test('rows: more than the statement allows → an error, not the first of them', async () => {
    const written = Array.from({ length: 21 }, (_, at) => ({ user: `many by ${way.name}`, at, body: '' }));
    await Promise.all(written.slice(0, 20).map((each) => client.invoke(contract.write(each))));
    expect(await client.invoke(contract.newest({ user: `many by ${way.name}` }))).toHaveLength(20);
    await client.invoke(contract.write(written[20]!));
    const read = client.invoke(contract.newest({ user: `many by ${way.name}` }));
    await expect(read).rejects.toMatchObject({ code: 'INVALID_VALUE', message: expect.stringContaining('20 rows') });
  });

  test('arguments: do not fit → INVALID_ARGUMENT with the field', async () => {
    const written = client.invoke(contract.write({ user: 'ada', at: 'now' as never, body: '' }));
    await expect(written).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.at' });
  });

  test('writes at one replica elsewhere: early views are behind now and then, final ones never', async () => {
    const key = `raced by ${way.name}`;
    const cql = `INSERT INTO ${it.keyspace}.correctables_values (key, value) VALUES (?, ?)`;
    const elsewhere = it.client('irl');
    let corrected = 0;
    const before = opened.store.counts.diverged;
    for (let n = 1; corrected === 0 && n <= 200; n += 1) {
      await elsewhere.execute(cql, [key, String(n)], { prepare: true, consistency: oneReplica });
      const read = client.invoke(get<number>(key));
      const early = await read.when('weak');
      const final = await read.settle();
      expect(final.value).toBe(n);
      expect(final.confirms).toBe(early.value === n);
      if (early.value !== n) corrected += 1;
    }
    expect(corrected).toBe(1);
    expect(opened.store.counts).toMatchObject({ diverged: before + 1, staleFinals: 0 });
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
  const listener = await listenGateways({ sites: { frk: createGateway({ binding: store, contract }) } });
  const url = listener.siteUrl('frk');
  const client = createClient(remote({ url, levels: ['weak', 'strong'], contract, WebSocket: CountingWebSocket }));
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

test("papers' profile: W = 1 → the final level is called quorum, and the write is answered by one replica", async () => {
  const client = createClient(cassandra({ ...besideFrankfurt(it), write: 'ONE' }));
  await client.invoke(put('w1', 1));
  const levels: string[] = [];
  for await (const { level, value } of client.invoke(get('w1'))) {
    levels.push(level);
    expect(value).toBe(1);
  }
  expect(levels.at(-1)).toBe('quorum');
  await client.close();
});

test('tables: not there → INVALID_ARGUMENT that says how to make it; with createTable → made', async () => {
  const without = createClient(cassandra({ ...besideFrankfurt(it), table: 'not_made' }));
  await expect(without.invoke(get('k'))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('keyValueTable'),
  });
  await without.close();
  const made = createClient(cassandra({ ...besideFrankfurt(it), table: 'not_made', createTable: true }));
  expect(await made.invoke(get('k'))).toBeUndefined();
  await made.close();
});

test('singleDataCenter: claimed of a keyspace in two → refused', async () => {
  const options = { singleDataCenter: true, read: 'LOCAL_QUORUM', write: 'LOCAL_QUORUM' } as const;
  const client = createClient(cassandra({ ...besideFrankfurt(it), ...options }));
  await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'singleDataCenter' });
  await client.close();
});

// The last ones: they kill nodes.
test('two of three nodes die → weak views go on, finals fail with what is known, until the nodes are back', async (context) => {
  context.skip(isShort, 'nodes have to start again: not with --short');
  const client = createClient(cassandra({ ...besideFrankfurt(it), correctable: 'never' }));
  await client.invoke(put('k', 'kept'));
  await Promise.all([it.cluster.kill('irl'), it.cluster.kill('vrg')]);
  expect(await client.invokeWeak(get('k'))).toBe('kept');
  for (let code: string | undefined; code !== 'UNAVAILABLE';) {
    const error: unknown = await client.invoke(get('k')).catch((reason: unknown) => reason);
    if (!isCorrectableError(error)) throw error;
    expect(['UNAVAILABLE', 'TIMEOUT']).toContain(error.code);
    expect(error.lastView).toMatchObject({ level: 'weak', value: 'kept' });
    ({ code } = error);
  }
  expect(await client.invoke(get('k')).settle({ orLatest: true })).toMatchObject({ value: 'kept', final: false });
  await expect(client.invoke(put('k', 'refused'))).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  await Promise.all([it.cluster.restart('irl'), it.cluster.restart('vrg')]);
  expect(await client.invoke(get('k'))).toBe('kept');
  await client.close();
});

test('the coordinator dies → the next of the list takes its place', async () => {
  const client = createClient(cassandra({ ...besideFrankfurt(it), correctable: 'never' }));
  await client.invoke(put('k', 'kept'));
  await it.cluster.kill('frk');
  expect(await client.invoke(get('k'))).toBe('kept');
  await client.invoke(put('k', 'changed'));
  expect(await client.invoke(get('k'))).toBe('changed');
  await client.close();
});
