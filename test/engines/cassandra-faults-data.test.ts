/**
 * What is in the tables, and what is not: each way to read gives a clear outcome, on a real
 * cluster.
 */
import cassandra from 'cassandra-driver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  wasApplied,
  cassandra as bind,
  implementStatements,
  getKeyValueTableCql,
  oneRow,
} from '../../src/bindings/cassandra/index.ts';
import { keyValueOperations } from '../../src/contract/index.ts';
import { createClient, type Operation } from '../../src/index.ts';
import { get, getMany, put } from '../../src/operations/index.ts';
import { defineContract } from '../../src/contract/index.ts';
import { both, openStore, seen, type Seen, type Store } from './support/cassandra-stores.ts';
import { WAYS, type Way } from './support/cassandra-read-strategies.ts';
import { withCassandra } from './support/cassandra.ts';

const it = withCassandra();
const { consistencies } = cassandra.types;
const TABLE = 'correctables_values';
const NAMED = WAYS.map((way) => [way.name, way] as const);
const opened = new Map<Way, Store>();

beforeAll(async () => {
  if (!it.isThere) return;
  await it.client('frankfurt').execute(getKeyValueTableCql({ keyspace: it.keyspace }));
  for (const way of WAYS) opened.set(way, await openStore(way, it));
});
afterAll(async () => {
  for (const item of opened.values()) await item.close();
});

function use(way: Way): Store {
  const found = opened.get(way);
  if (found === undefined) throw new Error(`${way.name} has not been opened`);
  return found;
}

test.each(NAMED)('%s: a value of 1 MB → whole in both views', async (_, way) => {
  const { store } = use(way);
  const value = 'täglich '.repeat(111_200);
  await store.invoke(put(`large ${way.name}`, value));
  expect(await seen(store.invoke(get(`large ${way.name}`)))).toEqual(both(value));
});

test.each(NAMED)(
  '%s: a writer whose clock is an hour ahead → its value stays over later writes, in both views',
  async (_, way) => {
    const { store } = use(way);
    const key = `skewed ${way.name}`;
    const hourAhead = (Date.now() + 3_600_000) * 1_000;
    const insert = `INSERT INTO ${it.keyspace}.${TABLE} (key, value) VALUES (?, '"ahead"') USING TIMESTAMP ${hourAhead}`;
    await it
      .client('ireland')
      .execute(insert, [key], { prepare: true, consistency: consistencies.all });
    await store.invoke(put(key, 'on time'));
    expect(await seen(store.invoke(get(key)))).toEqual(both('ahead'));
  },
);

test.each(NAMED)(
  '%s: written far away with W = 1, read at once → early what was, finally what is; then both',
  async (_, way) => {
    const { store, binding, close } = await openStore(way, it, { read: 'ALL' });
    const contactPoints = it.cluster.contactPoints('virginia');
    const translateAddress = (host: string): string => it.cluster.translate(host, 'virginia');
    const far = createClient(
      bind({ contactPoints, translateAddress, keyspace: it.keyspace, write: 'ONE' }),
    );
    const key = `diverging ${way.name}`;
    await store.invoke(put(key, 0));
    let apart = 0;
    // Virginia answers at once; Frankfurt hears of it 45 ms later. A machine that was busy in
    // between gets another try.
    for (let n = 1; n <= 40 && apart < 3; n += 1) {
      await far.invoke(put(key, n));
      const { views, error } = await seen(store.invoke(get(key)));
      expect({ last: views.at(-1), error }).toEqual({ last: ['strong', n], error: undefined });
      if (views[0]?.[1] === n) continue;
      apart += 1;
      expect(views[0]).toEqual(['weak', n - 1]);
      expect(await seen(store.invoke(get(key)))).toEqual(both(n));
    }
    expect(apart).toBe(3);
    expect(binding.stats).toMatchObject({ diverged: 3, staleFinals: 0 });
    await Promise.all([close(), far.close()]);
  },
);

test.each(NAMED)(
  '%s: a table changed, then dropped while it is read → whole rows, the new column; then refused',
  async (_, way) => {
    const table = `${it.keyspace}.changing_${WAYS.indexOf(way)}`;
    const ddl = it.client('ireland');
    await ddl.execute(`CREATE TABLE ${table} (key text PRIMARY KEY, a int)`);
    await ddl.execute(`INSERT INTO ${table} (key, a) VALUES ('k', 1)`, [], {
      consistency: consistencies.all,
    });
    const args = z.object({ key: z.string() });
    const contract = defineContract('changing', {
      row: { access: 'read', args, result: z.unknown() },
    });
    const cql = `SELECT * FROM ${table} WHERE key = :key`;
    const statements = implementStatements(contract, {
      row: { cql, result: oneRow((row) => row) },
    });
    const { store, close } = await openStore(way, it, { statements, contract });
    const read = (): Promise<Seen> => seen(store.invoke(contract.row({ key: 'k' })));
    const before = { key: 'k', a: 1 };
    expect(await read()).toEqual(both(before));

    const changed = watched(ddl.execute(`ALTER TABLE ${table} ADD b int`));
    const meanwhile: Seen[] = [];
    while (!changed.isDone || meanwhile.length < 20) meanwhile.push(await read());
    await changed.done;
    await ddl.execute(`INSERT INTO ${table} (key, b) VALUES ('k', 2)`, [], {
      consistency: consistencies.all,
    });
    const after = { key: 'k', a: 1, b: 2 };
    expect(await read()).toEqual(both(after));
    for (const { views, error } of meanwhile) {
      expect(error).toBeUndefined();
      for (const [, value] of views) expect([before, { ...before, b: null }]).toContainEqual(value);
    }

    await ddl.execute(`DROP TABLE ${table}`);
    expect(await read()).toEqual({ views: [], error: 'FINAL_FAILED' });
    await close();
  },
);

