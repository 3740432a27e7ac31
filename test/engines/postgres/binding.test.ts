/** The binding on a real primary and its replicas: views, sessions, statements, queues. */
import { Pool } from 'pg';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import {
  defineStatements,
  getLagMs,
  oneRow,
  rows,
  wasApplied,
  type PostgresConnection,
  type RunStatements,
} from '../../../src/bindings/postgres/index.ts';
import { findSqlState } from '../../../src/bindings/postgres/sql-state.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import type { AnyView } from '../../../src/correctable/view.ts';
import { respondWithViews } from '../../../src/http/index.ts';
import {
  dequeue,
  enqueue,
  get,
  getMany,
  getRemaining,
  getSafeThreshold,
  peek,
  put,
  remove,
} from '../../../src/operations/index.ts';
import { medianMs } from '../support/median.ts';
import {
  catchFailure,
  openForTest,
  poolForTest,
  prepareTables,
  TOKEN_KEY,
  untilAllCaughtUp,
  type OpenedPostgres,
} from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres({ wan: 'paper' });

const TABLES = `
  create table users (name text primary key, age int not null, born date, seen timestamptz, score bigint, tags text[], extra jsonb);
  create role app login;
  grant all on all tables in schema public to app;
  create function read_late(name text) returns jsonb volatile language plpgsql as $$
    begin
      perform pg_sleep(1);
      return (select value from correctables_values where key = name);
    end $$;
`;

beforeAll(async () => {
  await prepareTables(it.servers);
  await it.servers.query('primary', TABLES);
});

async function collect(
  { client }: Pick<OpenedPostgres, 'client'>,
  operation: Operation,
  options = {},
): Promise<unknown[]> {
  const views: unknown[] = [];
  for await (const { level, value } of client.invoke(operation, options))
    views.push([level, value]);
  return views;
}

/** Stops the replay at both replicas until the test ends. */
async function pauseReplicas(): Promise<() => Promise<void>> {
  const names = it.servers.replicas.map(({ name }) => name);
  const resume = async (): Promise<void> => {
    for (const name of names) await it.servers.resumeReplay(name);
    await untilAllCaughtUp(it.servers);
  };
  for (const name of names) await it.servers.pauseReplay(name);
  onTestFinished(resume);
  return resume;
}

// @rule REPL-1
test('a stale replica answers first, and the primary corrects it', async () => {
  const opened = openForTest(it.servers);
  await opened.client.invoke(put('stale', 1));
  await untilAllCaughtUp(it.servers);
  await pauseReplicas();
  await opened.client.invoke(put('stale', 2));
  expect(await collect(opened, get('stale'))).toEqual([
    ['replica', 1],
    ['primary', 2],
  ]);
  expect(opened.binding.stats.corrected).toBe(1);
});

// @rule REPL-5
test('a session does not go back to a stale replica', async () => {
  const opened = openForTest(it.servers);
  const session = opened.client.session();
  const resume = await pauseReplicas();
  await opened.client.invoke(put('mine', 1), { session });
  expect(await collect(opened, get('mine'), { session })).toEqual([['primary', 1]]);
  expect(await collect(opened, get('mine'))).toEqual([
    ['replica', undefined],
    ['primary', 1],
  ]);
  const elsewhere = openForTest(it.servers);
  const there = elsewhere.client.session({ tokens: session.tokens });
  expect(await collect(elsewhere, get('mine'), { session: there })).toEqual([['primary', 1]]);
  await resume();
  expect(await collect(opened, get('mine'), { session })).toEqual([
    ['replica', 1],
    ['primary', 1],
  ]);
});

test('a read takes one round trip, a write too', async () => {
  const { client } = openForTest(it.servers, { replicas: [] });
  await client.invoke(put('trip', 1));
  await client.invoke(get('trip'));
  expect(await medianMs(5, async () => await client.invoke(get('trip')))).toBeLessThan(1.8 * 83);
  expect(await medianMs(5, async () => await client.invoke(put('trip', 2)))).toBeLessThan(1.8 * 83);
});

