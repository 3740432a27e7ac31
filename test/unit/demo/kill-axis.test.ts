/** The axis of the kill page. */
import { expect, test } from 'vitest';
import { getAxisEnd } from '../../../demo/kill/page/axis.ts';

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [37, 50],
  [50, 50],
  [51, 100],
  [900, 1000],
])('%i writes at most → the axis ends at %i', (count, end) => {
  expect(getAxisEnd(count)).toBe(end);
});
