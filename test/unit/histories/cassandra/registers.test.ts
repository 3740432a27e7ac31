import { expect, test } from 'vitest';
import { registerFaults } from '../../../histories/cassandra/checks/registers.ts';
import type { Call } from '../../../histories/history.ts';
import { finally_, read, swap, write } from './calls.ts';

const UNKNOWN = { outcome: 'UNKNOWN' };
const NOT_MADE = { outcome: 'UNAVAILABLE', isRetryable: true };
const b = { session: 'quorum-ireland-1/b' };

function faults(...calls: readonly Call[]): string[] {
  return registerFaults(calls, { isRepaired: () => true });
}

test('registers: what may be → no fault', () => {
  expect(
    faults(write([0, 9], 'a'), read([10, 19], 'a'), write([20, 29], 'b'), finally_('b')),
  ).toEqual([]);
  // Two writes at the same time, of which the one that began later is answered first.
  expect(
    faults(write([0, 30], 'a'), write([1, 9], 'b', b), read([40, 49], 'b'), finally_('b')),
  ).toEqual([]);
  // The outcome is unknown: the value may be there from the beginning, later, or never.
  expect(faults(write([0, 9], 'a', UNKNOWN), finally_('a'))).toEqual([]);
  expect(faults(write([0, 9], 'a', UNKNOWN), finally_(null))).toEqual([]);
  expect(
    faults(write([0, 9], 'a'), write([10, 19], 'b', UNKNOWN), read([20, 29], 'a'), finally_('b')),
  ).toEqual([]);
  expect(
    faults(write([0, 9], 'a'), write([10, 19], null), read([20, 29], null), finally_(null)),
  ).toEqual([]);
  expect(faults(write([0, 9], 'a', NOT_MADE), read([20, 29], null), finally_(null))).toEqual([]);
  // A weak view may be behind.
  expect(
    faults(
      write([0, 9], 'a'),
      write([10, 19], 'b'),
      read([20, 29], 'b', { weak: 'a' }),
      finally_('b'),
    ),
  ).toEqual([]);
  expect(faults(write([0, 9], 'a'), read([20, 29], 'a', { weak: null }), finally_('a'))).toEqual(
    [],
  );
});

test('registers: an acknowledged write that is gone → a fault, in views and in the end', () => {
  expect(faults(write([0, 9], 'a'), finally_(null))).toEqual([
    expect.stringMatching(/shown nothing .*without put "a"/),
  ]);
  expect(faults(write([0, 9], 'a'), write([10, 19], 'b'), finally_('a'))).toEqual([
    expect.stringMatching(/shown "a" .*without put "b"/),
  ]);
  // A deletion that came before does not explain it, one that came after does not bring back what
  // it deleted.
  expect(faults(write([0, 9], null), write([10, 19], 'a'), finally_(null))).toHaveLength(1);
  expect(faults(write([0, 9], 'a'), write([10, 19], null), finally_('a'))).toHaveLength(1);
  // Both under way at the same time: the one that began later has the later stamp.
  expect(faults(write([0, 30], 'a'), write([1, 30], 'b', b), finally_('a'))).toHaveLength(1);
});

test('registers: a value that failed as not made is there → a fault, also in a weak view', () => {
  expect(faults(write([0, 9], 'a', NOT_MADE), finally_('a'))).toEqual([
    expect.stringMatching(/reported as "UNAVAILABLE"/),
  ]);
  const weak = read([20, 29], null, { weak: 'a' });
  expect(faults(write([0, 9], 'a', NOT_MADE), weak, finally_(null))).toHaveLength(1);
  expect(faults(swap([0, 9], null, 'a', { isApplied: false }), finally_('a'))).toEqual([
    expect.stringMatching(/reported as "not applied"/),
  ]);
});

test('registers: a value that no call wrote, or not yet → a fault', () => {
  expect(faults(finally_('x'))).toEqual([expect.stringMatching(/which no call wrote/)]);
  expect(faults(read([0, 9], 'a'), write([20, 29], 'a'))).toEqual([
    expect.stringMatching(/before put "a"/),
  ]);
});

test('registers: a strong view behind an earlier one → a fault, unless replicas are not repaired', () => {
  const back = [
    write([0, 9], 'a'),
    write([10, 200], 'b', { ...b, ...UNKNOWN }),
    read([20, 29], 'b'),
    read([30, 39], 'a', b),
    finally_('b'),
  ];
  expect(faults(...back)).toEqual([expect.stringMatching(/shown "a" .*after "b" at 29.0 ms/)]);
  expect(registerFaults(back, { isRepaired: () => false })).toEqual([]);
  const resurrected = [
    write([0, 9], 'a'),
    write([10, 200], null, { ...b, ...UNKNOWN }),
    read([20, 29], null),
    read([30, 39], 'a', b),
  ];
  expect(faults(...resurrected)).toHaveLength(1);
});

test('registers: a condition is stamped while it is in flight, one without an outcome whenever → judged by that', () => {
  expect(faults(swap([0, 20], null, 'a'), write([10, 30], 'b', b), finally_('a'))).toEqual([]);
  expect(faults(swap([0, 20], null, 'a'), write([21, 30], 'b', b), finally_('a'))).toHaveLength(1);
  expect(faults(write([0, 9], 'b'), swap([20, 30], 'b', 'a'), finally_('b'))).toHaveLength(1);
  expect(faults(swap([0, 20], null, 'a', UNKNOWN), write([21, 30], 'b', b), finally_('a'))).toEqual(
    [],
  );
});

test('registers: what expires → may be gone from then on, not before', () => {
  const keep = { kind: 'keep', input: { keepMs: 3_000 } };
  expect(faults(write([0, 9], 'a', keep), read([100, 109], 'a'), finally_(null))).toEqual([]);
  expect(faults(write([0, 9], 'a', keep), read([100, 109], null))).toHaveLength(1);
  // What was before it does not come back.
  expect(faults(write([0, 9], 'a'), write([10, 19], 'b', keep), finally_('a'))).toHaveLength(1);
  expect(faults(write([0, 9], 'a', keep), write([10, 19], 'b'), finally_(null))).toHaveLength(1);
});

test('registers: a condition that found a value comes after it, however close their clocks → what it wrote stays', () => {
  const [made, replaced] = [swap([0, 2], null, 'A'), swap([2.3, 5], 'A', 'B')];
  expect(faults(made, replaced, read([10, 12], 'B'), finally_('B'))).toEqual([]);
  expect(faults(made, replaced, read([10, 12], 'A'), finally_('A'))).not.toEqual([]);
});
