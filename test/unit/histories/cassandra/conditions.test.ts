import { expect, test } from 'vitest';
import { conditionFaults } from '../../../histories/cassandra/checks/conditions.ts';
import { read, swap, write } from './calls.ts';

const UNKNOWN = { outcome: 'UNKNOWN' };
const refused = { isApplied: false };

test('conditions: each value replaced once → no fault, whatever became of those without an outcome', () => {
  expect(
    conditionFaults([swap([0, 9], null, 'a'), swap([10, 19], 'a', 'b'), read([20, 29], 'b')]),
  ).toEqual([]);
  expect(
    conditionFaults([
      swap([0, 9], null, 'a'),
      swap([10, 19], 'a', 'b', UNKNOWN),
      swap([20, 29], 'a', 'c'),
    ]),
  ).toEqual([]);
  expect(conditionFaults([swap([0, 9], null, 'a'), swap([5, 15], null, 'b', refused)])).toEqual([]);
  // Refused because one without an outcome was made.
  expect(
    conditionFaults([swap([0, 9], null, 'a', UNKNOWN), swap([10, 19], null, 'b', refused)]),
  ).toEqual([]);
});

test('conditions: two made of the same → a fault, also where one had no outcome and was seen', () => {
  expect(conditionFaults([swap([0, 9], null, 'a'), swap([10, 19], null, 'b')])).toHaveLength(1);
  const both = [
    swap([0, 9], null, 'a'),
    swap([10, 19], 'a', 'b', UNKNOWN),
    read([20, 29], 'b'),
    swap([30, 39], 'a', 'c'),
  ];
  expect(conditionFaults(both)).toEqual([expect.stringMatching(/both replaced "a"/)]);
});

test('conditions: on a value that no call wrote, or before it was written → a fault', () => {
  expect(conditionFaults([swap([0, 9], 'x', 'a')])).toEqual([
    expect.stringMatching(/no call wrote that/),
  ]);
  expect(conditionFaults([swap([0, 9], 'a', 'b'), swap([10, 19], null, 'a')])).toHaveLength(1);
});

test('conditions: refused though it held → a fault', () => {
  expect(conditionFaults([swap([0, 9], null, 'a'), swap([10, 19], 'a', 'b', refused)])).toEqual([
    expect.stringMatching(/refused, though/),
  ]);
  expect(conditionFaults([swap([0, 9], null, 'a', refused)])).toHaveLength(1);
});

test('conditions: keys that others write without → not judged', () => {
  expect(conditionFaults([write([0, 9], 'a'), swap([10, 19], 'x', 'b')])).toEqual([]);
});
