import { expect, test } from 'vitest';
import { closestName } from '../../../src/cli/serve.ts';

test.each([
  ['authorize', 'authorise'],
  ['Authenticate', 'authenticate'],
  ['limit', 'limits'],
  ['parseToken', undefined],
  ['list', undefined],
  ['x', undefined],
])('%s resembles %s', (typed, meant) => {
  expect(closestName(typed, ['authenticate', 'authorise', 'limits'])).toBe(meant);
});
