/** Rounds that begin with another one each. */
import { expect, test } from 'vitest';
import { rotated } from '../../../bench/harness/rotated.ts';

test('round by round → another one is first, in the same order, and then the first again', () => {
  const rounds = [0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''));
  expect(rounds).toEqual(['abc', 'bca', 'cab', 'abc']);
});

test('of none → none', () => {
  expect(rotated([], 2)).toEqual([]);
});
