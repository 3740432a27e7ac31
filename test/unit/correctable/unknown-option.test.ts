import { expect, test } from 'vitest';
import { findClosestName } from '../../../src/correctable/unknown-option.ts';

test.each([
  ['authorize', 'authorize'],
  ['Authenticate', 'authenticate'],
  ['limit', 'limits'],
  ['parseToken', undefined],
  ['list', undefined],
  ['x', undefined],
])('%s resembles %s', (typed, meant) => {
  expect(findClosestName(typed, ['authenticate', 'authorize', 'limits'])).toBe(meant);
});
