/** Where a workload peaks, and whether that is known: less was done on both sides of it. */
import { expect, test } from 'vitest';
import { barsOf, knownGainBars } from '../../../bench/ads/bars.ts';
import { isKnownPeak, openPeaksTold, peakOf, peaksFound } from '../../../bench/ads/peaks.ts';
import { peakRowsOf, rowOf } from '../../../bench/ads/rows.ts';
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

test('a load beyond the peak where as much was done → no fall, and no peak', () => {
  const level = swept({ 4: [10, 10], 16: [30, 30], 48: [30, 29] });
  expect(peaksFound(level).map(({ way, isBracketed }) => [way, isBracketed])).toEqual([
    ['baseline', false],
    ['correctable', true],
  ]);
});

/** The longer comparisons at each load. */
function compared(measured: readonly Measured[]): Measured[] {
  return measured.map((each) => ({ ...each, atPeak: Array.from({ length: 9 }, () => each.rounds[0] as Comparison) }));
}

const GAINS = [
  'gain-of-peaks',
  'gain-at-peak-of-baseline',
  'gain-at-peak-of-correctable',
  'gain-of-peaks-by-busy-time',
] as const;
const gainsOf = (measured: readonly Measured[]): string[] =>
  barsOf('ads', measured).flatMap(({ name }) => (GAINS.some((each) => each === name) ? [name] : []));

test.each([
  { is: 'both', byLoad: { 4: [10, 10], 16: [30, 30], 48: [20, 20] }, gains: GAINS, told: [] },
  {
    is: 'that with speculation',
    byLoad: { 4: [10, 10], 16: [20, 30], 48: [30, 20] },
    gains: ['gain-at-peak-of-correctable'],
    told: ['workload A, baseline: most was done at 48 at a time'],
  },
  {
    is: 'none',
    byLoad: { 4: [30, 10], 16: [20, 20], 48: [10, 30] },
    gains: [],
    told: [
      'workload A, baseline: most was done at 4 at a time',
      'workload A, correctable: most was done at 48 at a time',
    ],
  },
] as const)(
  'gains: known to be a peak is $is → of the others none is told, and it is said',
  ({ byLoad, gains, told }) => {
    const measured = compared(swept(byLoad));
    expect(gainsOf(measured)).toEqual(GAINS.filter((each) => (gains as readonly string[]).includes(each)));
    const said = openPeaksTold(measured);
    expect(said.map((text) => text.split(',').slice(0, 2).join())).toEqual(told);
    expect(said.every((text) => text.endsWith('no gain there is told'))).toBe(true);
    // What was measured before is told, but held to nothing.
    const before = barsOf('ads', measured).find(({ name }) => name === 'gain-up-to-96-workers');
    expect(before?.verdict).toBe(null);
  },
);

/** The same with so much more done with speculation in the longer comparisons. */
function changedBy(throughputChange: number, measured: readonly Measured[]): Measured[] {
  const atPeak = { ...comparison(100, 100 * (1 + throughputChange)), throughputChange };
  return measured.map((each) => ({ ...each, atPeak: Array.from({ length: 9 }, () => atPeak) }));
}

test.each([
  { gain: 0.2, verdict: 'undecided', ofAll: 'met' },
  { gain: -0.1, verdict: 'missed', ofAll: 'missed' },
] as const)(
  'gains: of one workload the peak is not known → $gain at the others is the best that it may be: $verdict',
  ({ gain, verdict, ofAll }) => {
    const known = changedBy(gain, swept({ 4: [10, 10], 16: [30, 30], 48: [20, 20] }));
    const open = swept({ 4: [10, 10], 16: [20, 20], 48: [30, 30] }).map(
      (each) => ({ ...each, workload: 'B' }) as const,
    );
    const bars = (measured: readonly Measured[]): [string, number, unknown][] =>
      barsOf('ads', measured).flatMap((bar) =>
        bar.name.startsWith('gain-at-peak-of-baseline') ? [[bar.name, bar.value, bar.verdict]] : [],
      );
    const [name, ofA] = ['gain-at-peak-of-baseline', 'gain-at-peak-of-baseline-A'];
    expect(bars([...known, ...changedBy(9, open)])).toEqual([
      [name, gain, verdict],
      [ofA, gain, null],
    ]);
    expect(bars(known)).toEqual([
      [name, gain, ofAll],
      [ofA, gain, null],
    ]);
    // More rounds of them can tell no more than what they are.
    expect(knownGainBars([...known, ...changedBy(9, open)]).map((bar) => bar.verdict)).toEqual([ofAll, ofAll, ofAll]);
  },
);

test('rows: what was compared for longer is told where it is known to be a peak', () => {
  const measured = compared(rising);
  const told = measured.map((each) => 'changeAtPeak' in rowOf(each, isKnownPeak(each, measured)));
  expect(told).toEqual([false, true, false]);
});
