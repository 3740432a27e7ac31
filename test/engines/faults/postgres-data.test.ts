/** Faults of PostgreSQL that lose or change data: what a session and a key see of each. */
import { execFile } from 'node:child_process';
import { chownSync, cpSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { usePostgres } from '../../../engines/postgres/engine.ts';
import { signalDaemon, stopDaemon } from '../../../engines/process.ts';
import type { PostgresServers } from '../../../engines/postgres/servers.ts';
import {
  defineStatements,
  oneRow,
  type PostgresOptions,
} from '../../../src/bindings/postgres/index.ts';
import type { Client, Session } from '../../../src/correctable/client/client.ts';
import type { ReplicaLevels } from '../../../src/bindings/replicas/index.ts';
import { dequeue, enqueue, get, put } from '../../../src/operations/index.ts';
import { transaction } from '../../../src/transactions/index.ts';
import { openForTest, prepareTables } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';
import { expectRecovery } from './support/matrix.ts';

const TIMEOUT_MS = 20_000;
const it = withPostgres({ replicas: 0 });

beforeAll(async () => {
  await it.servers.query(
    'primary',
    'create table loans (id int primary key, period interval, due timestamptz, data jsonb)',
  );
  await prepareTables(it.servers);
});

const lendSql = `insert into loans values (:id, '14 days', 'infinity', :data::jsonb) returning period, due, data, 'NaN'::float8 as rate`;
const statements = defineStatements({
  lend: {
    access: 'write',
    sql: lendSql,
    args: z.object({ id: z.int(), data: z.any() }),
    result: oneRow((row) => row),
  },
});

/** Servers that one test promotes, restores or makes again. */
async function openServers(replicas = 0): Promise<PostgresServers> {
  const used = await usePostgres({ replicas }, () => {});
  onTestFinished(() => used.stop());
  await prepareTables(used.servers);
  return used.servers;
}

function openAt(
  servers: PostgresServers,
  name = 'primary',
  options: Partial<PostgresOptions> = {},
) {
  const primary = { ...servers.connection(name) };
  return openForTest(servers, { primary, replicas: [], onAlarm: () => {}, ...options }).client;
}

/** A final view in a session, as `value` or `value (regressed)`. */
async function read(client: Client<ReplicaLevels>, key: string, session: Session): Promise<string> {
  const view = await client.invoke(get(key), { session, levels: ['primary'] }).settle();
  return `${String(view.value)}${'regressed' in view ? ' (regressed)' : ''}`;
}

// @rule REPL-16
test('a crash that loses only what was not committed marks nothing, and the session goes on', async () => {
  const client = openAt(it.servers);
  await client.invoke(put('crash', 'committed'));
  const other = new pg.Client({ ...it.servers.connection('primary') });
  other.on('error', () => {}); // Its server is killed.
  await other.connect();
  await other.query('create table if not exists bulk (x text)');
  const session = client.session();
  // What it writes stays in memory until the log is flushed.
  await other.query(
    "begin; insert into bulk select repeat('x', 1000) from generate_series(1, 300)",
  );
  expect(await read(client, 'crash', session)).toBe('committed');
  await it.servers.kill('primary');
  await it.servers.launch('primary');
  expect(await expectRecovery(TIMEOUT_MS, () => read(client, 'crash', session))).toBe('committed');
});

// @rule REPL-14, REPL-16
test('a failover that lost a write marks its session, and the old primary serves no session of the new one', async () => {
  const servers = await openServers(1);
  const replica = servers.replicas[0]!.name;
  const before = openAt(servers, 'primary', { statements });
  const session = before.session();
  await before.invoke(put('cart', 'empty'), { session });
  const kept = before.session({ tokens: session.tokens });
  await loseReplication(servers, replica);
  await before.invoke(put('cart', 'one chair'), { session });
  await servers.query(replica, 'select pg_promote()');

  const after = openAt(servers, replica);
  const resume = ({ tokens }: Session): Session => after.session({ tokens: tokens! });
  await expectRecovery(TIMEOUT_MS, async () => await after.invoke(put('after', 'the failover')));
  for (const moved of [resume(session), resume(session)]) {
    expect(await read(after, 'cart', moved)).toBe('empty (regressed)');
    expect(await read(after, 'cart', moved)).toBe('empty (regressed)');
  }
  expect(await read(after, 'cart', after.session())).toBe('empty');
  // What this session has seen is there.
  const going = resume(kept);
  expect(await read(after, 'cart', going)).toBe('empty');

  // The old primary still runs. Each kind of operation is refused there, and nothing is written.
  await after.invoke(put('cart', 'two chairs'), { session: going });
  const there = before.session({ tokens: going.tokens! });
  const operations = [
    () => before.invokeStrong(get('cart'), { session: there }),
    () => before.invoke(put('lost', 1), { session: there }),
    () => before.invoke(put('lost', 1), { session: there, idempotencyKey: 'lost' }),
    () => before.invoke(dequeue('lost'), { session: there }),
    () => transaction(before, async (tx) => tx.put('lost', 1), { session: there }),
  ];
  for (const operation of operations)
    await expect(operation()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('is an old primary'),
    });
  expect(
    await servers.query('primary', "select from correctables_values where key = 'lost'"),
  ).toEqual([]);
  expect(await servers.query('primary', 'select from correctables_idempotency_keys')).toEqual([]);
});

