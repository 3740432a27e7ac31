/** What the binding does when servers of PostgreSQL fail. */
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { openRoute, type Direction } from '../../../engines/delay-proxy.ts';
import { freePorts } from '../../../engines/ports.ts';
import {
  defineStatements,
  oneRow,
  standardPositions,
  type RunStatements,
} from '../../../src/bindings/postgres/index.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import { get, put } from '../../../src/operations/index.ts';
import {
  catchFailure,
  openForTest,
  poolForTest,
  prepareTables,
  untilAllCaughtUp,
  type OpenedPostgres,
} from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();

beforeAll(async () => {
  await it.servers.query(
    'primary',
    'create table big (n int); insert into big select generate_series(1, 1000)',
  );
  await prepareTables(it.servers);
});

const key = z.object({ key: z.string() });
const statements = defineStatements({
  slowCount: {
    access: 'read',
    sql: 'select count(*)::int as n, pg_sleep(:seconds)::text from big',
    args: z.object({ seconds: z.number() }),
    result: oneRow((row) => row['n']),
  },
  countAtReplica: {
    access: 'read',
    sql: 'select count(*)::int as n, case when pg_is_in_recovery() then pg_sleep(:seconds)::text end from big',
    args: z.object({ seconds: z.number() }),
    result: oneRow((row) => row['n']),
  },
  slowPut: {
    access: 'write',
    sql: 'insert into correctables_values (key, value) select :key, to_jsonb(pg_sleep(600)::text)',
    args: key,
  },
  addAndFail: { access: 'write', sql: 'call add_and_fail(:key)', args: key },
  add: {
    access: 'write',
    sql: "insert into correctables_values values (:key, '1')",
    args: key,
  },
  count: {
    access: 'write',
    sql: "insert into correctables_values values (:key, '1') on conflict (key) do update set value = to_jsonb(correctables_values.value::int + 1)",
    args: key,
  },
  mark: {
    access: 'write',
    sql: "insert into correctables_values values (:key, '1') on conflict (key) do update set value = '1'",
    args: key,
    isIdempotent: true,
  },
});

async function collect(
  { client }: Pick<OpenedPostgres, 'client'>,
  operation: Operation,
): Promise<unknown[]> {
  const views: unknown[] = [];
  for await (const { level, value } of client.invoke(operation)) views.push([level, value]);
  return views;
}

/** Waits until a server executes a statement, and returns its process. */
async function findProcess(server: string, part: string): Promise<number> {
  const text =
    "select pid from pg_stat_activity where query like $1 and state = 'active' and pid <> pg_backend_pid()";
  const find = async (): Promise<unknown> =>
    (await it.servers.query(server, text, [`%${part}%`]))[0]?.['pid'];
  await expect.poll(find).toBeTypeOf('number');
  return Number(await find());
}

// @rule REPL-2
test('a replica that is down is replaced by the next one, and used again when it is back', async () => {
  const opened = openForTest(it.servers);
  await opened.client.invoke(put('down', 1));
  await untilAllCaughtUp(it.servers);
  await collect(opened, get('down'));
  await it.servers.kill('replica-1');
  await it.servers.kill('replica-2');
  expect(await opened.client.invoke(get('down'))).toBe(1);
  expect(await opened.client.invokeWeak(get('down'))).toBe(1);
  expect(opened.binding.stats.replicaFailures).toBeGreaterThan(0);

  await it.servers.launch('replica-2');
  await it.servers.launch('replica-1');
  await expect.poll(() => collect(opened, get('down'))).toHaveLength(2);
});

// @rule REPL-2
test('a read in conflict with the replay fails its level only', async () => {
  const replicas = [{ ...it.servers.connection('replica-1') }];
  const opened = openForTest(it.servers, { replicas, statements });
  onTestFinished(async () => {
    await it.servers.query('primary', 'insert into big select generate_series(1, 1000)');
    await untilAllCaughtUp(it.servers);
  });
  const reading = opened.client.invokeWeak(statements.countAtReplica({ seconds: 15 }));
  await findProcess('replica-1', 'pg_sleep');
  // The replay needs the table for itself. It waits one second for the read, then it cancels it.
  await it.servers.query('primary', 'truncate big');
  expect(await reading).toBe(0); // by the primary
  expect(opened.binding.stats.replicaFailures).toBe(1);
  const text =
    "select sum(confl_lock)::int as n from pg_stat_database_conflicts where datname = 'postgres'";
  // A slow replica counts more than one: the replay repeats the cancellation every few milliseconds
  // until it is heeded.
  expect((await it.servers.query('replica-1', text))[0]?.['n']).toBeGreaterThan(0);
});

