/** Dequeues of one process on several connections. */
import type { QueryResult } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import type { RunStatements } from '../../../src/bindings/postgres/index.ts';
import { dequeue, enqueue } from '../../../src/operations/index.ts';
import {
  openForTest,
  poolForTest,
  prepareTables,
  untilAllCaughtUp,
} from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();

beforeAll(() => prepareTables(it.servers));

// @rule REPL-15
test('a dequeue that reaches the primary after a later one of its process still gets the item of its early view', async () => {
  const pool = poolForTest(it.servers, 'primary');
  let release = (): void => {};
  const laterOne = new Promise<void>((resolve) => (release = resolve));
  let takes = 0;
  const run: RunStatements = async (statements) => {
    const take = statements.some(({ text }) => text.includes('skip locked'))
      ? (takes += 1)
      : undefined;
    if (take === 1) await laterOne;
    const results: QueryResult[] = [];
    for (const { text, values } of statements) results.push(await pool.query(text, [...values]));
    if (take === 2) release();
    return results.map(({ rows, rowCount }) => ({ rows, rowCount: rowCount ?? 0 }));
  };
  const { client } = openForTest(it.servers, { primary: { run } });
  await client.invoke(enqueue('overtaken', 'a'));
  await untilAllCaughtUp(it.servers);
  const first = client.invoke(dequeue('overtaken'));
  expect(await first.when('replica')).toMatchObject({ level: 'replica', value: { item: 'a' } });
  expect(await client.invoke(dequeue('overtaken'))).toBeNull();
  expect(await first).toEqual({ item: 'a' });
});
