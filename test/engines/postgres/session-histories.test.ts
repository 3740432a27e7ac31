/**
 * Sessions on replicas whose replay is paused and resumed at random: no view goes back, and none
 * misses an own write.
 */
import { beforeAll, expect, test } from 'vitest';
import { runSessionHistory } from '../../../bench/postgres/session-history.ts';
import { prepareTables } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();

const SEED = Number(process.env['SESSIONS_SEED'] ?? 7);
const READS = 10_000;

beforeAll(() => prepareTables(it.servers));

// @rule REPL-5
// @rule REPL-6
test(`${READS} reads in sessions: no view goes back (seed ${SEED})`, async () => {
  const options = { name: 'with', hasSessions: true, seed: SEED, reads: READS };
  const { violations, early } = await runSessionHistory(it.servers, options);
  expect(violations).toEqual([]);
  expect(early).toBeGreaterThan(READS / 20);
});

test(`the same reads without sessions: some views go back (seed ${SEED})`, async () => {
  const options = { name: 'without', hasSessions: false, seed: SEED, reads: READS / 5 };
  const { violations } = await runSessionHistory(it.servers, options);
  expect(violations.length).toBeGreaterThan(10);
});
