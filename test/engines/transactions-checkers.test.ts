/** Adya and the checker of this project judge the same histories. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeByAdya } from '../histories/transactions/ask-adya.ts';
import type { AnomalyName } from '../histories/transactions/anomaly.ts';
import { checkTransactions, formatAnomaly } from '../histories/transactions/check-transactions.ts';
import { CLEAN_HISTORIES, FAULTY_HISTORIES } from '../unit/histories/transactions/build.ts';
import { runOnStore, STORE_NAMES } from '../unit/histories/transactions/run-on-store.ts';
import { PLANTED_FAULTS } from '../histories/transactions/planted-faults.ts';
import { smallHistory } from '../unit/histories/transactions/small-history.ts';
import { scaleRuns } from '../support/lane.ts';
import { withAdya } from './support/adya.ts';

const IS_SHORT = process.env['ENGINES_SHORT'] === '1';

const adya = withAdya();

/** Adya says so if no transaction depends on another: that is no anomaly. */
const NO_DEPENDENCIES = 'empty-transaction-graph';

test.each([...CLEAN_HISTORIES, ...FAULTY_HISTORIES])(
  '$about → adya finds $byAdya',
  async ({ history, byAdya }) => {
    const { verdict, anomalies } = await judgeByAdya(adya.program, history);
    expect(Object.keys(anomalies).filter((name) => name !== NO_DEPENDENCIES)).toEqual(byAdya);
    expect(verdict === 'invalid').toBe(byAdya.length > 0);
  },
);

/**
 * Adya finds these only if other reads of the key contradict them: it does not compare a list with
 * the order of the appends in its own writer, and takes any element for written.
 */
const PARTLY_UNKNOWN_TO_ADYA: ReadonlySet<AnomalyName> = new Set([
  'incompatible orders',
  'unwritten element',
]);

test('adya and the checker of this project agree on random histories', async () => {
  let faulty = 0;
  const agree = fc.asyncProperty(smallHistory, async (history) => {
    const names = checkTransactions(history).map(({ name }) => name);
    const { verdict } = await judgeByAdya(adya.program, history);
    if (verdict === 'invalid') faulty += 1;
    if (names.length === 0) expect(verdict).not.toBe('invalid');
    if (names.some((name) => !PARTLY_UNKNOWN_TO_ADYA.has(name))) expect(verdict).toBe('invalid');
  });
  await fc.assert(agree, { numRuns: scaleRuns(500) });
  expect(faulty).toBeGreaterThan(scaleRuns(500) / 4);
});

const TRANSACTIONS = IS_SHORT ? 300 : 2_000;
const MAX_RUNS = 40;

describe.each(STORE_NAMES)('transactions on %s', (name) => {
  test(`${TRANSACTIONS} transactions, some with lost answers → strictly serializable by both checkers`, async () => {
    const history = await runOnStore(name, { transactions: TRANSACTIONS });
    expect(checkTransactions(history).map(formatAnomaly)).toEqual([]);
    expect(await judgeByAdya(adya.program, history)).toEqual({ verdict: 'valid', anomalies: {} });
  });

  test.each(PLANTED_FAULTS)('%s → adya finds it', async (fault) => {
    let verdict: string | undefined;
    for (let seed = 1; seed <= MAX_RUNS && verdict !== 'invalid'; seed += 1)
      ({ verdict } = await judgeByAdya(
        adya.program,
        await runOnStore(name, { transactions: 150, seed, fault }),
      ));
    expect(verdict).toBe('invalid');
  });
});
