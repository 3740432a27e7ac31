/**
 * The D1 binding on D1 as Miniflare runs it, alone, with a database that follows, and in a Worker.
 */
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import {
  d1,
  defineStatements,
  failIfUnchanged,
  getLagMs,
  oneRow,
  rows,
  wasApplied,
  type D1DatabaseLike,
} from '../../src/bindings/d1/index.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { dequeue, get, getMany, put, remove } from '../../src/operations/index.ts';
import { transaction } from '../../src/transactions/index.ts';
import { getSource } from '../docs/bundle.ts';
import {
  COMPATIBILITY_DATE,
  FollowedD1,
  runAlone,
  withLocalD1,
  type LocalD1,
} from '../support/d1.ts';

const TOKEN_KEY = 'a secret of all Workers';
const local = withLocalD1();

const seats = defineStatements({
  owner: {
    access: 'read',
    sql: 'select owner, rev from seats where id = :id',
    args: z.object({ id: z.number() }),
    result: oneRow(z.object({ owner: z.string().nullable(), rev: z.number() }), { version: 'rev' }),
  },
  all: {
    access: 'read',
    sql: 'select id from seats order by id',
    args: z.object({}),
    result: rows((row) => row['id']),
  },
  add: {
    access: 'write',
    sql: 'insert into seats (id) values (:id)',
    args: z.object({ id: z.number() }),
    result: wasApplied(),
  },
  addOnce: {
    access: 'write',
    sql: 'insert into seats (id) values (:id) on conflict do nothing',
    args: z.object({ id: z.number() }),
    result: wasApplied(),
    isIdempotent: true,
  },
  sell: {
    access: 'write',
    sql: `update seats set owner = :owner, rev = rev + 1 where id = :id and rev = :rev;
      ${failIfUnchanged};
      insert into sales (seat, owner) values (:id, :owner) returning number`,
    args: z.object({ id: z.number(), rev: z.number(), owner: z.string() }),
    result: oneRow((row) => row['number'] as number),
  },
  sales: {
    access: 'read',
    sql: 'select owner from sales',
    args: z.object({}),
    result: rows((row) => row['owner']),
  },
});

async function openOn(database: D1DatabaseLike, { primary, copy }: LocalD1) {
  for (const each of [primary, copy]) {
    await runAlone(
      each,
      'create table seats (id integer primary key, owner text, rev integer not null default 1)',
    );
    await runAlone(
      each,
      'create table sales (number integer primary key, seat integer, owner text)',
    );
  }
  const binding = d1({ database, statements: seats, tokenKey: TOKEN_KEY });
  const client = createClient(binding);
  onTestFinished(() => client.close());
  return { binding, client, primary };
}

async function open() {
  const databases = await local.open();
  return await openOn(databases.primary, databases);
}

/** A database with a copy that follows. */
async function openFollowed() {
  const databases = await local.open();
  const database = new FollowedD1(databases);
  return { database, ...(await openOn(database, databases)) };
}

test('keys → both levels, as they were written', async () => {
  const { client } = await open();
  await client.invoke(put('a', { n: [1, 'ü', null] }));
  await client.invoke(put('b', 2));
  await client.invoke(remove('b'));
  const views: unknown[] = [];
  for await (const { level, value } of client.invoke(getMany(['b', 'a'])))
    views.push([level, value]);
  const expected = [undefined, { n: [1, 'ü', null] }];
  expect(views).toEqual([
    ['replica', expected],
    ['primary', expected],
  ]);
});

test('statements → typed results, and their versions', async () => {
  const { client } = await open();
  expect(await client.invoke(seats.add({ id: 1 }))).toBe(true);
  expect(await client.invoke(seats.addOnce({ id: 1 }))).toBe(false);
  const view = await client.invoke(seats.owner({ id: 1 })).when('primary');
  expect(view).toMatchObject({ value: { owner: null, rev: 1 }, version: 1 });
  expect(await client.invoke(seats.all({}))).toEqual([1]);
});

test('a write whose check fails → CONFLICT, and nothing of it is kept', async () => {
  const { client } = await open();
  await client.invoke(seats.add({ id: 1 }));
  expect(await client.invoke(seats.sell({ id: 1, rev: 1, owner: 'ada' }))).toBe(1);
  const late = client.invoke(seats.sell({ id: 1, rev: 1, owner: 'bob' }));
  await expect(late).rejects.toMatchObject({ code: 'CONFLICT', retryable: false });
  expect(await client.invoke(seats.sales({}))).toEqual(['ada']);
});

