/**
 * Transactions on the stores of this package are strictly serializable, and planted faults are
 * found.
 */
import { describe, expect, test } from 'vitest';
import {
  checkTransactions,
  formatAnomaly,
} from '../../../histories/transactions/check-transactions.ts';
import { PLANTED_FAULTS } from '../../../histories/transactions/planted-faults.ts';
import { runOnStore, STORE_NAMES } from './run-on-store.ts';

const TRANSACTIONS = 150;
/**
 * A fault shows only if others commit at the right moment. Most do in the first run, all within a
 * few.
 */
const MAX_RUNS = 40;

describe.each(STORE_NAMES)('%s', (name) => {
  test('transactions, some with lost answers → no anomaly', async () => {
    const history = await runOnStore(name, { transactions: TRANSACTIONS });
    expect(checkTransactions(history).map(formatAnomaly)).toEqual([]);
    expect(history.some(({ outcome }) => outcome === 'unknown')).toBe(true);
    expect(history.some(({ id }) => id.includes('run'))).toBe(true);
  });

  test.each(PLANTED_FAULTS)('%s → an anomaly', async (fault) => {
    let found = 0;
    for (let seed = 1; seed <= MAX_RUNS && found === 0; seed += 1)
      found = checkTransactions(
        await runOnStore(name, { transactions: TRANSACTIONS, seed, fault }),
      ).length;
    expect(found).toBeGreaterThan(0);
  });
});
