/**
 * The application's own statements: what is bound, what comes back, and nothing cut off in silence.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  wasApplied,
  cassandra,
  defineStatements,
  implementStatements,
  noResult,
  oneRow,
  page,
  rows,
  statement,
  type Row,
  type Statements,
} from '../../../../src/bindings/cassandra/index.ts';
import {
  findBindMarkers,
  findKeyspaces,
} from '../../../../src/bindings/cassandra/statements/cql-text.ts';
import type { Operation } from '../../../../src/index.ts';
import { commit, get, readVersions } from '../../../../src/operations/index.ts';
import { transaction } from '../../../../src/transactions/index.ts';
import { defineContract, keyValueOperations } from '../../../../src/contract/index.ts';
import { openFake, responseError } from './fake-driver.ts';

const user = z.object({ user: z.string() });
const paged = z.object({
  user: z.string(),
  pageState: z.string().optional(),
  pageSize: z.int().optional(),
});

const posts = defineStatements({
  name: statement({
    access: 'read',
    cql: 'SELECT name FROM users WHERE user = :user',
    args: user,
    result: oneRow((row) => row['name'] as string),
    key: ({ user }) => user,
  }),
  all: {
    access: 'read',
    cql: 'SELECT at FROM posts WHERE user = :user',
    args: user,
    result: rows(at, { max: 3 }),
  },
  timeline: {
    access: 'read',
    cql: 'SELECT at FROM posts WHERE user = :user',
    args: paged,
    result: page(at, { size: 2 }),
  },
  write: {
    access: 'write',
    cql: 'INSERT INTO posts (user, at, body) VALUES (:user, :at, :body)',
    args: z.object({ user: z.string(), at: z.number(), body: z.string().nullable().optional() }),
  },
  count: {
    access: 'write',
    cql: 'UPDATE counts SET n = n + ? WHERE user = ?',
    args: z.object({ user: z.string(), by: z.number() }),
    params: ({ user, by }: { user: string; by: number }) => [by, user],
  },
  claim: {
    access: 'write',
    cql: 'INSERT INTO users (user) VALUES (:user) IF NOT EXISTS',
    args: user,
    result: wasApplied(),
    isIdempotent: true,
  },
});

function at(row: Row): number {
  return row['at'] as number;
}

const open = (statements: Statements = posts) => openFake({ statements });

const failure = (operation: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(operation).catch((e: unknown) => e);

test('statement: named markers → values in the order of the markers', async () => {
  const { fake, client } = open();
  const written = client.invoke(posts.write({ user: 'ada', at: 5, body: null }));
  const executed = await fake.next();
  expect(executed.params).toEqual(['ada', 5, null]);
  expect(executed.options).toMatchObject({ prepare: true, isIdempotent: false });
  executed.answer();
  expect(await written).toBeUndefined();
});

test('statement: ? markers → what params gives', async () => {
  const { fake, client } = open();
  const counted = client.invoke(posts.count({ user: 'ada', by: 2 }));
  const executed = await fake.next();
  expect(executed.params).toEqual([2, 'ada']);
  executed.answer();
  await counted;
});

test('statement: a marker without a value → refused, since it would leave the column as it is', async () => {
  const { fake, client } = open();
  expect(await failure(client.invoke(posts.write({ user: 'ada', at: 5 })))).toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'args.body',
  });
  expect(fake.executed).toEqual([]);
});

test('statement: half of a surrogate pair → refused, since another text would be kept', async () => {
  const { fake, client } = open();
  const write = (body: string): Promise<unknown> =>
    failure(client.invoke(posts.write({ user: 'ada', at: 5, body })));
  expect(await write('a\ud800')).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.body' });
  expect(fake.executed).toEqual([]);
});

test('key: half of a surrogate pair → refused, a whole pair is taken', async () => {
  const { fake, client } = open();
  expect(await failure(client.invoke(get('\ud83d')))).toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'args.key',
  });
  const read = client.invoke(get('😀'));
  expect((await fake.next()).params).toEqual(['😀']);
  // Cancel it: the key is checked, and its timeout would come while another file runs.
  read.cancel();
  await failure(read);
});

test('statement: arguments that do not fit → INVALID_ARGUMENT with the path, nothing is sent', async () => {
  const { fake, client } = open();
  const error = await failure(client.invoke(posts.name({ user: 7 as never })));
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.user', retryable: false });
  expect(fake.executed).toEqual([]);
});

test('statement: a schema that has to wait → UNSUPPORTED', async () => {
  const slow = defineStatements({
    name: {
      access: 'read',
      cql: 'SELECT name FROM users WHERE user = :user',
      args: z.object({ user: z.string().refine(() => Promise.resolve(true)) }),
      result: oneRow(at),
    },
  });
  const { client } = open(slow);
  expect(await failure(client.invoke(slow.name({ user: 'ada' })))).toMatchObject({
    code: 'UNSUPPORTED',
  });
});

test('one: no row, one row, two rows → undefined, the value, an error', async () => {
  const { fake, client } = open();
  const results: unknown[] = [];
  for (const names of [[], ['Ada'], ['Ada', 'Alan']]) {
    const read = client.invokeStrong(posts.name({ user: 'ada' }));
    (await fake.next()).answer({ rows: names.map((name) => ({ name })) });
    results.push(await failure(read));
  }
  expect(results).toEqual([undefined, 'Ada', expect.objectContaining({ code: 'INVALID_VALUE' })]);
});

test('rows: as many as allowed → all; one more → an error with the fix', async () => {
  const { fake, client } = open();
  const read = client.invokeStrong(posts.all({ user: 'ada' }));
  const executed = await fake.next();
  expect(executed.options.fetchSize).toBe(4);
  executed.answer({ rows: [{ at: 1 }, { at: 2 }, { at: 3 }] });
  expect(await read).toEqual([1, 2, 3]);
  const more = client.invokeStrong(posts.all({ user: 'ada' }));
  (await fake.next()).answer({ rows: [1, 2, 3, 4].map((at) => ({ at })), pageState: '00' });
  expect(await failure(more)).toMatchObject({
    code: 'INVALID_VALUE',
    message: expect.stringContaining('page()'),
  });
});

test('rows: the cluster ends a page early → the rest is fetched, at the same consistency', async () => {
  const { fake, client } = open();
  const read = client.invoke(posts.all({ user: 'ada' }));
  for (const reading of [await fake.next(), await fake.next()])
    reading.answer({ rows: [{ at: 1 }], pageState: 'ab' });
  const remaining = await fake.next();
  expect([remaining.consistency, remaining.options.pageState]).toEqual(['QUORUM', 'ab']);
  remaining.answer({ rows: [{ at: 2 }] });
  expect(await read).toEqual([1, 2]);
  expect(read.latest).toMatchObject({ final: true, confirms: false });
});

test('rows: page after page, and the read has ended → no more are requested', async () => {
  const { fake, client } = open();
  const read = client.invokeStrong(posts.all({ user: 'ada' }), { timeoutMs: 20 });
  const first = await fake.next();
  await expect(read).rejects.toMatchObject({ code: 'TIMEOUT' });
  first.answer({ rows: [], pageState: 'aa' });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(fake.executed).toHaveLength(1);
});

test('page: more to come → returns a page state; the next call goes on there', async () => {
  const { fake, client } = open();
  const first = client.invokeStrong(posts.timeline({ user: 'ada' }));
  (await fake.next()).answer({ rows: [{ at: 1 }, { at: 2 }], pageState: 'cafe' });
  expect(await first).toEqual({ rows: [1, 2], pageState: 'cafe' });
  const second = client.invokeStrong(
    posts.timeline({ user: 'ada', pageState: 'cafe', pageSize: 1 }),
  );
  const executed = await fake.next();
  expect(executed.options).toMatchObject({ pageState: 'cafe', fetchSize: 1 });
  executed.answer({ rows: [{ at: 3 }], pageState: null });
  const last = await second;
  expect(last).toEqual({ rows: [3] });
  expect('pageState' in last).toBe(false);
});

test('page: the same rows, but other pages follow → not confirmed', async () => {
  const { fake, client } = open();
  const read = client.invoke(posts.timeline({ user: 'ada' }));
  const [early, late] = [await fake.next(), await fake.next()];
  early.answer({ rows: [{ at: 1 }] });
  await read.when('weak');
  late.answer({ rows: [{ at: 1 }], pageState: 'ab' });
  expect(await read.settle()).toMatchObject({ confirms: false, value: { pageState: 'ab' } });
});

test.each([
  ['a page state of another query', { pageState: 'abc' }, 'args.pageState'],
  ['a size above that of the statement', { pageSize: 3 }, 'args.pageSize'],
  ['a size of nothing', { pageSize: 0 }, 'args.pageSize'],
])('page: %s → refused', async (_, more, field) => {
  const { client } = open();
  const error = await failure(client.invoke(posts.timeline({ user: 'ada', ...more })));
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field });
});

test('page: the cluster does not know the page state → INVALID_ARGUMENT', async () => {
  const { fake, client } = open();
  const read = client.invokeStrong(posts.timeline({ user: 'ada', pageState: 'ab' }));
  (await fake.next()).fail(responseError(0x000a, 'Invalid value for the paging state'));
  expect(await failure(read)).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.pageState' });
});

test('page: a schema that drops the page state → refused, or the first page would come for ever', async () => {
  const dropping = defineStatements({
    timeline: {
      access: 'read',
      cql: 'SELECT at FROM posts WHERE user = :user',
      args: user,
      result: page(at),
    },
  });
  const { client } = open(dropping);
  const error = await failure(
    client.invoke(dropping.timeline({ user: 'ada', pageState: 'ab' } as { user: string })),
  );
  expect(error).toMatchObject({
    field: 'args.pageState',
    message: expect.stringContaining('schema'),
  });
});

test('row schema: a row that does not fit → INVALID_VALUE with the column', async () => {
  const strict = defineStatements({
    name: {
      access: 'read',
      cql: 'SELECT name FROM users WHERE user = :user',
      args: user,
      result: oneRow(z.object({ name: z.string() })),
    },
  });
  const { fake, client } = open(strict);
  const read = client.invokeStrong(strict.name({ user: 'ada' }));
  (await fake.next()).answer({ rows: [{ name: null }] });
  expect(await failure(read)).toMatchObject({ code: 'INVALID_VALUE', field: 'row.name' });
});

test('row mapper: throws on the weak view only → the final view stands', async () => {
  const picky = defineStatements({
    name: {
      access: 'read',
      cql: 'SELECT name FROM users WHERE user = :user',
      args: user,
      result: oneRow((row) => {
        if (row['name'] === null) throw new Error('no name');
        return row['name'] as string;
      }),
    },
  });
  const { fake, client } = open(picky);
  const read = client.invoke(picky.name({ user: 'ada' }));
  const [early, late] = [await fake.next(), await fake.next()];
  early.answer({ rows: [{ name: null }] });
  late.answer({ rows: [{ name: 'Ada' }] });
  expect(await read).toBe('Ada');
});

test('applied: a conditional write → whether it was made', async () => {
  const { fake, client } = open();
  for (const isApplied of [true, false]) {
    const claimed = client.invoke(posts.claim({ user: 'ada' }));
    const executed = await fake.next();
    expect(executed.options.isIdempotent).toBe(true);
    executed.answer({ rows: [{ '[applied]': isApplied }] });
    expect(await claimed).toBe(isApplied);
  }
});

test('version: older final than the weak view → regressed, and counted', async () => {
  const versioned = defineStatements({
    name: {
      access: 'read',
      cql: 'SELECT name, WRITETIME(name) AS written FROM users WHERE user = :user',
      args: user,
      result: oneRow((row) => row['name'] as string, { version: 'written' }),
    },
  });
  const { fake, binding, client } = open(versioned);
  const read = client.invoke(versioned.name({ user: 'ada' }));
  const [early, late] = [await fake.next(), await fake.next()];
  early.answer({ rows: [{ name: 'new', written: 9n }] });
  await read.when('weak');
  late.answer({ rows: [{ name: 'old', written: 3n }] });
  expect(await read.settle()).toMatchObject({ value: 'old', version: 3, regressed: true });
  expect(binding.stats).toMatchObject({ diverged: 1, regressed: 1 });
});

test.each<[string, () => unknown, string]>([
  [
    'a read that writes',
    () => define({ access: 'read', cql: 'DELETE FROM t', result: oneRow(at) }),
    'x.access',
  ],
  ['a write that reads', () => define({ access: 'write', cql: 'select * from t' }), 'x.access'],
  ['a read without a result', () => define({ access: 'read', cql: 'SELECT a FROM t' }), 'x.result'],
  [
    'a read of nothing',
    () => define({ access: 'read', cql: 'SELECT a FROM t', result: noResult() }),
    'x.result',
  ],
  [
    'applied without IF',
    () => define({ access: 'write', cql: 'DELETE FROM t', result: wasApplied() }),
    'x.result',
  ],
  [
    '? without params',
    () => define({ access: 'write', cql: 'DELETE FROM t WHERE a = ?' }),
    'x.params',
  ],
  ['no rows at all', () => rows(at, { max: 0 }), 'max'],
])('definition: %s → refused at once', (_, make, field) => {
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
});

function define(spec: object): unknown {
  return defineStatements({ x: { args: user, ...spec } as never });
}

test.each([
  [
    [defineStatements({ get: { access: 'write', cql: 'DELETE FROM t', args: user } })],
    'statements.get',
  ],
  [[posts, posts], 'statements.name'],
  [[{}], 'statements'],
])('binding: names that clash, or no statements (%#) → refused', (statements, field) => {
  const make = (): unknown =>
    cassandra({
      contactPoints: ['a'],
      keyspace: 'shop',
      statements: statements as unknown as Statements[],
    });
  expect(make).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
});

test('binding: a read sent as a write → refused', async () => {
  const { client } = open();
  const disguised = { ...posts.name({ user: 'ada' }), access: 'write' as const };
  expect(await failure(client.invoke(disguised))).toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'access',
  });
});

const contract = defineContract('posts', {
  ...keyValueOperations,
  nameOf: { access: 'read', args: user, result: z.string().optional() },
});

test('contract: its operations implemented → builders of the contract, statements of the server', async () => {
  const statements = implementStatements(contract, {
    nameOf: {
      cql: 'SELECT name FROM users WHERE user = :user',
      result: oneRow((row) => row['name'] as string),
    },
  });
  const { fake, binding, client } = open(statements);
  expect(
    Object.keys(contract.operations).every((name) =>
      binding.supports({ name, args: {}, access: 'read' }),
    ),
  ).toBe(true);
  const read = client.invokeStrong(contract.nameOf({ user: 'ada' }));
  (await fake.next()).answer({ rows: [{ name: 'Ada' }] });
  expect(await read).toBe('Ada');
});

test('effect, condition: looked for in the words of the statement, not in its texts and comments', () => {
  const read = {
    access: 'read',
    cql: '/* newest */ SELECT a FROM t WHERE user = :user',
    args: user,
  } as const;
  expect(() => defineStatements({ read: { ...read, result: oneRow(at) } })).not.toThrow();
  expect(() => defineStatements({ read: { ...read, access: 'write' } })).toThrow(
    expect.objectContaining({ field: 'read.access' }),
  );
  const cql = "INSERT INTO t (user, body) VALUES (:user, 'what if') -- if";
  expect(() =>
    defineStatements({ put: { access: 'write', cql, args: user, result: wasApplied() } }),
  ).toThrow(expect.objectContaining({ field: 'put.result' }));
});

