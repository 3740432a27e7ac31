/** The interval in which a true median is, whatever the values are like. */
import { expect, test } from 'vitest';
import { medianInterval, samplesMin } from '../../../bench/harness/statistics.ts';
import { seeded } from '../../../demo/shared/random.ts';

test('median interval: nine values → from the second to the eighth', () => {
  expect(medianInterval([9, 1, 8, 2, 7, 3, 6, 4, 5])).toEqual({ low: 2, high: 8 });
});

test('median interval: so few values that none is sure → their range', () => {
  expect(medianInterval([3, 1, 2])).toEqual({ low: 1, high: 3 });
  expect(medianInterval([7])).toEqual({ low: 7, high: 7 });
});

test('median interval: the fewest values of which one is sure → their range is; of one fewer it is not', () => {
  expect([1, 2, 3, 4].map((looks) => samplesMin(looks))).toEqual([6, 7, 7, 8]);
  for (const looks of [1, 2, 3, 4, 5, 8]) {
    // All on one side of the true median.
    const wrong = (count: number): number => 2 * 2 ** -count;
    expect(wrong(samplesMin(looks))).toBeLessThanOrEqual(0.05 / looks);
    expect(wrong(samplesMin(looks) - 1)).toBeGreaterThan(0.05 / looks);
  }
});

test('median interval: a thousand samples of a skewed law → it holds the true median in 95 % of them at least', () => {
  const random = seeded(1);
  const holds = Array.from({ length: 1000 }, () => {
    const { low, high } = medianInterval(Array.from({ length: 15 }, () => -Math.log(1 - random())));
    return low <= Math.LN2 && Math.LN2 <= high;
  }).filter(Boolean).length;
  expect(holds).toBeGreaterThanOrEqual(950);
  // Not by being far too wide.
  expect(holds).toBeLessThan(995);
});
