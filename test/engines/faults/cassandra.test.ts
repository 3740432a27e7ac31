/** The faults of a store, on three nodes of Cassandra. Each client has a timeout of 5 s. */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import {
  cassandra as bind,
  defineStatements,
  getKeyValueTableCql,
  oneRow,
  type CassandraOptions,
} from '../../../src/bindings/cassandra/index.ts';
import { createClient, type Client } from '../../../src/index.ts';
import { get, getMany, put } from '../../../src/operations/index.ts';
import { isShort, withCassandra } from '../support/cassandra.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { cassandra } from './columns/cassandra.ts';
import { describeFaults, expectRecovery, unreadable } from './support/matrix.ts';

const it = withCassandra({ nodes: 3 });
const TIMEOUT_MS = 5_000;
const FREEZE_MS = isShort ? 5_000 : 30_000;
const anything = z.record(z.string(), z.unknown());

type Store = Client<readonly ['weak', 'strong']>;
const opened: Store[] = [];

beforeAll(async () => {
  if (it.isThere)
    await it.client('ireland').execute(getKeyValueTableCql({ keyspace: it.keyspace }));
});
afterAll(() => Promise.all(opened.map((client) => client.close())));

/** A client of all three nodes, Frankfurt first, or of those in the options. */
function open(options: Partial<CassandraOptions> = {}): Store {
  const { keyspace, cluster } = it;
  const contactPoints = cluster.contactPoints('frankfurt');
  const binding = bind({
    contactPoints,
    keyspace,
    requestTimeoutMs: 4_000,
    ...options,
  } as CassandraOptions);
  const client = createClient(binding, { timeoutMs: TIMEOUT_MS }) as unknown as Store;
  opened.push(client);
  return client;
}

/** A client of Frankfurt alone. */
function openOne(): Store {
  return open({ contactPoints: [it.cluster.address('frankfurt')] });
}

/** A client that reaches Frankfurt through a route. */
function openThrough(route: SilentRoute, options: Partial<CassandraOptions> = {}): Store {
  return open({
    contactPoints: [route.address],
    translateAddress: () => route.address,
    ...options,
  });
}

