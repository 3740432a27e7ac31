/**
 * The three ways to read from Cassandra mean the same: two requests through the driver, the same
 * behind a gateway beside the coordinator, and one request to a coordinator that gives preliminary
 * replies. Identical operations go through all three on a real cluster, and their views are
 * compared.
 */
import { z } from 'zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  defineStatements,
  getKeyValueTableCql,
  noResult,
  page,
  rows,
  oneRow,
  type Row,
} from '../../src/bindings/cassandra/index.ts';
import { createClient, isCorrectableError, type Client, type Operation } from '../../src/index.ts';
import { get, getMany, put } from '../../src/operations/index.ts';
import { isShort, withCassandra } from './support/cassandra.ts';
import { THREE_WAYS } from './support/cassandra-read-strategies.ts';

const it = withCassandra();
type Levels = readonly ['weak', 'strong'];
type WayName = 'two requests' | 'a gateway' | 'one request';
type Clients = [Client<Levels>, Client<Levels>, Client<Levels>];
type Ways = Readonly<Record<WayName, Client<Levels>>>;

const asIs = (row: Row): Row => row;
const byKey = z.object({ k: z.string() });
const PAGE_SIZE = 3;

const statements = defineStatements({
  counted: {
    access: 'read',
    cql: 'SELECT count(*) AS n FROM events WHERE k = :k',
    args: byKey,
    result: oneRow(asIs),
  },
  events: {
    access: 'read',
    cql: 'SELECT n, what FROM events WHERE k = :k',
    args: z.object({ k: z.string(), pageState: z.string().optional() }),
    result: page(asIs, { size: PAGE_SIZE }),
  },
  allEvents: {
    access: 'read',
    cql: 'SELECT n, what FROM events WHERE k = :k',
    args: byKey,
    result: rows(asIs),
  },
  eventsOf: {
    access: 'read',
    cql: 'SELECT k, n FROM events WHERE k IN (:k, :other)',
    args: z.object({ k: z.string(), other: z.string() }),
    result: rows(asIs),
  },
  latest: {
    access: 'read',
    cql: 'SELECT n FROM events WHERE k = :k ORDER BY n DESC LIMIT :most',
    args: z.object({ k: z.string(), most: z.number() }),
    result: rows(asIs),
  },
  add: {
    access: 'write',
    cql: 'INSERT INTO events (k, n, what) VALUES (:k, :n, :what)',
    args: z.object({ k: z.string(), n: z.number(), what: z.string() }),
    result: noResult(),
  },
});

let ways: Ways;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const client = it.client('frankfurt');
  for (const cql of [
    getKeyValueTableCql({ keyspace: it.keyspace }),
    `CREATE TABLE ${it.keyspace}.events (k text, n int, what text, PRIMARY KEY (k, n))`,
  ]) {
    await client.execute(cql);
  }
  ways = await openWays();
});

afterAll(async () => await Promise.all(closing.map((close) => close())));

async function openWays(): Promise<Ways> {
  const operations = ['get', 'getMany', 'put', ...Object.keys(statements)];
  const opened = await Promise.all(
    THREE_WAYS.map((way) => way.open(it, { statements, operations })),
  );
  expect(opened.map(({ store }) => store.requestsPerRead)).toEqual([2, 2, 1]);
  closing.push(...opened.map(({ close }) => close));
  const [twice, gateway, once] = opened.map(({ binding }) => createClient(binding)) as Clients;
  return { 'two requests': twice, 'a gateway': gateway, 'one request': once };
}

/** The outcome of one way: its views, and the error if it ends with one. */
interface WayOutcome {
  readonly levels: readonly string[];
  readonly weak: unknown;
  readonly final: unknown;
  readonly version: unknown;
  readonly confirms: boolean | undefined;
  readonly error: string | undefined;
}

interface AskOptions {
  readonly levels?: readonly ('weak' | 'strong')[];
}

async function ask(
  client: Client<Levels>,
  operation: Operation,
  options: AskOptions = {},
): Promise<WayOutcome> {
  const viewed: string[] = [];
  const reported: { -readonly [K in keyof WayOutcome]: WayOutcome[K] } = {
    levels: viewed,
    weak: undefined,
    final: undefined,
    version: undefined,
    confirms: undefined,
    error: undefined,
  };
  try {
    const { levels = ['weak', 'strong'] } = options;
    for await (const view of client.invoke(operation, { levels: levels as Levels })) {
      viewed.push(view.level);
      if (view.level === 'weak') reported.weak = view.value;
      if (!view.final) continue;
      reported.final = view.value;
      reported.version = view.version;
      reported.confirms = view.confirms;
    }
  } catch (error) {
    reported.error = isCorrectableError(error) ? error.code : String(error);
    if (isCorrectableError(error)) reported.weak ??= error.lastView?.value;
  }
  return reported;
}

/** Reads in all ways, and expects the same outcome of each. @returns that outcome */
async function askAll(operation: Operation, options?: AskOptions): Promise<WayOutcome> {
  const names = Object.keys(ways) as WayName[];
  const reported = await Promise.all(names.map((name) => ask(ways[name], operation, options)));
  const [first] = reported as [WayOutcome];
  for (const [at, item] of reported.entries())
    expect({ way: names[at], ...item }).toEqual({ way: names[at], ...first });
  return first;
}