// @rule REPL-9
test('the lag bounds how far a replica is behind', async () => {
  const { client } = openForTest(it.servers);
  await client.invoke(get('lag'));
  await client.invoke(get('lag'));
  const fresh = await client.invoke(get('lag')).when('replica');
  expect(getLagMs(fresh)).toBeGreaterThanOrEqual(0);
  expect(getLagMs(fresh)).toBeLessThan(5_000);
  await pauseReplicas();
  await client.invoke(put('lag', 1));
  const from = performance.now();
  await client.invoke(get('lag')); // the primary is further now
  await vi.waitFor(async () => {
    const view = await client.invoke(get('lag')).when('replica');
    expect(getLagMs(view)).toBeGreaterThan(performance.now() - from);
  });
});

const users = defineStatements({
  add: {
    access: 'write',
    sql: 'insert into users (name, age, born, seen, score, tags, extra) values (:name, :age, :born::date, :seen, :score, :tags, :extra) on conflict do nothing',
    args: z.object({
      name: z.string(),
      age: z.number(),
      born: z.string().nullable(),
      seen: z.date().nullable(),
      score: z.bigint().nullable(),
      tags: z.array(z.string()).nullable(),
      extra: z.unknown(),
    }),
    result: wasApplied(),
  },
  find: {
    access: 'read',
    sql: "select *, 'a:b' as label from users where name = :name or ':name' = :name -- :comment",
    args: z.object({ name: z.string() }),
    result: oneRow((row) => row),
  },
  older: {
    access: 'read',
    sql: 'select name from users where age > $1 order by name',
    args: z.object({ age: z.number() }),
    params: ({ age }) => [age],
    result: rows(z.object({ name: z.string() }), { max: 2 }),
  },
  age: {
    access: 'write',
    sql: 'update users set age = age + 1 where name = :name returning age',
    args: z.object({ name: z.string() }),
    result: oneRow((row) => row['age'] as number, { version: 'age' }),
  },
  score: {
    access: 'write',
    sql: 'insert into users (name, age, seen, score) values (:name, 10 / :divisor, now(), 1) on conflict (name) do update set score = users.score + 1 returning score, seen',
    args: z.object({ name: z.string(), divisor: z.number() }),
    result: oneRow((row) => row),
  },
  cheat: {
    access: 'read',
    sql: 'insert into users (name, age) values (:name, 1) returning name',
    args: z.object({ name: z.string() }),
    result: oneRow((row) => row),
  },
  readLate: {
    access: 'read',
    sql: 'select read_late(:name) as value',
    args: z.object({ name: z.string() }),
    result: oneRow((row) => row['value']),
  },
  sleep: {
    access: 'read',
    sql: 'select pg_sleep(:seconds)::text as slept',
    args: z.object({ seconds: z.number() }),
    result: oneRow(() => true),
  },
});

const ada = {
  name: 'ada',
  age: 36,
  born: '1815-12-10',
  seen: new Date(0),
  score: 2n ** 60n,
  tags: ['x'],
  extra: { a: 1 },
};
const bob = { name: 'bob', age: 40, born: null, seen: null, score: null, tags: null, extra: null };

// @rule REPL-6
test('a session has seen what was applied between the position and the value', async () => {
  await untilAllCaughtUp(it.servers);
  await it.servers.pauseReplay('replica-2');
  onTestFinished(() => it.servers.resumeReplay('replica-2'));
  const near = openForTest(it.servers, {
    replicas: [{ ...it.servers.connection('replica-1') }],
    statements: users,
  });
  const session = near.client.session();
  const reading = near.client.invokeWeak(users.readLate({ name: 'late' }), { session });
  const text =
    "select 1 from pg_stat_activity where query like '%read_late%' and state = 'active' and pid <> pg_backend_pid()";
  await expect.poll(() => it.servers.query('replica-1', text)).toHaveLength(1);
  await it.servers.query('primary', "insert into correctables_values values ('late', '1')");
  expect(await reading).toBe(1);

  const far = openForTest(it.servers, { replicas: [{ ...it.servers.connection('replica-2') }] });
  const there = far.client.session({ tokens: session.tokens });
  expect(await far.client.invokeWeak(get('late'), { session: there })).toBe(1);
  expect(far.binding.stats.behindSession).toBe(1);
});

