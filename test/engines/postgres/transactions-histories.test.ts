/** Transactions on real servers are strictly serializable, and planted faults are found. */
import { beforeAll, expect, test } from 'vitest';
import {
  checkTransactions,
  formatAnomaly,
} from '../../histories/transactions/check-transactions.ts';
import { PLANTED_FAULTS } from '../../histories/transactions/planted-faults.ts';
import type { RecordedTransaction } from '../../histories/transactions/recorded-transaction.ts';
import { runOnBindings, type StoreRun } from '../../unit/histories/transactions/run-on-store.ts';
import { openBinding, prepareTables, untilAllCaughtUp } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const IS_SHORT = process.env['ENGINES_SHORT'] === '1';
const TRANSACTIONS = IS_SHORT ? 200 : 1_000;
const MAX_RUNS = 40;

// Without delays no replica lags, and a fault that shows stale reads is not found.
const it = withPostgres({ wan: 'paper' });

beforeAll(() => prepareTables(it.servers));

/** Three processes: the nearest replica of each is another one, or the primary. */
async function runOnServers(run: StoreRun): Promise<RecordedTransaction[]> {
  await it.servers.query('primary', 'delete from correctables_values');
  await untilAllCaughtUp(it.servers);
  const bindings = it.servers.state.layout.servers.map(({ name, place, clientPorts }) => {
    const near = { ...it.servers.connection(name, clientPorts[place]) };
    const primary = {
      ...it.servers.connection('primary', it.servers.server('primary').clientPorts[place]),
    };
    return openBinding(it.servers, { primary, replicas: [near] });
  });
  const history = await runOnBindings(bindings, run);
  await Promise.all(bindings.map((binding) => binding.close()));
  return history;
}

test(`${TRANSACTIONS} transactions, some with lost answers → strictly serializable`, async () => {
  const history = await runOnServers({ transactions: TRANSACTIONS });
  expect(checkTransactions(history).map(formatAnomaly)).toEqual([]);
});

test.each(PLANTED_FAULTS)('%s → an anomaly', async (fault) => {
  let found = 0;
  for (let seed = 1; seed <= MAX_RUNS && found === 0; seed += 1)
    found = checkTransactions(await runOnServers({ transactions: 150, seed, fault })).length;
  expect(found).toBeGreaterThan(0);
});
