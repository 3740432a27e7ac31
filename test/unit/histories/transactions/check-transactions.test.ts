/** The checker of transactions on histories whose anomalies are known. */
import { expect, test } from 'vitest';
import {
  checkTransactions,
  formatAnomaly,
} from '../../../histories/transactions/check-transactions.ts';
import type { RecordedTransaction } from '../../../histories/transactions/recorded-transaction.ts';
import { append, CLEAN_HISTORIES, FAULTY_HISTORIES, read, transaction } from './build.ts';

test.each(CLEAN_HISTORIES)('$about → no anomaly', ({ history }) => {
  expect(checkTransactions(history)).toEqual([]);
});

test.each(FAULTY_HISTORIES)('$about → $anomalies', ({ history, anomalies }) => {
  const found = checkTransactions(history).map(({ name }) => name);
  expect([...new Set(found)].toSorted()).toEqual([...anomalies].toSorted());
});

test('the order of the recorded transactions does not matter', () => {
  for (const { history, anomalies } of FAULTY_HISTORIES) {
    const found = checkTransactions(history.toReversed()).map(({ name }) => name);
    expect([...new Set(found)].toSorted()).toEqual([...anomalies].toSorted());
  }
});

test('explains a stale read by its shortest cycle', () => {
  const { history } = FAULTY_HISTORIES.find(({ about }) => about === 'stale read')!;
  expect(checkTransactions(history).map(formatAnomaly)).toEqual([
    'realtime: c did not see 1 in x, which a appended, a ended at 10 ms, before c began at 40 ms. So c < a < c',
  ]);
});

test('explains write skew by what each transaction missed', () => {
  const { history } = FAULTY_HISTORIES.find(({ about }) => about === 'write skew')!;
  expect(checkTransactions(history).map(formatAnomaly)).toEqual([
    'G2: a did not see 1 in x, which b appended, b did not see 1 in y, which a appended. So a < b < a',
  ]);
});

test('rejects a history that appends an element twice, as its orders cannot be inferred', () => {
  const history = [transaction('a', [append('x', 1)]), transaction('b', [append('x', 1)])];
  expect(() => checkTransactions(history)).toThrow('a and b append 1 to x');
});

test('finds one stale read in 10,000 transactions', () => {
  const history = Array.from({ length: 10_000 }, (_, index): RecordedTransaction => {
    const first = index - (index % 20);
    const list = Array.from({ length: index % 20 }, (__, at) => first + at);
    const isLast = index % 20 === 19;
    // Ten clients: each transaction overlaps with those of the nine others.
    const times = { startAt: index, endAt: index + 9.5 };
    return transaction(
      `t${index}`,
      [read(`k${first}`, ...list), ...(isLast ? [] : [append(`k${first}`, index)])],
      times,
    );
  });
  expect(checkTransactions(history)).toEqual([]);

  const stale = transaction('stale', [read('k2000', 2_000)], { startAt: 9_000, endAt: 9_001 });
  expect(checkTransactions([...history, stale]).map(({ name }) => name)).toEqual(['realtime']);
});
