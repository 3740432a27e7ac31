/** Numbers of starts: no two starts of a site have one, and a later one has a larger. */
import { expect, test } from 'vitest';
import { createEpochAbove, createEpoch } from '../../../../src/server/log/epoch.ts';

test('epochs → integers that logs hold, in the order of the numbers of starts', () => {
  const most = createEpoch(2 ** 32 - 1, 1 - Number.EPSILON);
  expect([
    Number.isSafeInteger(most),
    createEpoch(7, 0) > createEpoch(6, 1 - Number.EPSILON),
  ]).toEqual([true, true]);
});

test('above one that is known → the next number, with the chance of the own one', () => {
  expect(createEpochAbove(createEpoch(6, 0.5), createEpoch(2, 0.25))).toBe(createEpoch(7, 0.25));
});
