/**
 * The workload of transactions, on a store whose faults are known, and on those of this project.
 */
import { expect, test } from 'vitest';
import { CorrectableError } from '../../../../src/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { memory } from '../../../../src/bindings/memory/index.ts';
import { transaction } from '../../../../src/transactions/index.ts';
import {
  checkTransactions,
  formatAnomaly,
} from '../../../histories/transactions/check-transactions.ts';
import { runListAppend, type Transact } from '../../../histories/transactions/run-list-append.ts';
import { StoreWithFaults, type StoreFaults } from './store-with-faults.ts';

const LOAD = { workers: 6, transactions: 300, keys: 3, seed: 1 };

const judge = async (transact: Transact, transactions = LOAD.transactions): Promise<string[]> => {
  const history = await runListAppend({ ...LOAD, transactions, transact });
  return checkTransactions(history).map(formatAnomaly);
};

test('a store without faults → no anomaly, and all outcomes occur', async () => {
  const store = new StoreWithFaults({});
  const history = await runListAppend({ ...LOAD, transact: store.transact });
  expect(checkTransactions(history).map(formatAnomaly)).toEqual([]);
  expect(new Set(history.map(({ outcome }) => outcome))).toEqual(
    new Set(['committed', 'aborted', 'unknown']),
  );
  expect(history.some(({ id }) => id.includes('run'))).toBe(true);
});

const FAULTS: readonly StoreFaults[] = [
  { ignoresOneVersion: true },
  { readsOnce: true },
  { retriesUnknown: true },
  { skipsValidation: true },
  { losesCommits: true },
  { abortsAfterCommit: true },
];
test.each(FAULTS)('a store with the fault %o → an anomaly', async (faults) => {
  expect(await judge(new StoreWithFaults(faults).transact)).not.toEqual([]);
});

test('an error that is no outcome ends the workload', async () => {
  const failing = runListAppend({
    ...LOAD,
    transact: () => Promise.reject(new TypeError('a bug')),
  });
  await expect(failing).rejects.toThrow('a bug');
});

test('a final read that fails ends the workload, as lost appends would not be found', async () => {
  const refused = new CorrectableError('UNAVAILABLE', 'no store');
  const failing = runListAppend({ ...LOAD, transact: () => Promise.reject(refused) });
  await expect(failing).rejects.toThrow('a final read, was aborted');
});

test('transactions on a memory store whose backup lags → no anomaly', async () => {
  const store = createClient(memory({ delaysMs: { weak: 0, strong: 2 }, lagMs: 3 }));
  const transact: Transact = (_, run, kind) =>
    transaction(store, run, kind === 'snapshot' ? {} : { level: 'strong' });
  expect(await judge(transact, 60)).toEqual([]);
});