// @rule REPL-16
test('a backup that was restored, or a database made again, marks the sessions of what is gone', async () => {
  const servers = await openServers();
  const client = openAt(servers);
  const session = client.session();
  await client.invoke(put('restored', 'old'), { session });
  const data = join(servers.state.folder, 'primary');
  await servers.kill('primary');
  const copyOptions = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
  cpSync(data, `${data}-copy`, copyOptions);
  await servers.launch('primary');
  const [fromCopy] = session.tokens!;
  await expectRecovery(
    TIMEOUT_MS,
    async () => await client.invoke(put('restored', 'new'), { session }),
  );
  await servers.kill('primary');
  rmSync(data, { recursive: true });
  cpSync(`${data}-copy`, data, copyOptions);
  restoreOwner(servers, data);
  await servers.launch('primary');

  expect(await expectRecovery(TIMEOUT_MS, () => read(client, 'restored', session))).toBe(
    'old (regressed)',
  );
  expect(await read(client, 'restored', client.session({ tokens: [fromCopy!] }))).toBe('old');
  // Another cluster has nothing of it.
  const another = openAt(it.servers);
  expect(await read(another, 'restored', another.session({ tokens: [fromCopy!] }))).toBe(
    'undefined (regressed)',
  );
});

// @rule REPL-16
test('a failover that lost a write marks its session, also in a process that began after the new primary was restarted', async () => {
  const servers = await openServers(1);
  const replica = servers.replicas[0]!.name;
  const before = openAt(servers);
  const session = before.session();
  await before.invoke(put('order', 'none'), { session });
  await loseReplication(servers, replica);
  await before.invoke(put('order', 'a chair'), { session });
  await servers.kill('primary');
  await servers.query(replica, 'select pg_promote()');
  // Its log gets longer than what the session has seen.
  await servers.query(replica, 'select pg_switch_wal()');
  await servers.query(replica, 'create table bulk as select generate_series(1, 20000) as n');
  await restartOrderly(servers, replica);

  const after = openAt(servers, replica);
  const resumed = after.session({ tokens: session.tokens! });
  expect(await expectRecovery(TIMEOUT_MS, () => read(after, 'order', resumed))).toBe(
    'none (regressed)',
  );
  // A session that begins there is not marked, also after another restart.
  const fresh = after.session();
  await after.invoke(put('order', 'two chairs'), { session: fresh });
  await restartOrderly(servers, replica);
  const later = openAt(servers, replica);
  const going = later.session({ tokens: fresh.tokens! });
  expect(await expectRecovery(TIMEOUT_MS, () => read(later, 'order', going))).toBe('two chairs');
});

// @rule REPL-16
test('a log that was reset marks the sessions of what is gone', async () => {
  const servers = await openServers();
  const client = openAt(servers);
  const session = client.session();
  await client.invoke(put('reset', 'old'), { session });
  await servers.query('primary', 'checkpoint');
  for (let n = 0; n < 3; n += 1) {
    await client.invoke(put('reset', `new ${n}`), { session });
    await servers.query('primary', 'select pg_switch_wal()');
  }
  await client.invoke(put('reset', 'newest'), { session });
  await servers.kill('primary');
  const { user } = servers.state;
  const data = servers.dataFolder('primary');
  const log = join(data, 'pg_wal');
  for (const name of readdirSync(log)) if (/^[0-9A-F]{24}$/.test(name)) rmSync(join(log, name));
  rmSync(join(data, 'postmaster.pid'), { force: true });
  await promisify(execFile)(await findProgram(servers, 'pg_resetwal'), ['-f', data], {
    env: { ...process.env, ...servers.state.programs.env },
    ...user,
  });
  await servers.launch('primary');
  // The same process, and one that is new.
  for (const at of [client, openAt(servers)]) {
    const resumed = at === client ? session : at.session({ tokens: session.tokens! });
    expect(await expectRecovery(TIMEOUT_MS, () => read(at, 'reset', resumed))).toMatch(
      /\(regressed\)$/,
    );
  }
});