test('statements bind arguments by name, and map rows', async () => {
  const { client } = openForTest(it.servers, { statements: users });
  expect(await client.invoke(users.add(ada))).toBe(true);
  expect(await client.invoke(users.add(ada))).toBe(false);
  expect(await client.invoke(users.add(bob))).toBe(true);
  expect(await client.invoke(users.find({ name: 'ada' }))).toEqual({ ...ada, label: 'a:b' });
  expect(await client.invoke(users.find({ name: 'none' }))).toBeUndefined();
  expect(await client.invoke(users.older({ age: 30 }))).toEqual([{ name: 'ada' }, { name: 'bob' }]);
  const aged = await client.invoke(users.age({ name: 'ada' })).when('primary');
  expect(aged).toMatchObject({ value: 37, version: 37 });
  await client.invoke(users.add({ ...bob, name: 'carl' }));
  await expect(client.invoke(users.older({ age: 30 }))).rejects.toMatchObject({
    code: 'INVALID_VALUE',
  });
});

test('a statement with the wrong access, or wrong arguments, changes nothing', async () => {
  const { client } = openForTest(it.servers, { statements: users });
  await expect(client.invoke(users.cheat({ name: 'eve' }))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  const disguised = { ...users.add({ ...ada, name: 'eve' }), access: 'read' } as const;
  await expect(client.invoke(disguised)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'access',
  });
  await expect(client.invoke(users.find({ name: 7 as never }))).rejects.toMatchObject({
    field: 'args.name',
  });
  await expect(client.invoke(put('half', '\ud800'))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  expect(await client.invokeStrong(users.find({ name: 'eve' }))).toBeUndefined();
});

test('keys have JSON values, and can be removed', async () => {
  const { client } = openForTest(it.servers);
  await client.invoke(put('json', [1, 'two', null, { three: 3.5 }]));
  expect(await client.invoke(get('json'))).toEqual([1, 'two', null, { three: 3.5 }]);
  await client.invoke(put('null', null));
  expect(await client.invoke(getMany(['null', 'json', 'none']))).toEqual([
    null,
    [1, 'two', null, { three: 3.5 }],
    undefined,
  ]);
  await client.invoke(remove('json'));
  expect(await client.invoke(get('json'))).toBeUndefined();
  await expect(client.invoke(put('brief', 1, { ttlMs: 5 }))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  });
});

test('without the tables, an error says how to make them', async () => {
  const { client } = openForTest(it.servers, { schema: 'elsewhere' });
  const reading = client.invokeStrong(get('k'));
  const message = expect.stringMatching(/Nothing was read\..*migrations\(\)/) as string;
  await expect(reading).rejects.toMatchObject({ code: 'FINAL_FAILED', retryable: false, message });
});

// @rule REPL-4
test('a missing table or right is a fault of the server: it is logged, and a browser gets no name of it', async () => {
  await it.servers.query('primary', 'drop table if exists secrets; create table secrets (id int)');
  await it.servers.query('primary', 'drop role if exists stranger; create role stranger login');
  const secrets = defineStatements({
    missing: {
      access: 'read',
      sql: 'select 1 from hidden_table',
      args: z.object({}),
      result: oneRow((row) => row),
    },
    denied: {
      access: 'read',
      sql: 'select 1 from secrets',
      args: z.object({}),
      result: oneRow((row) => row),
    },
    erase: { access: 'write', sql: 'delete from secrets', args: z.object({}) },
  });
  const primary = { ...it.servers.connection('primary'), user: 'stranger' };
  const { client } = openForTest(it.servers, { primary, replicas: [], statements: secrets });
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const cases: readonly (readonly [Operation, string, string])[] = [
    [secrets.missing({}), 'read', '42P01'],
    [secrets.denied({}), 'read', '42501'],
    [secrets.erase({}), 'written', '42501'],
  ];
  for (const [operation, done, cause] of cases) {
    printed.mockClear();
    const reply = await respondWithViews(client.invoke(operation, { levels: ['primary'] }));
    expect(reply.status).toBe(500);
    const text = await reply.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'FINAL_FAILED', retryable: false } });
    expect(text).toContain(`Nothing was ${done}.`);
    expect(text).not.toMatch(/hidden_table|secrets/);
    expect(printed).toHaveBeenCalledOnce();
    expect(printed.mock.calls[0]?.map((part) => findSqlState(part))).toContain(cause);
  }
});

