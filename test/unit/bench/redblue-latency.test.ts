/** Which trips an operation of the microbenchmark needs, and what rows its latencies come to. */
import { expect, test } from 'vitest';
import { latencyRows } from '../../../bench/case-studies/latencies.ts';
import { secondSiteMs, tripsMs } from '../../../bench/microbenchmark/latency.ts';

test.each([
  // Beside a site a blue operation needs none; from elsewhere, there and back.
  ['blue', 'ue', 2, 0],
  ['blue', 'sg', 2, 181],
  ['blue', 'sg', 5, 0],
  // Red at the leader: the nearest other one has it too.
  ['red', 'ue', 3, 85],
  // Of three, one that has what the leader sent knows that two have it.
  ['red', 'ie', 3, 92],
  ['red', 'sg', 3, 181 + 85],
  // Of five, the leader waits for two others, and says so.
  ['red', 'ue', 5, 92],
  ['red', 'sg', 5, 252 + 92],
  ['red', 'sg', 4, 181 + 85 + 92],
] as const)('%s from %s with %i sites → %i ms', (colour, place, sites, ms) => {
  expect(tripsMs(colour, place, sites)).toBe(ms);
});

test('operations → a row for each number of sites, place and series, with mean and deviation', () => {
  const taken = (sites: number, ms: number) => ({ sites, place: 'ue', series: 'red', ms }) as const;
  expect(latencyRows([taken(3, 9), taken(2, 1), taken(2, 3)])).toEqual([
    { sites: 2, place: 'ue', series: 'red', count: 2, meanMs: 2, deviationMs: 1 },
    { sites: 3, place: 'ue', series: 'red', count: 1, meanMs: 9, deviationMs: 0 },
  ]);
});

test('what a red operation depends on goes to the nearest other site of the one that was asked', () => {
  expect([secondSiteMs('ue', 2), secondSiteMs('sg', 4), secondSiteMs('sg', 5)]).toEqual([85, 85, 181]);
});
