import { expect, test } from 'vitest';
import { elementFaults } from '../../../histories/cassandra/checks/elements.ts';
import { INDEPENDENT } from '../../../histories/cassandra/inputs.ts';
import type { Call } from '../../../histories/history.ts';
import { append, call, lists } from './calls.ts';

const UNKNOWN = { outcome: 'UNKNOWN' };
const NOT_MADE = { outcome: 'UNAVAILABLE', isRetryable: true };

test('lists: every successful append once, and perhaps those of unknown outcome → no fault', () => {
  const calls = [
    append([0, 9], 'a'),
    append([5, 15], 'b', UNKNOWN),
    append([5, 15], 'c', NOT_MADE),
  ];
  expect(elementFaults([...calls, lists([20, 29], ['a'])])).toEqual([]);
  expect(elementFaults([...calls, lists([20, 29], ['b', 'a'])])).toEqual([]);
  expect(elementFaults([...calls, lists([20, 29], [], 'weak')])).toEqual([]);
});

test('lists: an element that is missing, there twice, failed as not made, or never appended → a fault', () => {
  expect(elementFaults([append([0, 9], 'a'), lists([20, 29], [])])).toEqual([
    expect.stringMatching(/without "a"/),
  ]);
  expect(elementFaults([append([0, 9], 'a', UNKNOWN), lists([20, 29], ['a', 'a'])])).toEqual([
    expect.stringMatching(/twice/),
  ]);
  expect(elementFaults([append([0, 9], 'a', NOT_MADE), lists([20, 29], ['a'], 'weak')])).toEqual([
    expect.stringMatching(/which failed as not made/),
  ]);
  expect(elementFaults([lists([20, 29], ['x'])])).toEqual([
    expect.stringMatching(/no call appended/),
  ]);
});

test('counters: between what is sure and what is possible → no fault, beyond it one', () => {
  const count = (outcome: string): Call =>
    call([0, 9], { counts: ['k'] }, { kind: 'count', outcome });
  const calls = [count('success'), count('success'), count('UNKNOWN'), count('UNAVAILABLE')];
  const total = (n: number): Call => ({
    ...call([20, 29], { counters: ['k'] }, { session: INDEPENDENT }),
    views: [{ level: 'strong', value: [n], atMs: 29 }],
  });
  expect(elementFaults([...calls, total(2)])).toEqual([]);
  expect(elementFaults([...calls, total(3)])).toEqual([]);
  expect(elementFaults([...calls, total(1)])).toHaveLength(1);
  expect(elementFaults([...calls, total(4)])).toEqual([
    'k: counts 4, but 2 succeeded, and at most 3 can be',
  ]);
});