test('contract: an operation too few, one too many → refused', () => {
  const nameOf = {
    cql: 'SELECT name FROM users WHERE user = :user',
    result: oneRow((row: Row) => row['name'] as string),
  };
  expect(() => implementStatements(contract, {} as never)).toThrow(
    expect.objectContaining({ field: 'nameOf' }),
  );
  expect(() => implementStatements(contract, { nameOf, other: nameOf } as never)).toThrow(
    expect.objectContaining({ field: 'other' }),
  );
});

test.each([
  ['SELECT a FROM t WHERE b = :b AND c IN :cs', ['b', 'cs']],
  ["INSERT INTO t (a, b) VALUES (?, 'it''s :not ?')", [undefined]],
  ['SELECT "odd:name?" FROM t WHERE x = :"Big Name"', ['Big Name']],
  ['SELECT a FROM t -- :no ?\n WHERE b = :yes /* ? :no */ // ?', ['yes']],
  ['UPDATE t SET f = $$ :no ? $$, l[:i] = :v WHERE k = ?', ['i', 'v', undefined]],
  ["UPDATE t SET m = {'a': :a, 'b': ?}, u = {id:now(), n: :n}", ['a', undefined, 'n']],
  ["INSERT INTO t (at) VALUES ('2026-01-01 10:20:30')", []],
])('markers: %s → %j', (cql, markers) => {
  expect(findBindMarkers(cql)).toEqual(markers);
});