test('an error of a later statement → the whole write is undone', async () => {
  const { client, primary } = await open();
  await client.invoke(seats.add({ id: 1 }));
  await runAlone(primary, 'drop table sales');
  const selling = client.invoke(seats.sell({ id: 1, rev: 1, owner: 'ada' }));
  await expect(selling).rejects.toMatchObject({
    code: 'FINAL_FAILED',
    message: expect.not.stringContaining('sales') as string,
  });
  expect(await client.invoke(seats.owner({ id: 1 }))).toEqual({ owner: null, rev: 1 });
});

test('failures → codes', async () => {
  const { client, binding } = await open();
  await client.invoke(seats.add({ id: 1 }));
  await expect(client.invoke(seats.add({ id: 1 }))).rejects.toMatchObject({ code: 'CONFLICT' });
  const wrong = { ...put('k', 1), args: { key: '', value: 1 } };
  await expect(client.invoke(wrong)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'args.key',
  });
  await expect(client.invoke(put('k', 1, { ttlMs: 5 }))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  });
  await expect(client.invoke(dequeue('q'))).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(transaction(client, async (tx) => tx.put('k', 1))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  });
  expect(binding.describeUnsupported?.({ name: 'commit', args: {}, access: 'write' })).toContain(
    'failIfUnchanged',
  );
});

