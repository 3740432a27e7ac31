/**
 * The column of PostgreSQL: what users see of each fault of its servers, and how soon the binding
 * works again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { usePostgres } from '../../../engines/postgres/engine.ts';
import type { PostgresServers } from '../../../engines/postgres/servers.ts';
import {
  defineStatements,
  oneRow,
  postgres as bindPostgres,
  type PostgresOptions,
} from '../../../src/bindings/postgres/index.ts';
import type { ReplicaLevels, ReplicasBinding } from '../../../src/bindings/replicas/index.ts';
import { createClient, type Client } from '../../../src/correctable/client/client.ts';
import type { CorrectableError } from '../../../src/correctable/errors.ts';
import { get, put } from '../../../src/operations/index.ts';
import { prepareTables, TOKEN_KEY, untilAllCaughtUp } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';
import { postgres } from './columns/postgres.ts';
import { describeFaults, expectRecovery } from './support/matrix.ts';
import { ServerName } from './support/server-name.ts';

const it = withPostgres();

const TIMEOUT_MS = 4_000;
/** How long a server is frozen. */
const FREEZE_MS = process.env['ENGINES_SHORT'] === undefined ? 30_000 : 6_000;

const statements = defineStatements({
  order: {
    access: 'write',
    sql: 'insert into orders (id) select :id from pg_sleep(:seconds) returning id',
    args: z.object({ id: z.string(), seconds: z.number() }),
    result: oneRow((row) => row['id']),
  },
  bike: {
    access: 'read',
    sql: 'select * from bikes where id = :id',
    args: z.object({ id: z.int() }),
    result: oneRow((row) => readName(row)),
  },
  rename: {
    access: 'write',
    sql: 'update bikes set name = :name where id = :id returning *',
    args: z.object({ id: z.int(), name: z.string() }),
    result: oneRow((row) => row['name']),
  },
});

function readName({ name }: Readonly<Record<string, unknown>>): unknown {
  if (name === 'unreadable') throw new SyntaxError('the name cannot be read');
  return name;
}

beforeAll(async () => {
  await prepareTables(it.servers);
  await it.servers.query('primary', 'create table orders (id text)');
  await it.servers.query(
    'primary',
    "create table bikes (id int primary key, name text); insert into bikes values (1, 'red'), (2, 'blue')",
  );
  await untilAllCaughtUp(it.servers);
}, 60_000);

interface Opened {
  readonly binding: ReplicasBinding;
  readonly client: Client<ReplicaLevels>;
}

/** A binding to the servers, or to one by a name, until the test ends. */
function open(options: Partial<PostgresOptions> & { readonly name?: ServerName } = {}): Opened {
  const { name, ...more } = options;
  const binding = bindPostgres({
    primary: { ...it.servers.connection('primary', name?.port), max: 4, idleTimeoutMillis: 0 },
    replicas: it.servers.replicas.map((replica) => ({ ...it.servers.connection(replica.name) })),
    tokenKey: TOKEN_KEY,
    statements,
    ...more,
  });
  const client = createClient(binding, { timeoutMs: TIMEOUT_MS });
  onTestFinished(() => binding.close());
  return { binding, client };
}

/** Servers that a test may destroy. */
async function openServers(replicas = 1): Promise<PostgresServers> {
  const used = await usePostgres({ replicas }, () => {});
  onTestFinished(() => used.stop());
  await prepareTables(used.servers);
  return used.servers;
}

interface Outcome {
  readonly value?: unknown;
  readonly error?: CorrectableError;
}

function settle(operation: PromiseLike<unknown>): Promise<Outcome> {
  return Promise.resolve(operation).then(
    (value) => ({ value }),
    (error: CorrectableError) => ({ error }),
  );
}

/** Fills the pool of the primary with connections. */
async function warmUp({ client }: Opened): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, (_, n) => client.invoke(put(`warm ${n}`, n))));
}

async function countOrders(id: string): Promise<number> {
  const [row] = await it.servers.query(
    'primary',
    'select count(*)::int as n from orders where id like $1',
    [id],
  );
  return Number(row?.['n']);
}

