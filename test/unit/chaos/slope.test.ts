/** How a soak run fits and judges what it has sampled. */
import { expect, test } from 'vitest';
import { fitSlope, judgeSlope, type Point } from '../../soak/slope.ts';

const MINUTE_MS = 60_000;
const pointsOf = (values: readonly number[]): Point[] =>
  values.map((value, n) => [n * MINUTE_MS, value]);

test('samples on a line → its slope an hour, without a doubt', () => {
  const { slope, low, high } = fitSlope(pointsOf([5, 6, 7, 8]));
  expect([slope, low, high].map((value) => Math.round(value))).toEqual([60, 60, 60]);
});

test('samples that jump → an interval that contains the slope of what lies under them', () => {
  const noise = [3, -2, 1, -4, 2, 0, -1, 4, -3, 2, -2, 1];
  const { low, high } = fitSlope(pointsOf(noise.map((value, n) => n + value)));
  expect(low).toBeLessThan(60);
  expect(high).toBeGreaterThan(60);
});

test('a value that comes and goes by itself → a wider interval', () => {
  const { slope, low, high } = fitSlope(pointsOf([5, 6, 7, 8]), 3);
  expect([slope, low, high].map((value) => Math.round(value))).toEqual([60, 0, 120]);
});

test('fewer than three samples, or all at one time → an interval without bounds', () => {
  expect(fitSlope(pointsOf([1, 2]))).toMatchObject({ low: -Infinity, high: Infinity });
  expect(
    fitSlope([
      [0, 1],
      [0, 2],
      [0, 3],
    ]),
  ).toMatchObject({ low: -Infinity, high: Infinity });
});

test.each([
  ['a long run, within', { slope: 4, low: -9, high: 17 }, true, 'met'],
  ['a long run, beyond', { slope: -6, low: -7, high: -5 }, true, 'missed'],
  ['a short run, all within', { slope: 1, low: -4, high: 5 }, false, 'met'],
  ['a short run, all beyond', { slope: 9, low: 6, high: 12 }, false, 'missed'],
  ['a short run, all below', { slope: -9, low: -12, high: -6 }, false, 'missed'],
  ['a short run, on both sides', { slope: 9, low: 4, high: 14 }, false, 'undecided'],
] as const)('%s → %s', (_, slope, isLong, verdict) => {
  expect(judgeSlope(slope, 5, isLong)).toBe(verdict);
});
