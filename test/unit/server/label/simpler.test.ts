/** Simpler arguments, one change at a time. */
import { describe, expect, test } from 'vitest';
import { replaced, scalarsIn, simplerValues } from '../../../../src/server/label/shrink-breach.ts';

describe('simplerValues', () => {
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
    expect([...simplerValues(value)]).toEqual(expected);
  });
});

test('texts and numbers are found wherever they stand, and replaced everywhere', () => {
  const value = { a: 'x', list: [7, { b: 'x', c: 7 }], none: null };
  expect([...scalarsIn(value)]).toEqual(['x', 7]);
  expect(replaced(replaced(value, 'x', 'a'), 7, 1)).toEqual({ a: 'a', list: [1, { b: 'a', c: 1 }], none: null });
});
