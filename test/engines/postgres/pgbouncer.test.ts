/**
 * The binding through PgBouncer in transaction mode, where each transaction may run on another
 * connection.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { get, put } from '../../../src/operations/index.ts';
import type { PostgresOptions } from '../../../src/bindings/postgres/index.ts';
import { transaction } from '../../../src/transactions/index.ts';
import { startPgBouncer, type StartedPgBouncer } from '../support/pgbouncer.ts';
import {
  catchFailure,
  openForTest,
  prepareTables,
  untilAllCaughtUp,
} from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();
const USERS = 8;
const ROUNDS = 20;
let pooler: StartedPgBouncer | undefined;

beforeAll(async () => {
  await prepareTables(it.servers);
  pooler = await startPgBouncer(it.servers);
}, 60_000);

afterAll(() => pooler?.stop());

function openBehind(options: Partial<PostgresOptions> = {}) {
  const connection = pooler!.connection;
  return openForTest(it.servers, {
    primary: connection('primary'),
    replicas: it.servers.replicas.map(({ name }) => connection(name)),
    prepare: false,
    ...options,
  });
}

test('sessions of several users → each reads its own writes, while they share two connections', async () => {
  const { client, binding } = openBehind();
  const missed: unknown[] = [];
  const work = async (user: number): Promise<void> => {
    const session = client.session();
    for (let round = 1; round <= ROUNDS; round += 1) {
      await client.invoke(put(`user-${user}`, round), { session });
      for await (const { level, value } of client.invoke(get(`user-${user}`), { session }))
        if (value !== round) missed.push({ user, round, level, value });
    }
  };
  await Promise.all(Array.from({ length: USERS }, (_, user) => work(user)));
  expect(missed).toEqual([]);
  expect(binding.stats.replicaFailures).toBe(0);
});

test('transactions of several users → none is lost', async () => {
  const { client } = openBehind();
  const add = (): PromiseLike<unknown> =>
    transaction(
      client,
      async (tx) => tx.put('counter', ((await tx.get<number>('counter')) ?? 0) + 1),
      {
        maxAttempts: 100,
      },
    );
  await Promise.all(Array.from({ length: USERS }, add));
  expect(await client.invokeStrong(get('counter'))).toBe(USERS);
});

test('prepared statements → an error that names the option', async () => {
  const { client } = openBehind({ prepare: true });
  await untilAllCaughtUp(it.servers);
  const reads = Array.from({ length: USERS * ROUNDS }, () => client.invokeStrong(get('counter')));
  expect(await catchFailure(Promise.all(reads))).toMatchObject({
    code: 'FINAL_FAILED',
    message: expect.stringContaining('prepare: false') as string,
  });
});

test('a caller who leaves → the connection serves others', async () => {
  const { client } = openBehind();
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const read = client.invokeStrong(get('counter'), { signal: leaving.signal });
  leaving.abort();
  await catchFailure(read);
  expect(await client.invokeStrong(get('counter'))).toBe(USERS);
});