test('ways: a key before and after a write by each way → the same views, versions and confirmations', async () => {
  for (const [n, name] of (Object.keys(ways) as WayName[]).entries()) {
    const key = `by ${name}`;
    expect(await askAll(get(key))).toMatchObject({
      final: undefined,
      weak: undefined,
      error: undefined,
    });
    const value = { n, text: 'ä"\n', list: [1, null, { deep: true }] };
    await ways[name].invoke(put(key, value));
    await untilEverywhere(key, value);
    expect(await askAll(get(key))).toMatchObject({
      weak: value,
      final: value,
      confirms: true,
      error: undefined,
    });
  }
});

test('ways: pages, whole results, limits → the same', async () => {
  for (let n = 0; n < 8; n += 1)
    await ways['two requests'].invoke(statements.add({ k: 'e', n, what: `event ${n}` }));
  await untilAllHave(8);
  const seen: unknown[] = [];
  let pageState: string | undefined;
  do {
    // Page states name positions, not requests: those of one way serve the others.
    const args = { k: 'e', ...(pageState !== undefined && { pageState }) };
    const finals = await Promise.all(
      Object.values(ways).map((way) => way.invoke(statements.events(args))),
    );
    const [answer] = finals as [(typeof finals)[number]];
    for (const final of finals) expect(final).toEqual(answer);
    seen.push(...answer.rows.map(({ n }) => n));
    ({ pageState } = answer);
  } while (pageState !== undefined);
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect((await askAll(statements.allEvents({ k: 'e' }))).final).toHaveLength(8);
  expect((await askAll(statements.latest({ k: 'e', most: 2 }))).final).toEqual([
    { n: 7 },
    { n: 6 },
  ]);
});

/** A quorum has it at once, each replica a moment later. */
async function untilEverywhere(key: string, value: unknown): Promise<void> {
  for (;;) {
    const seen = await Promise.all(Object.values(ways).map((way) => way.invokeWeak(get(key))));
    if (seen.every((item) => JSON.stringify(item) === JSON.stringify(value))) return;
  }
}

async function untilAllHave(count: number): Promise<void> {
  for (;;) {
    const reported = await Promise.all(
      Object.values(ways).map((way) => way.invokeWeak(statements.allEvents({ k: 'e' }))),
    );
    if (reported.every((item) => item.length === count)) return;
  }
}

test('ways: what a coordinator answers once → found out, then the same two views', async () => {
  await ways['two requests'].invoke(put('once', { n: 1 }));
  await untilEverywhere('once', { n: 1 });
  const { pageState } = await ways['two requests'].invoke(statements.events({ k: 'e' }));
  const uncovered = {
    'several keys': getMany(['once', 'none']),
    'several partitions': statements.eventsOf({ k: 'e', other: 'none' }),
    'an aggregate': statements.counted({ k: 'e' }),
    'a later page': statements.events({ k: 'e', pageState: pageState as string }),
  };
  for (const operation of Object.values<Operation>(uncovered)) {
    const expected = await ways['two requests'].invokeStrong(operation);
    for (let n = 0; n < 8; n += 1)
      expect(await ways['one request'].invoke(operation)).toEqual(expected);
    expect(await askAll(operation)).toMatchObject({
      levels: ['weak', 'strong'],
      weak: expected,
      final: expected,
    });
  }
});

test('ways: one level only → that level', async () => {
  await ways['two requests'].invoke(put('level', { n: 1 }));
  await untilEverywhere('level', { n: 1 });
  for (const level of ['weak', 'strong'] as const) {
    expect(await askAll(get('level'), { levels: [level] })).toMatchObject({
      levels: [level],
      final: { n: 1 },
    });
  }
});

test('ways: a session → each view shows what another of its operations wrote', async () => {
  // Sessions of this binding stay where they were begun, which is not with the clients of a
  // gateway.
  for (const name of ['two requests', 'one request'] as const) {
    using session = ways[name].session();
    for (let n = 0; n < 5; n += 1) {
      await ways[name].invoke(put(`session ${name}`, n), { session });
      for await (const { value } of ways[name].invoke(get(`session ${name}`), { session }))
        expect(value).toBe(n);
    }
  }
});

test('ways: no quorum left → the weak view stands, the final one fails with the same code', async (context) => {
  context.skip(isShort, 'nodes have to start again: not with --short');
  await ways['two requests'].invoke(put('alone', 'here'));
  await untilEverywhere('alone', 'here');
  await Promise.all([it.cluster.kill('ireland'), it.cluster.kill('virginia')]);
  let codes: (string | undefined)[];
  do {
    const reported = await Promise.all(Object.values(ways).map((way) => ask(way, get('alone'))));
    for (const { weak, error } of reported) {
      expect(weak).toBe('here');
      // Until the coordinator has noticed, it waits for the others in vain.
      expect(error).toMatch(/^(UNAVAILABLE|TIMEOUT)$/);
    }
    codes = reported.map(({ error }) => error);
  } while (codes.includes('TIMEOUT'));
  expect(codes).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE']);
});
