/**
 * Real servers of PostgreSQL of ours: what listens, what is delayed, and what becomes of them when
 * one dies.
 */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { listeningAddresses } from '../support/listening.ts';
import { medianMs } from '../support/median.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres({ wan: 'paper' });

async function readRoles(): Promise<unknown[]> {
  const names = it.servers.state.layout.servers.map(({ name }) => name);
  const text = 'select pg_is_in_recovery() as "isReplica"';
  const rows = await Promise.all(
    names.map((name) => it.servers.query(name, text).catch(() => ['down'])),
  );
  return rows
    .flat()
    .map((row) => (typeof row === 'string' ? row : (row as { isReplica: boolean }).isReplica));
}

test('starts a primary and two replicas that follow it', async () => {
  expect(await readRoles()).toEqual([false, true, true]);
  await it.servers.query('primary', 'create table written (n int)');
  await it.servers.query('primary', 'insert into written values (1)');
  for (const { name } of it.servers.replicas) {
    await it.servers.untilCaughtUp(name);
    expect(await it.servers.query(name, 'select n from written')).toEqual([{ n: 1 }]);
  }
});

test('listens on the loopback interface only', (context) => {
  context.skip(process.platform !== 'linux', "Linux's tables of sockets are read");
  const { servers, delays } = it.servers.state;
  const pids = [...Object.values(servers), delays!].map(({ pid }) => pid);
  expect(pids).toHaveLength(4);
  for (const pid of pids)
    for (const address of listeningAddresses(pid)) expect(address).toMatch(/^127\./);
});

test('delays clients by the round trips of the papers', async () => {
  const tripMs = async (name: string): Promise<number> => {
    const client = new Client(it.servers.connection(name));
    await client.connect();
    try {
      return await medianMs(5, () => client.query('select 1'));
    } finally {
      await client.end();
    }
  };
  expect(await tripMs('primary')).toBeGreaterThanOrEqual(82);
  expect(await tripMs('replica-2')).toBeGreaterThanOrEqual(19);
  expect(await tripMs('replica-1')).toBeLessThan(19);
});

test('a replica whose replay is paused stays behind, and catches up after that', async () => {
  await it.servers.pauseReplay('replica-1');
  await it.servers.query('primary', 'insert into written values (2)');
  await it.servers.untilCaughtUp('replica-2');
  const count = 'select count(*)::int as n from written';
  expect(await it.servers.query('replica-1', count)).toEqual([{ n: 1 }]);
  await it.servers.resumeReplay('replica-1');
  await it.servers.untilCaughtUp('replica-1');
  expect(await it.servers.query('replica-1', count)).toEqual([{ n: 2 }]);
});

test('a replica that was killed comes back', async () => {
  await it.servers.kill('replica-2');
  expect(await readRoles()).toEqual([false, true, 'down']);
  await it.servers.launch('replica-2');
  expect(await readRoles()).toEqual([false, true, true]);
});

test('after a failover, the other replica follows the new primary', async () => {
  await it.servers.failOver('replica-1');
  expect(await readRoles()).toEqual(['down', false, true]);
  await it.servers.query('replica-1', 'insert into written values (3)');
  await it.servers.untilCaughtUp('replica-2', 'replica-1');
  expect(await it.servers.query('replica-2', 'select count(*)::int as n from written')).toEqual([
    { n: 3 },
  ]);
});
