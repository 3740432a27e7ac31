/** Simpler arguments, one change at a time. */
import { describe, expect, test } from 'vitest';
import {
  replaceScalar,
  collectScalars,
  listSimplerValues,
} from '../../../../src/server/check/shrink-violation.ts';

describe('listSimplerValues', () => {
  test.each<[unknown, readonly unknown[]]>([
    [0, []],
    [1, [0]],
    [-3, [0, 1, 2, -1, -2]],
    [9, [0, 1, 2, -1, 4, 8]],
    ['text', []],
    [true, [false]],
    [
      [1, 'x'],
      [['x'], [1], [0, 'x']],
    ],
    [{ n: 1, s: 'x' }, [{ s: 'x' }, { n: 1 }, { n: 0, s: 'x' }]],
    [null, []],
  ])('of %j', (value, expected) => {
    expect([...listSimplerValues(value)]).toEqual(expected);
  });
});

test('finds strings and numbers at every depth, and replaces them everywhere', () => {
  const value = { a: 'x', list: [7, { b: 'x', c: 7 }], none: null };
  expect([...collectScalars(value)]).toEqual(['x', 7]);
  expect(replaceScalar(replaceScalar(value, 'x', 'a'), 7, 1)).toEqual({
    a: 'a',
    list: [1, { b: 'a', c: 1 }],
    none: null,
  });
});
