/** What is counted of operations, and under which names. */
import { expect, test } from 'vitest';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import {
  DURATION_BOUNDS_MS,
  DurationCounts,
  OperationStats,
} from '../../../../../src/server/gateway/operations/operation-stats.ts';

test('counts a time in the first bucket whose bound is not below it', () => {
  const durations = new DurationCounts();
  for (const ms of [0, 1, 2, 3, 10_000, 10_001]) durations.add(ms);
  const last = DURATION_BOUNDS_MS.length;
  const counted = durations.counts.flatMap((count, place) => (count === 0 ? [] : [[place, count]]));
  expect(counted).toEqual([
    [0, 2],
    [1, 1],
    [2, 1],
    [last - 1, 1],
    [last, 1],
  ]);
  expect(durations.sumMs).toBe(20_007);
});

test('counts the names of a contract each, and all others together', () => {
  const stats = new OperationStats(['get', 'put']);
  expect([stats.open('get').name, stats.find('put').name]).toEqual(['get', 'put']);
  expect([stats.open('made up').name, stats.find('made up').name]).toEqual(['(other)', '(other)']);
});

test('without a contract, counts at most 100 names each, and none that only fails', () => {
  const stats = new OperationStats(undefined);
  expect(stats.find('fails').name).toBe('(other)');
  for (let n = 0; n < 1000; n += 1) stats.open(`name ${n}`);
  expect(stats.all).toHaveLength(101);
  expect([stats.open('name 99').name, stats.open('name 100').name]).toEqual(['name 99', '(other)']);
});

test('counts failures by codes of this package alone', () => {
  const figures = new OperationStats(undefined).find('get');
  figures.countFailure(0, new CorrectableError('CONFLICT', 'x'));
  figures.countFailure(0, new CorrectableError('OF_A_STORE' as 'CONFLICT', 'x'));
  figures.countFailure(0, new Error('x'));
  expect([...(figures.failures[0] ?? [])]).toEqual([
    ['CONFLICT', 1],
    ['FINAL_FAILED', 2],
  ]);
});