// @rule REPL-12
test('writes with one idempotency key are made once, and have one result', async () => {
  const { client, binding } = openForTest(it.servers, { statements: users });
  expect(binding.hasIdempotencyKeys).toBe(true);
  const write = (name: string, idempotencyKey: string, divisor = 1): Promise<unknown> =>
    Promise.resolve(client.invoke(users.score({ name, divisor }), { idempotencyKey }));
  const results = await Promise.all([1, 2, 3].map(() => write('eva', 'key 1')));
  expect(results).toEqual(
    Array.from({ length: 3 }, () => ({ score: 1n, seen: expect.any(Date) as Date })),
  );
  expect(await write('eva', 'key 1')).toEqual(results[0]);
  expect(await write('eva', 'key 2')).toMatchObject({ score: 2n });
  await expect(write('fay', 'key 1')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'idempotencyKey',
  });
  await expect(write('fay', 'key 3', 0)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' }); // division by zero
  await expect(write('fay', 'key 3', 1)).resolves.toMatchObject({ score: 1n }); // a failed write keeps no key
});

// @rule REPL-12
test('a dequeue with an idempotency key takes one item', async () => {
  const { client } = openForTest(it.servers);
  for (const item of ['a', 'b']) await client.invoke(enqueue('keyed', item));
  const how = { idempotencyKey: 'a seat for ada' };
  expect(await client.invoke(dequeue('keyed'), how)).toEqual({ item: 'a' });
  expect(await client.invoke(dequeue('keyed'), how)).toEqual({ item: 'a' });
  expect(await client.invoke(dequeue('keyed'))).toEqual({ item: 'b' });
});

test('a queue gives each item once, in order', async () => {
  const { client } = openForTest(it.servers);
  for (let item = 0; item < 20; item += 1) await client.invoke(enqueue('jobs', item));
  const next = await client.invoke(peek('jobs')).when('primary');
  expect([next.value, getRemaining(next)]).toEqual([{ item: 0 }, 20]);
  const taken = await Promise.all(
    Array.from({ length: 25 }, () => client.invokeStrong(dequeue<number>('jobs'))),
  );
  const items = taken.flatMap((found) => (found === null ? [] : [found.item]));
  expect(items.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, item) => item));
  expect(await client.invokeStrong(dequeue('jobs'))).toBeNull();
});

test('a replica guesses the item, without those that this process has taken', async () => {
  const { client } = openForTest(it.servers);
  for (const item of ['a', 'b', 'c', 'd']) await client.invoke(enqueue('seats', item));
  await untilAllCaughtUp(it.servers);
  await pauseReplicas();
  const guesses: unknown[] = [];
  const finals = await Promise.all(
    [0, 1, 2].map(async () => {
      const taking = client.invoke(dequeue<string>('seats'));
      const view = await taking.when('replica');
      if (view.level === 'replica')
        guesses.push([(view.value as { item: string }).item, getRemaining(view)]);
      return await taking;
    }),
  );
  expect(guesses.toSorted()).toEqual([
    ['a', 3],
    ['b', 2],
    ['c', 1],
  ]);
  expect(finals.map((found) => found?.item).toSorted()).toEqual(['a', 'b', 'c']);
  const last = await client.invoke(dequeue<string>('seats')).when('replica');
  expect(last).toMatchObject({ level: 'replica', value: { item: 'd' } });
});

