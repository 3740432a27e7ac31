/**
 * The figures of a contest: each fault that they count must show up in them, and the possible gain
 * is the paper's.
 */
import { expect, test } from 'vitest';
import type { Way } from '../../../demo/shared/speculation/application.ts';
import type { AbComparison, Slice } from '../../../demo/shared/speculation/ab-comparison.ts';
import { compare, count } from '../../../demo/shared/speculation/report.ts';
import type { HistoryLine, Timing } from '../../../demo/shared/speculation/request.ts';

type Lines = Partial<Record<HistoryLine['kind'], readonly string[]>>;

/** A request whose views and delivery name these ads. */
function request(name: string, lines: Lines): HistoryLine[] {
  const kinds = Object.entries(lines) as [HistoryLine['kind'], readonly string[]][];
  return kinds.map(([kind, ads], n) => ({ request: name, user: '1', kind, ads, atMs: n }));
}

const RIGHT = request('right', {
  preliminary: ['a', 'b'],
  final: ['a', 'b'],
  delivered: ['a', 'b'],
});
const REFUTED = request('refuted', {
  preliminary: ['a'],
  final: ['a', 'b'],
  delivered: ['a', 'b'],
});
const PLAIN = request('plain', { final: ['c'], delivered: ['c'] });

test('count: preliminary views that were right or refuted, deliveries of the final references → divergence only', () => {
  expect(count([...RIGHT, ...REFUTED, ...PLAIN])).toEqual({ divergence: 0.5, wrongDeliveries: 0 });
});

test.each([
  ['an ad of the preliminary references', { preliminary: ['a'], final: ['b'], delivered: ['a'] }],
  ['an ad too many', { final: ['a'], delivered: ['a', 'b'] }],
  ['an ad too few', { final: ['a', 'b'], delivered: ['a'] }],
  ['another order', { final: ['a', 'b'], delivered: ['b', 'a'] }],
  ['a delivery without final references', { preliminary: ['a'], delivered: ['a'] }],
])('count: %s delivered → one wrong delivery', (_fault, lines) => {
  expect(count([...RIGHT, ...request('wrong', lines)]).wrongDeliveries).toBe(1);
});

test('count: delivered twice → one wrong delivery', () => {
  expect(count([...RIGHT, ...request('right', { delivered: ['a', 'b'] })]).wrongDeliveries).toBe(1);
});

test('count: no delivery had a preliminary view → divergence 0, not NaN', () => {
  expect(count(PLAIN)).toEqual({ divergence: 0, wrongDeliveries: 0 });
});

function slice(way: Way, timings: readonly Partial<Timing>[], busyMs: number): Slice {
  const full = timings.map((timing) => ({
    way,
    preliminaryMs: undefined,
    finalMs: 0,
    deliveredMs: 0,
    runs: 1,
    ...timing,
  }));
  return {
    way,
    timings: full,
    operations: timings.length,
    busyMs,
    counted: timings.length,
    countedMs: busyMs / 4,
  };
}

test('compare: known times → P, F, t, the possible reduction and what was reached of it', () => {
  const contest: AbComparison = {
    slices: [
      slice('baseline', [{ finalMs: 20, deliveredMs: 45 }], 90),
      slice('baseline', [{ finalMs: 20, deliveredMs: 55 }], 110),
      slice('correctable', [{ preliminaryMs: 2, finalMs: 20, deliveredMs: 32 }], 64),
      slice('correctable', [{ preliminaryMs: 2, finalMs: 20, deliveredMs: 38, runs: 2 }], 76),
    ],
    workers: 2,
    history: RIGHT,
  };
  const figures = compare(contest);
  expect(figures).toMatchObject({
    P: 2,
    F: 20,
    t: 30,
    possibleReduction: 0.36,
    misspeculations: 1,
    divergence: 0,
  });
  expect(figures.baseline).toEqual({
    avgMs: 50,
    p50Ms: 45,
    p95Ms: 55,
    p99Ms: 55,
    opsPerSec: 40,
    opsPerSecByBusyTime: 20,
  });
  expect(figures.correctable).toEqual({
    avgMs: 35,
    p50Ms: 32,
    p95Ms: 38,
    p99Ms: 38,
    opsPerSec: 57.1429,
    opsPerSecByBusyTime: 28.5714,
  });
  expect(figures.latencyReduction).toBe(0.3);
  expect(figures.throughputChange).toBeCloseTo(0.4286, 4);
});

test('compare: final references later than speculation → they are the bound of what is possible', () => {
  const contest: AbComparison = {
    slices: [
      slice('baseline', [{ finalMs: 40, deliveredMs: 50 }], 50),
      slice('correctable', [{ preliminaryMs: 2, finalMs: 40, deliveredMs: 40 }], 40),
    ],
    workers: 1,
    history: [],
  };
  expect(compare(contest)).toMatchObject({ possibleReduction: 0.2, latencyReduction: 0.2 });
});

test('compare: a contender without requests → rejected, instead of NaN', () => {
  expect(() => compare({ slices: [slice('baseline', [{}], 1)], workers: 1, history: [] })).toThrow(
    /more seconds/,
  );
});
