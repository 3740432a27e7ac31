/** Numbers of starts: no two starts of a site have one, and a later one has a larger. */
import { expect, test } from 'vitest';
import { epochAbove, epochOf } from '../../../../src/server/records/epoch.ts';

test('epochs → whole numbers that logs hold, in the order of the numbers of starts', () => {
  const most = epochOf(2 ** 32 - 1, 1 - Number.EPSILON);
  expect([Number.isSafeInteger(most), epochOf(7, 0) > epochOf(6, 1 - Number.EPSILON)]).toEqual([true, true]);
});

test('above one that is known → the next number, with the chance of the own one', () => {
  expect(epochAbove(epochOf(6, 0.5), epochOf(2, 0.25))).toBe(epochOf(7, 0.25));
});
