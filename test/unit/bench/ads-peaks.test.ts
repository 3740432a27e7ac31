/** Where a workload peaks, and whether that is known: less was done on both sides of it. */
import { expect, test } from 'vitest';
import { barsOf } from '../../../bench/ads/bars.ts';
import { peakOf, peaksFound } from '../../../bench/ads/peaks.ts';
import { peakRowsOf } from '../../../bench/ads/rows.ts';
import type { Measured } from '../../../bench/ads/settings.ts';
import type { Comparison, Performance } from '../../../demo/shared/chase/report.ts';

const performance = (opsPerSec: number): Performance => ({
  avgMs: 1,
  p50Ms: 1,
  p95Ms: 1,
  p99Ms: 1,
  opsPerSec,
  opsPerSecByBusyTime: 2 * opsPerSec,
});

/** One comparison; only throughput matters here. */
const comparison = (baseline: number, correctable: number): Comparison => ({
  P: 1,
  F: 2,
  t: 1,
  possibleReduction: 0.5,
  baseline: performance(baseline),
  correctable: performance(correctable),
  latencyReduction: 0.5,
  throughputChange: 0,
  divergence: 0,
  wrongDeliveries: 0,
  misspeculations: 0,
});

/** The paper's client, under loads that give so much without speculation and with it. */
function swept(byLoad: Readonly<Record<number, readonly [number, number]>>): Measured[] {
  return Object.entries(byLoad).map(([workers, [baseline, correctable]]) => ({
    placement: 'paper',
    client: 'irl',
    asks: 'frk',
    workload: 'A',
    workers: Number(workers),
    rounds: Array.from({ length: 6 }, () => comparison(baseline, correctable)),
    atPeak: [],
    offered: [],
  }));
}

const rising = swept({ 4: [10, 10], 16: [20, 30], 48: [30, 20] });

test('peak: the load where most is done, of each way', () => {
  expect(peakOf(rising, 'baseline').workers).toBe(48);
  expect(peakOf(rising, 'correctable').workers).toBe(16);
});

test('a peak at an end of the sweep is not known to be one', () => {
  expect(peaksFound(rising).map(({ way, workers, isBracketed }) => [way, workers, isBracketed])).toEqual([
    ['baseline', 48, false],
    ['correctable', 16, true],
  ]);
  expect(peaksFound(swept({ 4: [30, 30], 16: [20, 20] })).map(({ isBracketed }) => isBracketed)).toEqual([
    false,
    false,
  ]);
  expect(peakRowsOf(rising)[1]).toEqual({
    workload: 'A',
    peakOf: 'correctable',
    workers: 16,
    opsPerSec: 30,
    isBracketed: true,
  });
});

test('bar: how many peaks are at an end', () => {
  const bar = (measured: Measured[]): unknown =>
    barsOf('ads', measured).find(({ name }) => name === 'peaks-not-bracketed');
  expect(bar(rising)).toMatchObject({ value: 1, aim: 0, floor: null, verdict: 'missed' });
  expect(bar(swept({ 4: [10, 10], 16: [30, 30], 48: [20, 20] }))).toMatchObject({ value: 0, verdict: 'met' });
});
