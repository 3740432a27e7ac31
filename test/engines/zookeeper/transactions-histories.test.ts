/** Transactions on a real ensemble are strictly serializable, and planted faults are found. */
import { expect, test } from 'vitest';
import { zookeeper } from '../../../src/bindings/zookeeper/index.ts';
import { judgeByAdya } from '../../histories/transactions/ask-adya.ts';
import {
  checkTransactions,
  formatAnomaly,
} from '../../histories/transactions/check-transactions.ts';
import { PLANTED_FAULTS } from '../../histories/transactions/planted-faults.ts';
import type { RecordedTransaction } from '../../histories/transactions/recorded-transaction.ts';
import { runOnBindings, type StoreRun } from '../../unit/histories/transactions/run-on-store.ts';
import { withAdya } from '../support/adya.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const IS_SHORT = process.env['ENGINES_SHORT'] === '1';
const TRANSACTIONS = IS_SHORT ? 200 : 1_000;
const MAX_RUNS = 40;
const SITES = ['ireland', 'frankfurt', 'virginia'] as const;

const adya = withAdya();
// Without delays no replica lags, and a fault that shows stale reads is not found.
const cluster = withEnsemble({ wan: 'paper' });
let opened = 0;

async function runOnEnsemble(run: StoreRun): Promise<RecordedTransaction[]> {
  opened += 1;
  const root = `/lists-${opened}`;
  const bindings = SITES.map((site) =>
    zookeeper({ servers: cluster.ensemble.connectString(site), root }),
  );
  const history = await runOnBindings(bindings, run);
  await Promise.all(bindings.map((binding) => binding.close()));
  return history;
}

test(`${TRANSACTIONS} transactions, some with lost answers → strictly serializable by both checkers`, async () => {
  const history = await runOnEnsemble({ transactions: TRANSACTIONS });
  expect(checkTransactions(history).map(formatAnomaly)).toEqual([]);
  expect(await judgeByAdya(adya.program, history)).toEqual({ verdict: 'valid', anomalies: {} });
});

test.each(PLANTED_FAULTS)('%s → an anomaly', async (fault) => {
  let found = 0;
  for (let seed = 1; seed <= MAX_RUNS && found === 0; seed += 1)
    found = checkTransactions(await runOnEnsemble({ transactions: 150, seed, fault })).length;
  expect(found).toBeGreaterThan(0);
});
