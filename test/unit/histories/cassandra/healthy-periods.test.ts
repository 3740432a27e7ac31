import { expect, test } from 'vitest';
import { calmFaults } from '../../../histories/cassandra/checks/healthy-periods.ts';
import { confirmationFaults } from '../../../histories/cassandra/checks/confirmations.ts';
import type { Call } from '../../../histories/history.ts';
import { harm, read } from './calls.ts';

const retained = { input: { isKept: true } };
const behind = { ...retained, outcome: 'REPLICA_BEHIND' };

const faults = (calls: readonly Call[]): string[] =>
  calmFaults(calls, { hasEarlyViews: () => true });

function many(count: number, make: (at: number) => Call): Call[] {
  return Array.from({ length: count }, (_, n) => make(n * 10));
}

test('calm: sessions fail with REPLICA_BEHIND without a fault of the cluster → a fault; with one, or rarely → none', () => {
  const calls = [
    ...many(50, (at) => read([at, at + 9], 'a', retained)),
    ...many(5, (at) => read([at, at + 9], 'a', behind)),
  ];
  expect(faults(calls)).toEqual([
    expect.stringMatching(/^5 of 55 reads in sessions failed with REPLICA_BEHIND/),
  ]);
  expect(faults([...calls, harm([0, 10])])).toEqual([]);
  expect(faults([...calls, harm([0, 10], 'quorum-frankfurt-0')])).toEqual([]);
  expect(faults([...calls, harm([0, 10], 'quorum-ireland-1')])).toHaveLength(1);
  expect(faults(calls.slice(0, 52))).toEqual([]);
});

test('calm: a kind of read without early views → a fault; reads of one level, or of a client that learns, none', () => {
  const session = 'quorum-frankfurt-one-read-0/a.1';
  const none = many(50, (at) => read([at, at + 9], 'a', { session }));
  expect(faults(none)).toEqual(['get of one key by one-read: 0 of 40 had an early view']);
  expect(faults(many(50, (at) => read([at, at + 9], 'a', { weak: 'a' })))).toEqual([]);
  expect(faults(many(50, (at) => read([at, at + 9], 'a', { levels: ['strong'] })))).toEqual([]);
  expect(calmFaults(none, { hasEarlyViews: () => false })).toEqual([]);
  expect(faults(none.slice(0, 25))).toEqual([]);
  // Another client at the same seat learns again.
  const takes = many(50, (at) =>
    read([at, at + 9], 'a', { session: `quorum-frankfurt-one-read-0/a.${(at / 10) % 5}` }),
  );
  expect(faults(takes)).toEqual([]);
});

test('calm: a key that cannot be read after all was healed → a fault, unless another try could', () => {
  const afterwards = { input: { isKept: true, isAfterwards: true } };
  const failed = read([0, 9], null, { ...afterwards, outcome: 'REPLICA_BEHIND' });
  expect(faults([failed, failed])).toEqual([
    expect.stringMatching(/cannot read it after all was healed/),
  ]);
  expect(faults([failed, read([10, 19], 'a', afterwards)])).toEqual([]);
});

test('confirmations: same as the view before → no fault; another value, or a weaker view, one', () => {
  const right = read([0, 9], 'a', { weak: 'a' });
  expect(confirmationFaults([right, read([0, 9], 'b', { weak: 'a' })])).toEqual([]);
  const [early, final] = right.views as [
    NonNullable<Call['views']>[0],
    NonNullable<Call['views']>[0],
  ];
  expect(
    confirmationFaults([{ ...right, views: [early, { ...final, value: ['b'] }] }]),
  ).toHaveLength(1);
  expect(confirmationFaults([{ ...right, views: [final, early] }])).toHaveLength(1);
});
