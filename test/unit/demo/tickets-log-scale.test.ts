/** The logarithmic axis of the plot. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { logRange, logTicks, MS_MIN } from '../../../demo/tickets/page/log-scale.ts';

test('ticks: from 0.5 to 200 → one, two, five in every decade', () => {
  expect(logTicks(0.5, 200)).toEqual([0.5, 1, 2, 5, 10, 20, 50, 100, 200]);
});

test('range: no data → one to a hundred milliseconds', () => {
  expect(logRange(null, null)).toEqual([1, 100]);
});

test('range: few data → never narrower than that', () => {
  expect(logRange(3, 30)).toEqual([1, 100]);
});

test('range: any data → holds them, from one tick to another', () => {
  const ms = fc.double({ min: MS_MIN, max: 60_000, noNaN: true });
  fc.assert(
    fc.property(ms, ms, (a, b) => {
      const [min, max] = [Math.min(a, b), Math.max(a, b)];
      const [low, high] = logRange(min, max);
      expect(low).toBeLessThanOrEqual(min);
      expect(high).toBeGreaterThan(max);
      expect(logTicks(low, high)).toEqual(expect.arrayContaining([low, high]));
    }),
  );
});
