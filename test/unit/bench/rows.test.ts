/** The figures of large tables. */
import { expect, test } from 'vitest';
import { computeGoalResults, type Measured, type Name } from '../../../bench/rows/goals.ts';

const SIZES = { small: 10, large: 1000, huge: 10_000_000 };

function createMeasured(name: Name, rows: number, us: number): Measured {
  const runs = { write: us, read: us, scan: us };
  return {
    name,
    rows,
    fillUsPerRow: us,
    memoryBytes: 500 * rows,
    diskBytes: 300 * rows,
    startMs: us,
    usPerOperation: runs,
    longestPauseMs: runs,
  };
}

const ROUNDS = [1, 2, 4, 8, 16, 32];

test('figures of the large table are ratios to the small one of the same round', () => {
  const all = ROUNDS.flatMap((us) => [
    createMeasured('this', SIZES.small, us),
    createMeasured('this', SIZES.large, 2 * us),
  ]);
  all.push(createMeasured('this', SIZES.huge, 4));
  const results = new Map(computeGoalResults(all, SIZES).map((item) => [item.name, item]));
  expect(results.get('writes-vs-small')).toMatchObject({ value: 0.5, verdict: 'met' });
  expect(results.get('reads-vs-small')).toMatchObject({ value: 0.5, verdict: 'missed' });
  expect(results.get('memory-bytes-per-row')).toMatchObject({ value: 500, verdict: null });
  expect(results.get('huge-writes-vs-small')).toMatchObject({ value: 0.25, verdict: null });
  expect(results.has('start-vs-other')).toBe(false);
});

test('another checkout is compared round by round', () => {
  const all = ROUNDS.flatMap((us) => [
    createMeasured('this', SIZES.small, us),
    createMeasured('this', SIZES.large, us),
    createMeasured('other', SIZES.large, 4 * us),
  ]);
  const results = computeGoalResults(all, SIZES);
  expect(results.find(({ name }) => name === 'start-vs-other')).toMatchObject({ value: 0.25 });
});