test.each([
  ['SELECT a FROM Shop.t', ['shop']],
  [
    'BEGIN BATCH INSERT INTO a.t (k) VALUES (1); UPDATE "B c" . t SET v = 1 WHERE k = 1; APPLY BATCH',
    ['a', 'B c'],
  ],
  ['SELECT a FROM t', []],
  ['UPDATE /* all sites */ wide.t SET v = 1', ['wide']],
  ['UPDATE -- all sites\r wide . t SET v = 1', ['wide']],
  ['DELETE FROM t // from bob.x', []],
  ["INSERT INTO t (body) VALUES ('mail from bob.x')", []],
  ['INSERT INTO t (body) VALUES ($$mail from bob.x$$)', []],
  ['SELECT "mail from bob.x" FROM a.t', ['a']],
])('keyspaces: %s → %j', (cql, keyspaces) => {
  expect(findKeyspaces(cql)).toEqual(keyspaces);
});

test.each([readVersions(['a']), commit([], [{ key: 'a', value: 1 }])])(
  'operation $name → UNSUPPORTED with the reason and what to use instead, and nothing is sent',
  async (operation) => {
    const { client, fake } = openFake();
    await expect(client.invoke(operation as Operation)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      field: 'operation',
      message: expect.stringMatching(
        /no operation "\w+": Cassandra has no .* several partitions.* IF .*RedBlue.*ZooKeeper/,
      ),
    });
    expect(fake.executed).toEqual([]);
  },
);

test('a transaction → UNSUPPORTED with the reason', async () => {
  const { client } = openFake();
  const reading = transaction(client, (tx) => tx.get('a'));
  await expect(reading).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringMatching(/several partitions/),
  });
});
