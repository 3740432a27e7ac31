/** Which copy of a red log has more of it, and what two copies share. */
// @rule CLU-G3, CLU-G5, PART-G11
import { expect, test } from 'vitest';
import {
  countShared,
  isLonger,
  isPrefix,
  toEarliest,
} from '../../../../../src/server/node/red-log/log-copy.ts';

const FIRST = { copy: 0, length: 9 };
/**
 * The second generation went on from nine entries of the first one, and the third one from twelve
 * of the second.
 */
const SECOND = { copy: 1, length: 12, begin: FIRST };
const third = (length: number) => ({ copy: 2, length, begin: SECOND });

test.each([
  [5, { copy: 0, length: 5 }],
  [9, { copy: 0, length: 9 }],
  [10, { copy: 1, length: 10, begin: FIRST }],
  [13, third(13)],
])(
  'a copy of the third generation with %i entries counts as one of the generation of its last entry',
  (length, as) => {
    expect(toEarliest(third(length))).toEqual(as);
  },
);

test('the copy whose last entry is of a later generation has more, however short it is', () => {
  expect(isLonger(third(13), { ...SECOND, length: 40 })).toBe(true);
  expect(isLonger(third(12), { ...SECOND, length: 40 })).toBe(false);
  expect(isLonger(third(5), FIRST)).toBe(false);
  expect(isLonger(FIRST, third(5))).toBe(true);
});

test.each([
  // [copy, the copy with which the log goes on, entries that both have]
  [FIRST, third(20), 9],
  [{ copy: 0, length: 11 }, third(20), 9],
  [{ ...SECOND, length: 15 }, third(20), 12],
  [third(5), { copy: 0, length: 7 }, 5],
  [third(11), { copy: 0, length: 20 }, 9],
  [{ copy: 1, length: 5 }, FIRST, undefined],
])('%j and %j share %s entries', (copy, base, shared) => {
  expect(countShared(copy, base)).toBe(shared);
  expect(isPrefix(copy, base)).toBe(shared === copy.length);
});

test('nothing is a prefix of the first generation', () => {
  expect(isPrefix(FIRST, undefined)).toBe(false);
});