describeFaults(postgres, {
  killed: async () => {
    const opened = open();
    await warmUp(opened);
    const { client } = opened;
    await client.invoke(put('killed', 'acknowledged'));
    await untilAllCaughtUp(it.servers);
    await client.invoke(get('killed'));
    await it.servers.kill('primary');
    expect(await client.invokeWeak(get('killed'))).toBe('acknowledged');
    const reading = await settle(client.invoke(get('killed')));
    expect(reading.error).toMatchObject({
      code: 'UNAVAILABLE',
      lastView: { value: 'acknowledged', level: 'replica' },
    });
    expect((await settle(client.invoke(put('killed', 'lost')))).error?.code).toMatch(
      /^(UNAVAILABLE|UNKNOWN)$/,
    );

    await it.servers.launch('primary');
    expect(await expectRecovery(TIMEOUT_MS, () => client.invokeStrong(get('killed')))).toBe(
      'acknowledged',
    );
    await client.invoke(put('killed', 'after'));
  },

  frozen: async () => {
    const opened = open();
    const { client, binding } = opened;
    await warmUp(opened);
    await client.invoke(put('frozen', 1));
    await untilAllCaughtUp(it.servers);
    await client.invoke(get('frozen'));
    const frozen: string[] = [];
    onTestFinished(() => frozen.forEach((server) => it.servers.thaw(server)));
    for (const server of ['replica-1', 'primary']) {
      frozen.push(server);
      it.servers.freeze(server);
    }
    const thawed = new Promise((resolve) => setTimeout(resolve, FREEZE_MS));

    // The next replica answers.
    expect(await client.invokeWeak(get('frozen'))).toBe(1);
    expect(binding.stats.replicaFailures).toBe(1);
    expect(await client.invokeWeak(get('frozen'))).toBe(1);
    expect(binding.stats.replicaFailures).toBe(1);
    const [reading, writing] = await Promise.all([
      settle(client.invokeStrong(get('frozen'))),
      settle(client.invoke(put('frozen', 2))),
    ]);
    expect(reading.error?.code).toMatch(/^(UNAVAILABLE|TIMEOUT)$/);
    // An idempotent write is sent again until it is known.
    expect(writing.error?.code).toBe('UNKNOWN');

    await thawed;
    for (const server of frozen) it.servers.thaw(server);
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('frozen', 3)));
    expect(await client.invokeStrong(get('frozen'))).toBe(3);
    await expectRecovery(TIMEOUT_MS, async () => {
      const view = await client.invoke(get('frozen')).when('replica');
      expect(view.value).toBe(3);
    });
  },

  cut: async () => {
    const name = await ServerName.open(it.servers.server('primary').port);
    const opened = open({ name });
    const { client } = opened;
    await warmUp(opened);
    await client.invoke(put('cut', 'acknowledged'));
    name.cut();
    // A read is repeated on a new connection. A write may have been made, so it is not.
    const reading = client.invokeStrong(get('cut'));
    const order = settle(client.invoke(statements.order({ id: 'cut', seconds: 0 })));
    expect(await reading).toBe('acknowledged');
    expect((await order).error?.code).toMatch(/^(UNAVAILABLE|UNKNOWN)$/);
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('cut', 'after')));

    const writing = settle(
      client.invoke(statements.order({ id: 'keyed', seconds: 0.3 }), {
        idempotencyKey: 'keyed order',
      }),
    );
    const text =
      "select 1 from pg_stat_activity where query like 'insert into orders%' and state = 'active'";
    await expect.poll(() => it.servers.query('primary', text), { interval: 10 }).toHaveLength(1);
    // Cut between its two trips, it holds its key at the server until that ends its transaction.
    name.cut();
    const first = await writing;
    if (first.error !== undefined)
      await expectRecovery(TIMEOUT_MS, () =>
        client.invoke(statements.order({ id: 'keyed', seconds: 0.3 }), {
          idempotencyKey: 'keyed order',
        }),
      );
    expect(await countOrders('keyed')).toBe(1);
  },

  halfOpen: async () => {
    const name = await ServerName.open(it.servers.server('primary').port);
    const opened = open({ name });
    const { client } = opened;
    await warmUp(opened);
    name.loseAnswers();
    const { error } = await settle(client.invoke(statements.order({ id: 'half', seconds: 0 })));
    expect(error).toMatchObject({ code: 'UNKNOWN', retryable: false });
    expect(await countOrders('half')).toBe(1); // It was made.
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('half open', 1)));
    await warmUp(opened);
    name.loseAnswers();
    const keyed = statements.order({ id: 'half keyed', seconds: 0 });
    expect(await client.invoke(keyed, { idempotencyKey: 'half open' })).toBe('half keyed');
    expect(await countOrders('half keyed')).toBe(1);
  },

  demoted: async () => {
    const name = await ServerName.open(it.servers.server('replica-1').port);
    const { client } = open({ name });
    await it.servers.query(
      'primary',
      "insert into correctables_values values ('demoted', '1') on conflict do nothing",
    );
    await untilAllCaughtUp(it.servers);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const reading = await settle(client.invokeStrong(get('demoted')));
      const writing = await settle(client.invoke(put('demoted', 2)));
      for (const { error } of [reading, writing])
        expect(error).toMatchObject({
          code: 'UNAVAILABLE',
          message: expect.stringContaining('a replica'),
        });
    }
    name.targetPort = it.servers.server('primary').port;
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('demoted', 3)));
    expect(await client.invokeStrong(get('demoted'))).toBe(3);
  },

  promoted: async () => {
    const servers = await openServers();
    const [replica] = servers.replicas;
    const name = await ServerName.open(servers.server('primary').port);
    const options = { replicas: [], primary: { ...servers.connection('primary', name.port) } };
    const { client } = open(options);
    await client.invoke(put('promoted', 'before'));
    await servers.untilCaughtUp(replica!.name);
    await servers.query(replica!.name, 'select pg_promote()');
    const moved = open({ ...options, primary: { ...servers.connection(replica!.name) } });
    const session = moved.client.session();
    await expectRecovery(TIMEOUT_MS, () =>
      moved.client.invoke(put('promoted', 'after'), { session }),
    );

    // The old primary still runs, and the name leads to it.
    const there = client.session({ tokens: session.tokens });
    const { error } = await settle(client.invokeStrong(get('promoted'), { session: there }));
    expect(error?.code).toMatch(/^(UNAVAILABLE|REPLICA_BEHIND)$/);
    name.targetPort = servers.server(replica!.name).port;
    const read = () => client.invokeStrong(get('promoted'), { session: there });
    expect(await expectRecovery(TIMEOUT_MS, read)).toBe('after');
  },

  moved: async () => {
    const servers = await openServers();
    const [replica] = servers.replicas;
    const name = await ServerName.open(servers.server('primary').port);
    const primary = { ...servers.connection('primary', name.port), max: 4, idleTimeoutMillis: 0 };
    const opened = open({ replicas: [], primary });
    await warmUp(opened);
    await opened.client.invoke(put('moved', 'acknowledged'));
    await servers.untilCaughtUp(replica!.name);
    // The old host is gone without a word: its connections stay open.
    name.cut();
    await servers.failOver(replica!.name);
    name.targetPort = servers.server(replica!.name).port;
    const read = () => opened.client.invokeStrong(get('moved'));
    expect(await expectRecovery(TIMEOUT_MS, read)).toBe('acknowledged');
    await expectRecovery(TIMEOUT_MS, () => opened.client.invoke(put('moved', 'after')));
  },

  crashed: async () => {
    const servers = await openServers(0);
    const { client } = open({ replicas: [], primary: { ...servers.connection('primary') } });
    const session = client.session();
    await client.invoke(put('crashed', 'acknowledged'), { session });
    const other = new pg.Client({ ...servers.connection('primary') });
    other.on('error', () => {}); // Its server is killed.
    await other.connect();
    await other.query('create table bulk (x text)');
    await other.query(
      "begin; insert into bulk select repeat('x', 1000) from generate_series(1, 300)",
    );
    expect(await client.invokeStrong(get('crashed'), { session })).toBe('acknowledged');
    await servers.kill('primary');
    await servers.launch('primary');
    const read = () => client.invokeStrong(get('crashed'), { session });
    expect(await expectRecovery(TIMEOUT_MS, read)).toBe('acknowledged');
  },

  restored: async () => {
    const [before, after] = [await openServers(0), await openServers(0)];
    const name = await ServerName.open(before.server('primary').port);
    const alarms: string[] = [];
    const { client } = open({
      replicas: [],
      primary: { ...before.connection('primary', name.port) },
      onAlarm: ({ code }) => void alarms.push(code),
    });
    const session = client.session();
    await client.invoke(put('restored', 'before'), { session });
    await after.query(
      'primary',
      `insert into correctables_values values ('restored', '"from the backup"')`,
    );
    await before.kill('primary');
    name.targetPort = after.server('primary').port;
    // Processes of the server that was killed may answer for a moment.
    await expectRecovery(TIMEOUT_MS, async () =>
      expect(await client.invokeStrong(get('restored'))).toBe('from the backup'),
    );
    expect(await client.invoke(get('restored'), { session }).settle()).toMatchObject({
      regressed: true,
    });
    expect(alarms).toEqual(['lost-writes']);
    expect(await client.invokeStrong(get('restored'), { session: client.session() })).toBe(
      'from the backup',
    );
  },

  credentials: async () => {
    const { servers } = it;
    await servers.query(
      'primary',
      "create role clerk login password 'first'; grant all on all tables in schema public to clerk",
    );
    const rules = join(servers.dataFolder('primary'), 'pg_hba.conf');
    const text = readFileSync(rules, 'utf8');
    const reload = async (content: string): Promise<void> => {
      writeFileSync(rules, content);
      await servers.query('primary', 'select pg_reload_conf()');
    };
    onTestFinished(() => reload(text));
    await reload(`host all clerk 127.0.0.1/32 scram-sha-256\n${text}`);
    const endSessions =
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'clerk'";
    const primary = { ...servers.connection('primary'), user: 'clerk', password: 'first' };
    const alarms: unknown[] = [];
    const onAlarm = (alarm: unknown): void => void alarms.push(alarm);
    const { client } = open({ primary, replicas: [], onAlarm });
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('credentials', 1)));
    const changes: readonly (readonly [string, RegExp, string])[] = [
      [
        "alter role clerk password 'second'",
        /password authentication failed/,
        "alter role clerk password 'first'",
      ],
      ['alter role clerk nologin', /not permitted to log in/, 'alter role clerk login'],
    ];
    for (const [change, words, revert] of changes) {
      await servers.query('primary', change);
      await servers.query('primary', endSessions);
      // A write on a connection that has just ended is UNKNOWN.
      await settle(client.invokeStrong(get('credentials')));
      for (const { error } of [
        await settle(client.invokeStrong(get('credentials'))),
        await settle(client.invoke(put('credentials', 2))),
      ])
        expect(error).toMatchObject({
          code: 'UNAUTHENTICATED',
          retryable: false,
          message: expect.stringMatching(words) as string,
        });
      expect(alarms.splice(0)).toMatchObject([
        { code: 'access-refused', message: expect.stringMatching(words) },
      ]);
      await servers.query('primary', revert);
      await expectRecovery(TIMEOUT_MS, () => client.invoke(put('credentials', 3)));
    }
  },

  connections: async () => {
    const { servers } = it;
    await servers.query(
      'primary',
      'create role crowd login connection limit 0; grant all on all tables in schema public to crowd',
    );
    const { client } = open({
      primary: { ...servers.connection('primary'), user: 'crowd' },
      replicas: [],
    });
    for (const { error } of [
      await settle(client.invokeStrong(get('crowd'))),
      await settle(client.invoke(put('crowd', 1))),
    ])
      expect(error).toMatchObject({
        code: 'OVERLOADED',
        message: expect.stringContaining('Nothing was sent.'),
      });
    await servers.query('primary', 'alter role crowd connection limit 1');
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('crowd', 2)));
  },

  space: async () => {
    const { client } = open();
    await client.invoke(put('space', 1));
    await it.servers.query(
      'primary',
      `create function no_space() returns trigger language plpgsql as $$ begin raise exception using errcode = '53100', message = 'could not extend file: No space left on device'; end $$;
      create trigger no_space before insert or update on correctables_values for each row execute function no_space()`,
    );
    const free =
      'drop trigger if exists no_space on correctables_values; drop function if exists no_space()';
    onTestFinished(async () => void (await it.servers.query('primary', free)));
    const { error } = await settle(client.invoke(put('space', 2)));
    expect(error).toMatchObject({
      code: 'OVERLOADED',
      message: expect.stringContaining('Nothing was written.'),
    });
    expect(await client.invokeStrong(get('space'))).toBe(1);
    await it.servers.query('primary', free);
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('space', 3)));
  },

  readOnly: async () => {
    const { client } = open();
    await client.invoke(put('read only', 1));
    const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
      await it.servers.query('primary', 'set default_transaction_read_only = off', []);
      await it.servers.query(
        'primary',
        `alter system set default_transaction_read_only = ${value}`,
      );
      await it.servers.query('primary', 'select pg_reload_conf()');
    };
    await setReadOnly('on');
    onTestFinished(() => setReadOnly('off'));
    const refused = {
      code: 'UNAVAILABLE',
      message: expect.stringContaining('accepts no writes') as string,
    };
    await expect
      .poll(async () => (await settle(client.invoke(put('read only', 2)))).error)
      .toMatchObject({ ...refused, message: expect.stringContaining('Nothing was written.') });
    const keyed = statements.order({ id: 'read only', seconds: 0 });
    expect(
      (await settle(client.invoke(keyed, { idempotencyKey: 'read only' }))).error,
    ).toMatchObject(refused);
    expect(await client.invokeStrong(get('read only'))).toBeDefined();
    await setReadOnly('off');
    await expectRecovery(TIMEOUT_MS, () => client.invoke(put('read only', 3)));
  },

  migration: async () => {
    const { client, binding } = open();
    const bike = statements.bike({ id: 1 });
    for (let n = 0; n < 4; n += 1) await client.invoke(bike);
    await client.invoke(statements.rename({ id: 1, name: 'green' }));
    const { replicaFailures } = binding.stats;
    await it.servers.query('primary', 'alter table bikes add column gears int');
    await untilAllCaughtUp(it.servers);
    // All connections have prepared it, and none of them fails.
    const reads = Array.from({ length: 8 }, () => client.invokeStrong(bike));
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['green']));
    expect(await client.invokeWeak(bike)).toBe('green');
    expect(await client.invoke(statements.rename({ id: 1, name: 'blue' }))).toBe('blue');
    const keyed = statements.rename({ id: 1, name: 'grey' });
    expect(await client.invoke(keyed, { idempotencyKey: 'grey' })).toBe('grey');
    expect(binding.stats.replicaFailures).toBe(replicaFailures);
  },

  foreignValue: async () => {
    const { client, binding } = open();
    await it.servers.query('primary', "update bikes set name = 'unreadable' where id = 2");
    await untilAllCaughtUp(it.servers);
    const { error } = await settle(client.invokeWeak(statements.bike({ id: 2 })));
    expect(error).toMatchObject({ retryable: false });
    const { level } = await client
      .invoke(statements.bike({ id: 1 }), { levels: ['replica'] })
      .settle();
    expect(level).toBe('replica');
    expect(binding.stats.replicaFailures).toBe(0);
    await it.servers.query('primary', "update bikes set name = 'blue' where id = 2");
    expect(await client.invokeStrong(statements.bike({ id: 2 }))).toBe('blue');
  },

  parsers: async () => {
    const { client } = open();
    await client.invoke(put('parsers', { a: 1 }));
    const JSONB = 3802;
    const parse = pg.types.getTypeParser(JSONB);
    onTestFinished(() => pg.types.setTypeParser(JSONB, parse));
    pg.types.setTypeParser(JSONB, (text: string) => text);
    expect(await client.invokeStrong(get('parsers'))).toEqual({ a: 1 });
  },

  callerLeaves: async () => {
    const opened = open();
    const { client } = opened;
    await warmUp(opened);
    const leaving = Array.from({ length: 30 }, async (_, n) => {
      const controller = new AbortController();
      const { signal } = controller;
      const keyed = statements.order({ id: `left ${n}`, seconds: 0.02 });
      const operations = [
        settle(client.invoke(keyed, { idempotencyKey: `left ${n}`, signal })),
        settle(client.invoke(get('warm 1'), { signal })),
        settle(client.invoke(put(`left ${n}`, n), { signal })),
      ];
      // From the first step, the look for a connection, to the last.
      await new Promise((resolve) => setTimeout(resolve, n * 3));
      controller.abort();
      return await Promise.all(operations);
    });
    for (const { error } of (await Promise.all(leaving)).flat())
      if (error !== undefined) expect(error.code).toMatch(/^(ABORTED|UNKNOWN|OVERLOADED)$/);
    // With their keys, all are made once.
    for (let n = 0; n < 30; n += 1) {
      const keyed = statements.order({ id: `left ${n}`, seconds: 0.02 });
      expect(await client.invoke(keyed, { idempotencyKey: `left ${n}` })).toBe(`left ${n}`);
    }
    expect(await countOrders('left %')).toBe(30);
    await warmUp(opened);
  },
});