test('what is left does not count items that this process has taken behind its guess', async () => {
  const [near, other] = [openForTest(it.servers), openForTest(it.servers)];
  for (const item of ['a', 'b', 'c', 'd']) await near.client.invoke(enqueue('behind', item));
  await untilAllCaughtUp(it.servers);
  await pauseReplicas();
  expect(await other.client.invokeStrong(dequeue('behind'))).toEqual({ item: 'a' });
  expect(await near.client.invokeStrong(dequeue('behind'))).toEqual({ item: 'b' });
  const guess = await near.client.invoke(dequeue('behind')).when('replica');
  expect([guess.value, getRemaining(guess)]).toEqual([{ item: 'a' }, 2]);
});

test('a safe threshold counts other processes, and how far the replica is behind', async () => {
  const pace = { maxInFlight: 2, minSlotIntervalMs: 100 };
  const [near, other] = [openForTest(it.servers, pace), openForTest(it.servers, pace)];
  const guess = async (): Promise<AnyView> => {
    await near.client.invoke(enqueue('safe', 1));
    await untilAllCaughtUp(it.servers);
    return near.client.invoke(dequeue('safe')).when('replica');
  };
  await it.servers.query('primary', 'delete from correctables_consumers');
  expect(getSafeThreshold(await guess())).toBe(0);
  await other.client.invoke(dequeue('none'));
  await guess();
  const safe = getSafeThreshold(await guess());
  expect(safe).toBeGreaterThanOrEqual(2 * (1 + 1));
  expect(safe).toBeLessThan(50);
  await near.client.invoke(enqueue('safe', 1));
  await untilAllCaughtUp(it.servers);
  await pauseReplicas();
  const from = performance.now();
  await expect
    .poll(async () => getSafeThreshold(await near.client.invoke(dequeue('safe')).when('replica')))
    .toBeGreaterThan(safe + 4);
  expect(performance.now() - from).toBeGreaterThan(100);
});

test('a process that does not limit its dequeues permits no early decision of others', async () => {
  const [near, other] = [openForTest(it.servers), openForTest(it.servers)];
  await other.client.invoke(dequeue('none'));
  for (const item of [1, 2, 3]) await near.client.invoke(enqueue('unlimited', item));
  await near.client.invoke(dequeue('unlimited'));
  await untilAllCaughtUp(it.servers);
  const guess = await near.client.invoke(dequeue('unlimited')).when('replica');
  expect([guess.level, getSafeThreshold(guess)]).toEqual(['replica', Infinity]);
});

// @rule REPL-13
test('dequeues beyond the limit wait, and take nothing if their caller leaves', async () => {
  const { client } = openForTest(it.servers, { maxInFlight: 1 });
  for (const item of ['a', 'b']) await client.invoke(enqueue('gate', item));
  const leaving = new AbortController();
  const [first, second] = [
    client.invoke(dequeue('gate')),
    client.invoke(dequeue('gate'), { signal: leaving.signal }),
  ];
  leaving.abort();
  await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await first).toEqual({ item: 'a' });
  expect(await client.invoke(dequeue('gate'))).toEqual({ item: 'b' });
});

// @rule REPL-11
test('a role that must not see the timeline has sessions at the primary, which is reported once', async () => {
  const onAlarm = vi.fn<(alarm: object) => void>();
  const replicas = it.servers.replicas.map(({ name }) => ({
    ...it.servers.connection(name),
    user: 'app',
  }));
  const opened = openForTest(it.servers, { replicas, onAlarm });
  await opened.client.invoke(put('role', 1));
  await untilAllCaughtUp(it.servers);
  const session = opened.client.session();
  expect(await collect(opened, get('role'), { session })).toEqual([['primary', 1]]);
  expect(await collect(opened, get('role'))).toEqual([
    ['replica', 1],
    ['primary', 1],
  ]);
  expect(onAlarm.mock.calls).toMatchObject([[{ code: 'no-position' }]]);
});