// @rule REPL-4
test('a killed process of the primary makes a write UNKNOWN, and of a replica fails its level', async () => {
  const opened = openForTest(it.servers, { statements });
  const writing = opened.client.invoke(statements.slowPut({ key: 'killed' }));
  const unknown = catchFailure(writing);
  await it.servers.query('primary', 'select pg_terminate_backend($1)', [
    await findProcess('primary', 'pg_sleep'),
  ]);
  expect(await unknown).toMatchObject({ code: 'UNKNOWN' });
  expect(await opened.client.invokeStrong(get('killed'))).toBeUndefined();

  const reading = collect(opened, statements.slowCount({ seconds: 1 }));
  await it.servers.query('replica-1', 'select pg_terminate_backend($1)', [
    await findProcess('replica-1', 'pg_sleep'),
  ]);
  expect((await reading).at(-1)).toEqual(['primary', 1000]);
});

// @rule REPL-4
test('a canceled write was not made', async () => {
  const opened = openForTest(it.servers, { statements });
  const writing = opened.client.invoke(statements.slowPut({ key: 'canceled' }));
  const failed = catchFailure(writing);
  await it.servers.query('primary', 'select pg_cancel_backend($1)', [
    await findProcess('primary', 'pg_sleep'),
  ]);
  expect(await failed).toMatchObject({ code: 'TIMEOUT' });
});

// @rule REPL-4
test('a procedure that commits and then fails is UNKNOWN, and any other statement changes nothing', async () => {
  const { client } = openForTest(it.servers, { statements });
  await it.servers.query(
    'primary',
    `create procedure add_and_fail(name text) language plpgsql as $$ begin
      insert into correctables_values values (name, '1');
      commit;
      raise exception 'the second half fails';
    end $$`,
  );
  await expect(client.invoke(statements.addAndFail({ key: 'half' }))).rejects.toMatchObject({
    code: 'UNKNOWN',
    retryable: false,
    message: expect.stringMatching(/the second half fails.*may have committed/),
  });
  expect(await client.invokeStrong(get('half'))).toBe(1);
  // In a session it is part of a transaction, where it must not commit.
  const session = client.session();
  await client.invokeStrong(get('half'), { session });
  await expect(
    client.invoke(statements.addAndFail({ key: 'whole' }), { session }),
  ).rejects.toMatchObject({
    code: 'FINAL_FAILED',
    message: expect.stringContaining('Nothing was written.'),
  });
  expect(await client.invokeStrong(get('whole'))).toBeUndefined();
  await expect(client.invoke(statements.add({ key: 'half' }))).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('Nothing was written.'),
  });
});

const SLOW_KEYS = `
  create function sleep_a_second() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$;
  create trigger slow before update on correctables_idempotency_keys for each row execute function sleep_a_second();
`;

interface HeldRoute {
  readonly port: number;
  /** Keeps what the primary sends, until `cut`. */
  hold(): void;
  /** Ends all connections, with what was held. */
  cut(): void;
}

/** A way to the primary whose answers can be lost. */
async function openHeldRoute(): Promise<HeldRoute> {
  const [listenPort = 0] = await freePorts(1);
  let isHeld = false;
  const oneWayMs = (towards: Direction): number => (isHeld && towards === 'client' ? Infinity : 0);
  const server = await openRoute({
    listenPort,
    targetPort: it.servers.server('primary').port,
    oneWayMs,
  });
  const sockets = new Set<{ destroy(): unknown }>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  onTestFinished(() => void server.close());
  return {
    port: listenPort,
    hold: () => void (isHeld = true),
    cut() {
      for (const socket of sockets) socket.destroy();
      isHeld = false;
    },
  };
}

async function readValue(name: string): Promise<unknown> {
  const [row] = await it.servers.query(
    'primary',
    'select value from correctables_values where key = $1',
    [name],
  );
  return row?.['value'];
}

// @rule REPL-4
test('a primary that is lost between commit and answer makes a write UNKNOWN, though it was made', async () => {
  const route = await openHeldRoute();
  const { client } = openForTest(it.servers, {
    primary: { ...it.servers.connection('primary', route.port) },
    statements,
  });
  await client.invoke(statements.count({ key: 'lost' }));
  route.hold();
  const writing = client.invoke(statements.count({ key: 'lost' }));
  const unknown = catchFailure(writing);
  await expect.poll(() => readValue('lost')).toBe(2);
  route.cut();
  expect(await unknown).toMatchObject({ code: 'UNKNOWN', retryable: false });
  expect(await client.invokeStrong(get('lost'))).toBe(2);
});

// @rule REPL-4
test('an idempotent write whose answer is lost is sent again', async () => {
  const route = await openHeldRoute();
  const { client } = openForTest(it.servers, {
    primary: { ...it.servers.connection('primary', route.port) },
    statements,
  });
  await client.invoke(get('again'));
  route.hold();
  const writing = client.invoke(statements.mark({ key: 'again' }));
  await expect.poll(() => readValue('again')).toBe(1);
  route.cut();
  await writing;
});

