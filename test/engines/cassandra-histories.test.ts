/**
 * A short history of the Cassandra binding under faults (`npm run histories -- cassandra` runs long
 * ones).
 */
import { expect, test } from 'vitest';
import { runOn } from '../histories/cassandra/run.ts';
import { History } from '../histories/history.ts';
import { withCassandra } from './support/cassandra.ts';

const SEED = Number(process.env['HISTORIES_SEED'] ?? 24);
const LOAD_MS = 20_000;

const it = withCassandra();

test(`history: ${LOAD_MS / 1000} s of interleaved writes under cuts, freezes and schema changes (seed ${SEED}) → no fault`, async () => {
  using history = new History();
  const untilMs = performance.now() + LOAD_MS;
  const found = await runOn(it.cluster, { untilMs, seed: SEED, history, progress: () => {} });
  expect(found.faults).toEqual([]);
  expect(found.serversAlive).toBe(true);
  // How far a busy machine gets in that time is unknown.
  for (const kind of ['put', 'insert', 'get', 'getMany'])
    expect(found.operations[kind], kind).toBeGreaterThan(0);
  expect(Object.values(found.injected).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
});