test('a value that the statement cannot use → INVALID_ARGUMENT', async () => {
  const { primary } = await open();
  const parsing = defineStatements({
    parse: {
      access: 'read',
      sql: "select json_extract(:text, '$.a') as a",
      args: z.object({ text: z.string() }),
      result: oneRow((row) => row['a']),
    },
  });
  const client = createClient(d1({ database: primary, statements: parsing }));
  await expect(client.invoke(parsing.parse({ text: '{' }))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

test('a missing table → the advice to create it', async () => {
  const { client, primary } = await open();
  await runAlone(primary, 'drop table correctables_values');
  await expect(client.invoke(get('k'))).rejects.toMatchObject({
    code: 'FINAL_FAILED',
    message: expect.stringContaining('migrations()') as string,
  });
});

test('a value that D1 lacks → INVALID_ARGUMENT, nothing is sent', async () => {
  const big = defineStatements({
    add: {
      access: 'write',
      sql: 'insert into seats (id) values (:id)',
      args: z.object({ id: z.bigint() }),
    },
  });
  const client = createClient(d1({ database: (await local.open()).primary, statements: big }));
  onTestFinished(() => client.close());
  await expect(client.invoke(big.add({ id: 1n }))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

test.each([
  ['no finite number', Number.NaN],
  ['no finite number', Infinity],
  ['half of a character', 'a\ud800'],
])(
  'a value that D1 would store as another one (%s) → INVALID_ARGUMENT, nothing is sent',
  async (_, owner) => {
    const { primary, client } = await open();
    const named = defineStatements({
      name: {
        access: 'write',
        sql: 'update seats set owner = :owner',
        args: z.object({ owner: z.any() }),
      },
    });
    await client.invoke(seats.add({ id: 1 }));
    const other = createClient(d1({ database: primary, statements: named }));
    onTestFinished(() => other.close());
    await expect(other.invoke(named.name({ owner }))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    expect(await client.invoke(seats.owner({ id: 1 }))).toEqual({ owner: null, rev: 1 });
  },
);

test('a value that another program wrote → its error names the key, and other keys are read', async () => {
  const { client, primary } = await open();
  await runAlone(primary, "insert into correctables_values (key, value) values ('bad', 'no JSON')");
  await client.invoke(put('good', 1));
  for (const read of [get('bad'), getMany(['good', 'bad'])])
    await expect(client.invoke(read)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: expect.stringContaining('the value of the key "bad" cannot be read') as string,
    });
  expect(await client.invokeWeak(get('good'))).toBe(1);
  await client.invoke(put('bad', 2));
  expect(await client.invoke(get('bad'))).toBe(2);
});

test('a migration adds a column and a table → statements go on', async () => {
  const { client, primary } = await open();
  await client.invoke(seats.add({ id: 1 }));
  await runAlone(primary, 'alter table seats add column row integer');
  await runAlone(primary, 'create index by_owner on seats (owner)');
  expect(await client.invoke(seats.owner({ id: 1 }))).toEqual({ owner: null, rev: 1 });
  await client.invoke(seats.add({ id: 2 }));
  expect(await client.invoke(seats.all({}))).toEqual([1, 2]);
});

// @rule REPL-4
test('a lost answer → UNKNOWN, but an idempotent write is resent', async () => {
  const { database, client } = await openFollowed();
  let losses = 0;
  database.afterPrimary = () => {
    losses += 1;
    if (losses === 1) throw new Error('D1_ERROR: Network connection lost.');
  };
  await expect(client.invoke(seats.add({ id: 1 }))).rejects.toMatchObject({ code: 'UNKNOWN' });
  expect(await client.invoke(seats.all({}))).toEqual([1]);
  losses = 0;
  expect(await client.invoke(seats.addOnce({ id: 2 }))).toBe(false);
  expect(await client.invoke(seats.all({}))).toEqual([1, 2]);
});

// @rule REPL-5
test('a session → a replica waits for its bookmark, or the final view comes first', async () => {
  const { database, client } = await openFollowed();
  database.isFollowing = false;
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  const views: unknown[] = [];
  for await (const { level, value } of client.invoke(get('k'), { session }))
    views.push([level, value]);
  expect(views).toEqual([['primary', 1]]);
  expect(await client.invokeWeak(get('k'))).toBeUndefined(); // another caller

  const reading = client.invokeWeak(get('k'), { session });
  await database.catchUp();
  expect(await reading).toBe(1);
  expect(database.asked.at(-1)).toMatch(/^00000000-00000001-/);
});

// @rule REPL-7
test('a token → the session goes on in another Worker', async () => {
  const { database, client } = await openFollowed();
  database.isFollowing = false;
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  const other = createClient(d1({ database, tokenKey: TOKEN_KEY }));
  onTestFinished(() => other.close());
  const { tokens } = session;
  const reading = other.invokeWeak(get('k'), { session: other.session({ tokens }) });
  await database.catchUp();
  expect(await reading).toBe(1);
});

// @rule REPL-9
test('lag → known once the primary was read', async () => {
  const { client } = await openFollowed();
  await client.invoke(put('k', 1));
  await client.invoke(get('k'));
  const view = await client.invoke(get('k')).when('replica');
  expect(getLagMs(view)).toBeGreaterThanOrEqual(0);
});

test('in a Worker → both views, and a session by its token', async () => {
  const worker = `
    import { createClient } from 'correctables';
    import { d1, migrations } from 'correctables/bindings/d1';
    import { get, put } from 'correctables/operations';
    export default {
      async fetch(request, env) {
        await env.DB.prepare(migrations()).run();
        const store = createClient(d1({ database: env.DB, tokenKey: 'a secret of all Workers' }));
        const tokens = request.headers.get('session')?.split(' ');
        const session = store.session({ tokens });
        if (request.method === 'PUT') await store.invoke(put('k', await request.text()), { session });
        const views = [];
        for await (const { level, value } of store.invoke(get('k'), { session })) views.push([level, value]);
        await store.close();
        return Response.json({ views, tokens: session.tokens });
      },
    };`;
  const { outputFiles } = await build({
    stdin: {
      contents: worker,
      loader: 'ts',
      resolveDir: import.meta.dirname,
      sourcefile: 'worker.ts',
    },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker'],
    external: ['node:*'],
    write: false,
    plugins: [
      {
        name: 'public-entries',
        setup: (bundling) =>
          bundling.onResolve({ filter: /^correctables(\/|$)/ }, ({ path }) => ({
            path: getSource(path),
          })),
      },
    ],
  });
  const miniflare = new Miniflare({
    modules: true,
    script: outputFiles[0]!.text,
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ['nodejs_compat'],
    d1Databases: ['DB'],
  });
  onTestFinished(() => miniflare.dispose());
  const ask = async (init: object) => {
    const response = await miniflare.dispatchFetch('http://worker/', init);
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text) as { views: unknown; tokens: readonly string[] };
  };
  const written = await ask({ method: 'PUT', body: 'Ada' });
  const expected = [
    ['replica', 'Ada'],
    ['primary', 'Ada'],
  ];
  expect(written.views).toEqual(expected);
  expect((await ask({ headers: { session: written.tokens.join(' ') } })).views).toEqual(expected);
});