// @rule REPL-11
test('a server whose functions differ has no sessions on replicas', async () => {
  const positions = { sql: 'select aurora_replica_position() as lsn' };
  const opened = openForTest(it.servers, { positions, onAlarm: () => {} });
  const session = opened.client.session();
  await opened.client.invoke(put('aurora', 1), { session });
  expect(await collect(opened, get('aurora'), { session })).toEqual([['primary', 1]]);
});

test('pools of the application are used, and left open', async () => {
  const primary = poolForTest(it.servers, 'primary');
  const replica = poolForTest(it.servers, 'replica-1');
  const opened = openForTest(it.servers, { primary, replicas: [replica], prepare: false });
  await opened.client.invoke(put('pool', 1));
  expect(await opened.client.invoke(get('pool'))).toBe(1);
  await opened.binding.close();
  expect((await primary.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  const plain = new Pool(it.servers.connection('primary'));
  expect(() => openForTest(it.servers, { primary: plain })).toThrow('pipeline: true');
});

test('another library can run the statements on its own connections', async () => {
  const runOn = (name: string): { run: RunStatements } => {
    const pool = poolForTest(it.servers, name);
    return {
      async run(statements) {
        const client = await pool.connect();
        try {
          const results = await Promise.all(
            statements.map(({ text, values }) => client.query(text, [...values])),
          );
          return results.map(({ rows: found, rowCount }) => ({
            rows: found as object[] as never,
            rowCount: rowCount ?? 0,
          }));
        } finally {
          client.release();
        }
      },
    };
  };
  const replicas: PostgresConnection[] = [runOn('replica-1')];
  const opened = openForTest(it.servers, { primary: runOn('primary'), replicas });
  const session = opened.client.session();
  await opened.client.invoke(put('run', 1), { session });
  await untilAllCaughtUp(it.servers);
  expect(await collect(opened, get('run'), { session })).toEqual([
    ['replica', 1],
    ['primary', 1],
  ]);
});

test('a session continues with the same key, and not with another', async () => {
  const { binding } = openForTest(it.servers);
  const other = openForTest(it.servers, { tokenKey: `${TOKEN_KEY}!` }).binding;
  expect(() => other.openSession!(binding.openSession!().tokens)).toThrow(
    'not made by this deployment',
  );
});

test('a read that nobody waits for is canceled, and its connection is used again', async () => {
  const pool = poolForTest(it.servers, 'primary', { max: 2 });
  const { client } = openForTest(it.servers, { primary: pool, replicas: [], statements: users });
  const leaving = new AbortController();
  const sleeping = client.invoke(users.sleep({ seconds: 600 }), { signal: leaving.signal });
  const text =
    "select count(*)::int as n from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()";
  const countSleepers = async (): Promise<unknown> =>
    (await it.servers.query('primary', text))[0]?.['n'];
  await expect.poll(countSleepers).toBe(1);
  leaving.abort();
  await expect(sleeping).rejects.toMatchObject({ code: 'ABORTED' });
  await expect.poll(countSleepers).toBe(0);
  await expect.poll(() => pool.idleCount).toBe(2);
  expect(await client.invoke(get('none'))).toBeUndefined();
});

test('a timeout of the server is TIMEOUT, and an exhausted pool is OVERLOADED', async () => {
  const limited = { ...it.servers.connection('primary'), max: 1, connectionTimeoutMillis: 300 };
  const { client } = openForTest(it.servers, {
    primary: { ...limited, statement_timeout: 1_000 },
    replicas: [],
    statements: users,
  });
  const sleeping = client.invoke(users.sleep({ seconds: 600 }));
  const failed = catchFailure(sleeping);
  const waiting = client.invoke(put('full', 1));
  await expect(waiting).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(await failed).toMatchObject({ code: 'TIMEOUT' });
  expect(await client.invoke(get('full'))).toBeUndefined();
});