/** How an operation ended: `done`, or the code of its error. */
async function getOutcome(operation: PromiseLike<unknown>): Promise<string> {
  return await operation.then(
    () => 'done',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
}

/** Expects that reads and writes succeed within two timeouts. */
async function expectWorking(client: Store, key: string): Promise<void> {
  await expectRecovery(TIMEOUT_MS, async () => {
    await client.invoke(put(key, 'works'));
    expect(await client.invoke(get(key))).toBe('works');
  });
}

/**
 * Expects that writes of several seconds are done or unknown, that they become done, and that all
 * that are done stay.
 */
async function expectSilenceIsSurvived(
  client: Store,
  key: string,
  begin: () => void,
): Promise<void> {
  await client.invoke(put(key, 'before'));
  begin();
  const write = getOutcome(client.invoke(put(`${key} written`, 'once')));
  const read = getOutcome(client.invoke(get(key)));
  expect(['done', 'UNKNOWN']).toContain(await write);
  expect(['done', 'UNAVAILABLE', 'TIMEOUT']).toContain(await read);
  await expectWorking(client, `${key} after`);
  if ((await write) === 'done') expect(await client.invoke(get(`${key} written`))).toBe('once');
}

/**
 * Sends many writes, interrupts them, and expects that each is acknowledged and there, or not
 * acknowledged.
 */
async function expectAcknowledgedStay(
  client: Store,
  key: string,
  interrupt: () => Promise<void>,
): Promise<void> {
  const keys = Array.from({ length: 60 }, (_, n) => `${key} ${n}`);
  await client.invoke(put(key, 'before'));
  const outcomes = keys.map((item) => getOutcome(client.invoke(put(item, item))));
  await Promise.race(outcomes);
  await interrupt();
  const ended = await Promise.all(outcomes);
  for (const outcome of ended)
    expect(['done', 'UNKNOWN', 'UNAVAILABLE', 'TIMEOUT']).toContain(outcome);
  await expectWorking(client, `${key} after`);
  const values = (await client.invokeStrong(getMany(keys))) as readonly unknown[];
  for (const [at, outcome] of ended.entries()) {
    if (outcome === 'done') expect(values[at]).toBe(keys[at]);
    if (outcome === 'UNAVAILABLE') expect(values[at]).toBeUndefined();
  }
}

/**
 * A replica is frozen that coordinates nothing. Cassandra asks another one in its place, long before
 * it counts that one as down.
 */
async function expectReplicaIsReplaced(client: Store): Promise<void> {
  it.cluster.pause('ireland');
  try {
    for (let n = 0; n < 20; n += 1) {
      await client.invoke(put('frozen replica', n));
      expect(await client.invokeStrong(get('frozen replica'))).toBe(n);
    }
  } finally {
    it.cluster.resume('ireland');
  }
}

describeFaults(cassandra, {
  killed: async () => {
    const [all, one] = [open(), openOne()];
    await expectWorking(all, 'killed all');
    await expectWorking(one, 'killed one');
    await it.cluster.kill('frankfurt');
    await expectWorking(all, 'killed all');
    await expect(one.invoke(put('killed one', 'lost'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    await it.cluster.restart('frankfurt');
    await expectWorking(one, 'killed one');
    await expectWorking(all, 'killed all');
  },

  frozen: async () => {
    const [all, one] = [open(), openOne()];
    await expectWorking(all, 'frozen all');
    await expectWorking(one, 'frozen one');
    await expectReplicaIsReplaced(all);
    it.cluster.pause('frankfurt');
    const resumes = new Promise<void>((resolve) => {
      setTimeout(() => {
        it.cluster.resume('frankfurt');
        resolve();
      }, FREEZE_MS);
    });
    try {
      const write = await getOutcome(one.invoke(put('frozen one', 'meanwhile')));
      expect(['UNKNOWN', 'UNAVAILABLE', 'TIMEOUT']).toContain(write);
      await expectWorking(all, 'frozen all');
      await expectWorking(open(), 'frozen at the start');
    } finally {
      await resumes;
    }
    await expectWorking(one, 'frozen one');
    await expectWorking(all, 'frozen all');
  },

  cut: async () => {
    await using route = await SilentRoute.open(it.cluster.address('frankfurt'));
    const client = openThrough(route);
    await expectSilenceIsSurvived(client, 'cut', () => route.cutSilently());
    await client.close();
  },

  halfOpen: async () => {
    await using route = await SilentRoute.open(it.cluster.address('frankfurt'));
    const client = openThrough(route);
    await expectSilenceIsSurvived(client, 'half open', () => route.dropAnswers());
    await client.close();
  },

  moved: async () => {
    const name = 'cassandra-0.shop';
    let address = '127.0.0.51';
    const restore = resolveName(name, () => address);
    try {
      const target = it.cluster.address('frankfurt');
      const before = await SilentRoute.open(target, { host: address });
      const { port } = before;
      const client = open({
        contactPoints: [`${name}:${port}`],
        translateAddress: () => `${address}:${port}`,
      });
      await expectWorking(client, 'moved');
      await before[Symbol.asyncDispose]();
      expect(['UNAVAILABLE', 'UNKNOWN']).toContain(
        await getOutcome(client.invoke(put('moved', 'lost'))),
      );
      address = '127.0.0.52';
      await using after = await SilentRoute.open(target, { host: address, port });
      await expectWorking(client, 'moved');
      await client.close();
      expect(after.port).toBe(port);
    } finally {
      restore();
    }
  },

  crashed: async () => {
    const client = open();
    await expectAcknowledgedStay(client, 'crashed', () => it.cluster.kill('frankfurt'));
    await it.cluster.restart('frankfurt');
    await expectWorking(client, 'crashed');
  },

  restored: async () => {
    const admin = it.client('ireland');
    const table = `${it.keyspace}.remade`;
    const statements = defineStatements({
      set: {
        access: 'write',
        cql: 'INSERT INTO remade (id, score) VALUES (:id, :score)',
        args: anything,
        isIdempotent: true,
      },
      score: {
        access: 'read',
        cql: 'SELECT score FROM remade WHERE id = :id',
        args: anything,
        result: oneRow((row) => row['score']),
      },
    });
    await admin.execute(`CREATE TABLE ${table} (id text PRIMARY KEY, score int)`);
    const clients = [open({ statements }), open({ statements })] as const;
    for (const client of clients) await client.invoke(statements.set({ id: 'ada', score: 7 }));

    await admin.execute(`DROP TABLE ${table}`);
    for (const client of clients) {
      const set = client.invoke(statements.set({ id: 'ada', score: 7 }));
      await expect(set).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    }

    // The first client prepares, so that the node knows the statement again.
    for (const [type, stored] of [
      ['float', 7],
      ['varint', 7n],
      ['text', undefined],
    ] as const) {
      await admin.execute(`CREATE TABLE ${table} (id text PRIMARY KEY, score ${type})`);
      for (const client of clients) {
        const outcome = await getOutcome(client.invoke(statements.set({ id: 'ada', score: 7 })));
        expect(outcome).toBe(stored === undefined ? 'INVALID_ARGUMENT' : 'done');
        expect(await client.invoke(statements.score({ id: 'ada' }))).toBe(stored);
      }
      await admin.execute(`DROP TABLE ${table}`);
    }
  },

  migration: async () => {
    const admin = it.client('ireland');
    const [type, table] = [`${it.keyspace}.address`, `${it.keyspace}.people`];
    await admin.execute(`CREATE TYPE ${type} (street text)`);
    await admin.execute(
      `CREATE TABLE ${table} (id text PRIMARY KEY, home frozen<address>, age int)`.replace(
        'address',
        type,
      ),
    );
    const statements = defineStatements({
      move: {
        access: 'write',
        cql: 'INSERT INTO people (id, home) VALUES (:id, :home)',
        args: anything,
        isIdempotent: true,
      },
      age: {
        access: 'write',
        cql: 'INSERT INTO people (id, age) VALUES (:id, :age)',
        args: anything,
        isIdempotent: true,
      },
      person: {
        access: 'read',
        cql: 'SELECT * FROM people WHERE id = :id',
        args: anything,
        result: oneRow((row) => row),
      },
    });
    const clients = [open({ statements }), open({ statements })] as const;
    for (const client of clients) {
      await client.invoke(statements.move({ id: 'ada', home: { street: 'a' } }));
      await client.invoke(statements.age({ id: 'ada', age: 36 }));
      await client.invoke(statements.person({ id: 'ada' }));
    }

    await admin.execute(`ALTER TYPE ${type} ADD city text`);
    await admin.execute(`ALTER TABLE ${table} ADD nick text`);
    for (const client of clients) {
      await client.invoke(statements.move({ id: 'ada', home: { street: 'a', city: 'b' } }));
      expect(await client.invoke(statements.person({ id: 'ada' }))).toEqual({
        id: 'ada',
        home: { street: 'a', city: 'b' },
        age: 36,
        nick: null,
      });
    }

    await admin.execute(`ALTER TYPE ${type} RENAME city TO town`);
    await admin.execute(`ALTER TABLE ${table} DROP age`);
    for (const client of clients) {
      const formerField = client.invoke(
        statements.move({ id: 'ada', home: { street: 'a', city: 'b' } }),
      );
      await expect(formerField).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await client.invoke(statements.move({ id: 'ada', home: { street: 'a', town: 'c' } }));
      const formerColumn = client.invoke(statements.age({ id: 'ada', age: 37 }));
      await expect(formerColumn).rejects.toMatchObject({ code: 'FINAL_FAILED', retryable: false });
      const person = { id: 'ada', home: { street: 'a', town: 'c' }, nick: null };
      expect(await client.invoke(statements.person({ id: 'ada' }))).toEqual(person);
    }
  },

  foreignValue: async () => {
    const client = open();
    await client.invoke(put('good', 3));
    const insert = `INSERT INTO ${it.keyspace}.correctables_values (key, value) VALUES ('bad', 'no json')`;
    await it.client('ireland').execute(insert, [], { consistency: 5 });
    for (let n = 0; n < 20; n += 1)
      await expect(client.invoke(get('bad'))).rejects.toMatchObject(unreadable('bad'));
    await expect(client.invoke(getMany(['good', 'bad']))).rejects.toMatchObject(unreadable('bad'));
    // A single read may show the strong view first, or an older weak one.
    await expectRecovery(TIMEOUT_MS, async () => {
      const views: unknown[] = [];
      for await (const { level, value } of client.invoke(get('good'))) views.push([level, value]);
      expect(views).toEqual([
        ['weak', 3],
        ['strong', 3],
      ]);
    });
    await expectWorking(client, 'bad');
  },

  parsers: async () => {
    const encoding = {
      map: Object,
      set: Set,
      useUndefinedAsUnset: false,
      useBigIntAsLong: true,
      useBigIntAsVarint: true,
    };
    const table = `${it.keyspace}.parsed`;
    const columns =
      'id text PRIMARY KEY, big bigint, huge varint, tags set<text>, counts map<int, bigint>';
    await it.client('ireland').execute(`CREATE TABLE ${table} (${columns})`);
    const statements = defineStatements({
      set: {
        access: 'write',
        cql: 'INSERT INTO parsed (id, big, huge, tags, counts) VALUES (:id, :big, :huge, :tags, :counts)',
        args: anything,
        isIdempotent: true,
      },
      row: {
        access: 'read',
        cql: 'SELECT * FROM parsed WHERE id = :id',
        args: anything,
        result: oneRow((row) => row),
      },
    });
    const [plain, other] = [
      open({ statements }),
      open({ statements, clientOptions: { encoding } }),
    ];
    const row = { id: 'ada', big: 7n, huge: 8n, tags: ['a', 'b'], counts: [[1, 2n]] };
    for (const client of [plain, other]) {
      await client.invoke(statements.set({ ...row, counts: new Map([[1, 2n]]) }));
      for (const reader of [plain, other])
        expect(await reader.invoke(statements.row({ id: 'ada' }))).toEqual(row);
    }
    const session = other.session();
    await other.invoke(put('parsed', 1), { session });
    expect(await other.invoke(get('parsed'), { session })).toBe(1);
  },

  callerLeaves: async () => {
    const client = open();
    const isWritten = async (key: string): Promise<boolean> =>
      (await client.invokeStrong(get(key))) !== undefined;
    // At each step: while the connection is opened, while the statement is prepared, while the
    // write is in flight.
    for (const delayMs of [0, 1, 5, 10, 20, 50, 100, 200]) {
      const fresh = open();
      const key = `left ${delayMs}`;
      const write = fresh.invoke(put(key, 1));
      const outcome = getOutcome(write);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      write.cancel();
      const ended = await outcome;
      expect(['done', 'ABORTED', 'UNKNOWN']).toContain(ended);
      await expectWorking(fresh, `${key} after`);
      await fresh.close();
      if (ended !== 'UNKNOWN') expect(await isWritten(key)).toBe(ended === 'done');
    }
  },
});

/** Lets a name of this process lead to an address. Returns a function that restores the lookups. */
function resolveName(name: string, getAddress: () => string): () => void {
  const [lookup, resolve4, resolve6, lookUp] = [
    dns.lookup,
    dns.resolve4,
    dns.resolve6,
    dns.promises.lookup,
  ];
  const entry = () => ({ address: getAddress(), family: 4 });
  const intercept = (original: unknown, answer: (all: boolean) => readonly unknown[]): never =>
    ((host: string, ...rest: readonly unknown[]) => {
      const [options] = rest;
      const done = rest.at(-1) as (...args: readonly unknown[]) => void;
      if (host !== name)
        return (original as (...args: readonly unknown[]) => unknown)(host, ...rest);
      setImmediate(() =>
        done(...answer((options as { readonly all?: boolean } | undefined)?.all === true)),
      );
      return undefined;
    }) as never;
  dns.lookup = intercept(lookup, (all) => (all ? [null, [entry()]] : [null, getAddress(), 4]));
  dns.resolve4 = intercept(resolve4, () => [null, [getAddress()]]);
  dns.resolve6 = intercept(resolve6, () => [
    Object.assign(new Error('no address'), { code: 'ENODATA' }),
  ]);
  dns.promises.lookup = ((host: string, options: never) =>
    host === name ? Promise.resolve(entry()) : lookUp(host, options)) as never;
  syncBuiltinESMExports();
  return () => {
    Object.assign(dns, { lookup, resolve4, resolve6 });
    dns.promises.lookup = lookUp;
    syncBuiltinESMExports();
  };
}