test.each(NAMED)(
  '%s: tables in use are dropped → each read and write FINAL_FAILED, at every attempt; created again → as before',
  async (_, way) => {
    const ddl = it.client('ireland');
    const keyspace = `${it.keyspace}_dropped_${WAYS.indexOf(way)}`;
    const tables = [
      getKeyValueTableCql({ keyspace }),
      `CREATE TABLE ${keyspace}.people (id text PRIMARY KEY, v int)`,
    ];
    const make = async (): Promise<void> => {
      for (const cql of tables) await ddl.execute(cql);
    };
    await ddl.execute(`CREATE KEYSPACE ${keyspace} WITH replication = ${it.cluster.replication}`);
    await make();
    const [args, row] = [z.object({ id: z.string() }), z.object({ id: z.string(), v: z.number() })];
    const contract = defineContract('dropped', {
      ...keyValueOperations,
      person: { access: 'read', args, result: z.optional(row) },
      register: { access: 'write', args, result: z.void() },
      rename: { access: 'write', args, result: z.unknown() },
    });
    const statements = implementStatements(contract, {
      person: { cql: 'SELECT id, v FROM people WHERE id = :id', result: oneRow(row) },
      register: { cql: 'INSERT INTO people (id, v) VALUES (:id, 1)' },
      rename: { cql: 'UPDATE people SET v = 2 WHERE id = :id IF EXISTS', result: wasApplied() },
    });
    const { store, close } = await openStore(
      way,
      { ...it, keyspace },
      { statements, contract, keyspace },
    );
    const operations = (): Operation[] => [
      put('k', 1),
      get('k'),
      getMany(['k', 'l']),
      contract.register({ id: 'ada' }),
      contract.person({ id: 'ada' }),
      contract.rename({ id: 'ada' }),
    ];
    const codes = async (): Promise<(string | undefined)[]> => {
      const ends: (string | undefined)[] = [];
      for (const operation of operations()) ends.push((await seen(store.invoke(operation))).error);
      return ends;
    };
    const all = (code: string | undefined): unknown => operations().map(() => code);
    expect(await codes()).toEqual(all(undefined));
    for (const table of [TABLE, 'people']) await ddl.execute(`DROP TABLE ${keyspace}.${table}`);
    expect(await codes()).toEqual(all('FINAL_FAILED'));
    expect(await codes()).toEqual(all('FINAL_FAILED'));
    await make();
    expect(await codes()).toEqual(all(undefined));
    await close();
    await ddl.execute(`DROP KEYSPACE ${keyspace}`);
  },
);

test.each(NAMED)(
  '%s: a table is made again with other types, and another process prepares first → values of the new types',
  async (_, way) => {
    const ddl = it.client('ireland');
    const table = `${it.keyspace}.remade_${WAYS.indexOf(way)}`;
    const args = z.record(z.string(), z.unknown());
    const contract = defineContract('remade', {
      score: { access: 'read', args, result: z.unknown() },
      set: { access: 'write', args, result: z.void() },
    });
    const statements = implementStatements(contract, {
      score: {
        cql: `SELECT score FROM ${table} WHERE id = :id`,
        result: oneRow((row) => row['score']),
      },
      set: { cql: `INSERT INTO ${table} (id, score) VALUES (:id, :score)`, isIdempotent: true },
    });
    const stores = await Promise.all(
      [1, 2].map(() => openStore(way, it, { statements, contract })),
    );
    for (const type of ['int', 'float', 'text']) {
      const [id, score] = type === 'text' ? ['7', 'eight'] : [7, 8];
      await ddl.execute(`CREATE TABLE ${table} (id ${type} PRIMARY KEY, score ${type})`);
      for (const { store } of stores) {
        await store.invoke(contract.set({ id, score }));
        expect(await seen(store.invoke(contract.score({ id })))).toEqual(both(score));
      }
      await ddl.execute(`DROP TABLE ${table}`);
      stores.reverse();
    }
    for (const { close } of stores) await close();
  },
);

test.each(NAMED)('%s: a keyspace that is not there → FINAL_FAILED, no view', async (_, way) => {
  const { store, close } = await openStore(way, it, { keyspace: 'nowhere', lazy: true });
  expect(await seen(store.invoke(get('k')))).toEqual({ views: [], error: 'FINAL_FAILED' });
  await close();
});

/** Whether a promise is done, to be asked meanwhile. */
function watched(promise: Promise<unknown>): {
  readonly isDone: boolean;
  readonly done: Promise<unknown>;
} {
  let isDone = false;
  const done = promise.finally(() => (isDone = true));
  return {
    get isDone() {
      return isDone;
    },
    done,
  };
}