// @rule REPL-12
test('a write with an idempotency key whose answer is lost is sent again, and made once', async () => {
  const route = await openHeldRoute();
  const { client } = openForTest(it.servers, {
    primary: { ...it.servers.connection('primary', route.port) },
    statements,
  });
  await client.invoke(get('keyed'));
  // The second trip of the write stores its result, and takes a second here. Its answer is lost.
  await it.servers.query('primary', SLOW_KEYS);
  const writing = client.invoke(statements.count({ key: 'keyed' }), { idempotencyKey: 'once' });
  await findProcess('primary', 'update %correctables_idempotency_keys');
  route.hold();
  await expect.poll(() => readValue('keyed')).toBe(1);
  route.cut();
  await writing;
  expect(await readValue('keyed')).toBe(1);
});

// @rule REPL-2
test('the alarm and the error name a replica as its option does', async () => {
  const onAlarm = vi.fn();
  const away = { ...it.servers.connection('replica-1'), host: '127.0.0.1', port: 9 };
  const unreached = openForTest(it.servers, { primary: away, replicas: [away] }).client.invoke(
    get('named'),
  );
  const includes = (text: string): string => expect.stringContaining(text) as string;
  expect(await catchFailure(unreached)).toMatchObject({
    message: includes('postgres: primary: no connection: connect ECONNREFUSED'),
    levelErrors: {
      replica: { message: includes('postgres: replicas[0]: no connection: connect ECONNREFUSED') },
    },
  });

  const withoutPosition = { positions: { sql: 'select unknown_position() as lsn' }, onAlarm };
  await openForTest(it.servers, withoutPosition).client.invokeWeak(get('named'));
  expect(onAlarm.mock.calls).toMatchObject([[{ message: includes('"replicas[0]"') }]]);
});

// @rule REPL-4
test('a primary that is a replica refuses writes', async () => {
  const { client } = openForTest(it.servers, {
    primary: { ...it.servers.connection('replica-1') },
  });
  await expect(client.invoke(put('wrong', 1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

// @rule REPL-14
test('a primary that is a replica refuses reads, and gives no final view', async () => {
  const primary = { ...it.servers.connection('replica-1') };
  const pool = poolForTest(it.servers, 'replica-1');
  const run: RunStatements = async (statements) => {
    const connection = await pool.connect();
    try {
      const results = [];
      for (const { text, values } of statements) {
        const { rows, rowCount } = await connection.query(text, [...values]);
        results.push({ rows, rowCount: rowCount ?? 0 });
      }
      return results;
    } finally {
      await connection.query('rollback');
      connection.release();
    }
  };
  await openForTest(it.servers).client.invoke(put('stale', 'old'));
  await untilAllCaughtUp(it.servers);
  await it.servers.pauseReplay('replica-1');
  onTestFinished(() => it.servers.resumeReplay('replica-1'));
  await openForTest(it.servers).client.invoke(put('stale', 'new'));
  await it.servers.untilCaughtUp('replica-2');

  const replicas = [{ ...it.servers.connection('replica-2') }];
  const withoutPositions = {
    positions: { sql: 'select unknown_position() as lsn;' },
    onAlarm: () => {},
  };
  const ownPositions = { positions: { sql: `${standardPositions.sql}; ` } };
  for (const options of [{}, withoutPositions, ownPositions, { primary: { run } }]) {
    const { client, binding } = openForTest(it.servers, { primary, replicas, ...options });
    const refused = {
      code: 'UNAVAILABLE',
      message: expect.stringContaining(
        'get: the server at "primary" is a replica. Nothing was read.',
      ),
    };
    for (const session of [undefined, client.session()]) {
      await expect(client.invokeStrong(get('stale'), { session })).rejects.toMatchObject(refused);
      const levels: string[] = [];
      const reading = client
        .invoke(get('stale'), { session })
        .onUpdate((_value, { level }) => void levels.push(level));
      await expect(reading).rejects.toMatchObject(refused);
      expect(levels).not.toContain('primary');
    }
    await binding.close();
  }
});

// @rule REPL-10
test('after a failover, a session starts at the new primary', async () => {
  const before = openForTest(it.servers);
  const session = before.client.session();
  await before.client.invoke(put('failover', 1), { session });
  await untilAllCaughtUp(it.servers);
  await it.servers.failOver('replica-1');
  // Until it receives something of the new timeline, a replica reports the old one.
  const received = 'select received_tli as timeline from pg_stat_wal_receiver';
  await expect
    .poll(() => it.servers.query('replica-2', received), { timeout: 20_000 })
    .toEqual([{ timeline: 2 }]);

  const after = openForTest(it.servers, {
    primary: { ...it.servers.connection('replica-1') },
    replicas: [{ ...it.servers.connection('replica-2') }],
  });
  const going = after.client.session({ tokens: session.tokens });
  const views: unknown[] = [];
  for await (const { level, value } of after.client.invoke(get('failover'), { session: going }))
    views.push([level, value]);
  expect(views).toEqual([['primary', 1]]);
  await after.client.invoke(put('failover', 2), { session: going });
  await it.servers.untilCaughtUp('replica-2', 'replica-1');
  expect(await after.client.invokeWeak(get('failover'), { session: going })).toBe(2);
  expect(after.binding.stats.replicaViews).toBeGreaterThan(0);
});