// @rule REPL-5
test('an idle replica serves sessions after the log has switched to a new file', async () => {
  const servers = await openServers(1);
  const { client } = openForTest(servers);
  const session = client.session();
  await client.invoke(put('switched', 1), { session });
  await servers.query('primary', 'select pg_switch_wal()');
  await client.invokeStrong(get('switched'), { session });
  const readWeak = async (): Promise<string> =>
    (await client.invoke(get('switched'), { session, levels: ['replica'] }).settle()).level;
  await expect.poll(readWeak, { timeout: TIMEOUT_MS }).toBe('replica');
});

// @rule REPL-12
test('a key has the same result each time, also of columns that JSON lacks, and parsers of others change nothing', async () => {
  const { types } = pg;
  const { JSON: json, JSONB: jsonb } = types.builtins;
  const own = [json, jsonb].map((oid) => types.getTypeParser(oid));
  onTestFinished(() =>
    [json, jsonb].forEach((oid, at) => types.setTypeParser(oid, own[at] as never)),
  );
  const primary = { ...it.servers.connection('primary'), max: 1 };
  const client = openAt(it.servers, 'primary', { primary, statements });
  const data = JSON.parse('{ "__proto__": { "a": 1 } }') as unknown;
  const lend = () => client.invoke(statements.lend({ id: 1, data }), { idempotencyKey: 'loan 1' });
  const first = await lend();
  expect(first).toMatchObject({ period: { days: 14 }, due: Infinity, rate: NaN });
  expect(await lend()).toEqual(first);

  for (const oid of [json, jsonb]) types.setTypeParser(oid, (text: string) => text);
  await client.invoke(put('user', { name: 'Ada' }));
  expect(await client.invokeStrong(get('user'))).toEqual({ name: 'Ada' });
  await transaction(client, async (tx) => tx.put('copy', await tx.get('user')));
  expect(await client.invokeStrong(get('copy'))).toEqual({ name: 'Ada' });
  await client.invoke(enqueue('seats', { seat: 'A1' }));
  const take = () => client.invoke(dequeue('seats'), { idempotencyKey: 'seat 1' });
  for (const item of [await take(), await take()]) expect(item).toEqual({ item: { seat: 'A1' } });
  const open = "select from pg_stat_activity where state like 'idle in transaction%'";
  expect(await it.servers.query('primary', open)).toEqual([]);
});

/** Only the programs of every day are on the path. */
async function findProgram({ state }: PostgresServers, name: string): Promise<string> {
  const { folder } = state.programs;
  if (folder !== '') return join(folder, name);
  const { stdout } = await promisify(execFile)('which', ['postgres']);
  return join(dirname(realpathSync(stdout.trim())), name);
}

/** Makes a replica receive no more, as if its network were gone. */
async function loseReplication(servers: PostgresServers, replica: string): Promise<void> {
  await servers.untilCaughtUp(replica);
  await servers.query(replica, "alter system set primary_conninfo = ''");
  await servers.query(replica, 'select pg_reload_conf()');
  const receivers = () =>
    servers.query(replica, 'select from pg_stat_wal_receiver where pid is not null');
  await expect.poll(receivers, { timeout: TIMEOUT_MS }).toEqual([]);
}

/** Stops a server as an operator does. So it begins with all of its log. */
async function restartOrderly(servers: PostgresServers, name: string): Promise<void> {
  const server = servers.state.servers[name]!;
  signalDaemon(server, 'SIGINT');
  await stopDaemon(server);
  await servers.launch(name);
}

/** The servers may run as another user, who has to own the data. */
function restoreOwner(servers: PostgresServers, folder: string): void {
  const { user } = servers.state;
  if (user === undefined) return;
  chownSync(folder, user.uid, user.gid);
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, entry), user.uid, user.gid);
}
