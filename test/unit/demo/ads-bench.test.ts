/** The goals of the benchmark: the worst setting decides, and each fault shows. */
import { expect, test } from 'vitest';
import { barsOf } from '../../../bench/ads/bars.ts';
import type { Verdict } from '../../../bench/harness/bars.ts';
import {
  peaksOf,
  placeOf,
  planOf,
  UNLOADED_WORKERS,
  type Measured,
  type Setting,
} from '../../../bench/ads/settings.ts';
import type { Comparison } from '../../../demo/shared/chase/report.ts';

interface Planted {
  readonly reduction?: number;
  readonly plainOps?: number;
  readonly speculatedOps?: number;
  readonly wrong?: number;
}

function round({ reduction = 0.44, plainOps = 100, speculatedOps = 170, wrong = 0 }: Planted): Comparison {
  const performance = { avgMs: 1, p50Ms: 1, p95Ms: 1, p99Ms: 1 };
  return {
    P: 1,
    F: 20,
    t: 22,
    possibleReduction: 0.45,
    baseline: { ...performance, opsPerSec: plainOps },
    correctable: { ...performance, opsPerSec: speculatedOps },
    latencyReduction: reduction,
    throughputChange: speculatedOps / plainOps - 1,
    divergence: 0,
    misspeculations: 0,
    wrongDeliveries: wrong,
  };
}

const CLOSE: Setting = { placement: 'paper', client: 'frk', workload: 'B', workers: UNLOADED_WORKERS };
const FAR: Setting = { placement: 'paper', client: 'vrg', workload: 'B', workers: UNLOADED_WORKERS };

/** As many rounds as it takes to be sure: those given, and the same again without their wrong deliveries. */
function enough(given: readonly Planted[]): Comparison[] {
  return Array.from({ length: Math.max(6, given.length) }, (_, n) =>
    round({ ...given[n % given.length], ...(n >= given.length && { wrong: 0 }) }),
  );
}

function measured(setting: Setting, ...rounds: Planted[]): Measured {
  return { ...setting, rounds: enough(rounds), atPeak: [] };
}

function atPeak(setting: Measured, ...rounds: Planted[]): Measured {
  return { ...setting, atPeak: enough(rounds) };
}

function bar(name: string, ...settings: Measured[]): { value: number; verdict: Verdict | null } {
  const found = barsOf('ads', settings).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no bar ${name}`);
  return { value: found.value, verdict: found.verdict };
}

test('bars: a good run → all met', () => {
  const bars = barsOf('ads', [atPeak(measured(CLOSE, {}, {}, {}), {}), measured(FAR, {}, {}, {})]);
  expect(bars.map(({ name }) => name)).toEqual([
    'ads-reduction-vs-possible',
    'ads-reduction-colocated',
    'throughput-change',
    'wrong-deliveries',
  ]);
  expect(bars.every(({ verdict }) => verdict === 'met')).toBe(true);
});

test('bars: one workload that gains less → it decides, by the median of its rounds', () => {
  const poor = measured({ ...CLOSE, workload: 'A' }, { reduction: 0.1 }, { reduction: 0.36 }, { reduction: 0.39 });
  const all = [measured(CLOSE, {}, {}, {}), poor];
  expect(bar('ads-reduction-colocated', ...all)).toEqual({ value: 0.36, verdict: 'missed' });
  expect(bar('ads-reduction-vs-possible', ...all)).toEqual({ value: 0.8, verdict: 'missed' });
});

test('bars: rounds on both sides of the goal → undecided, wherever their median is', () => {
  const unsure = measured(CLOSE, { reduction: 0.39 }, { reduction: 0.44 }, { reduction: 0.5 });
  expect(bar('ads-reduction-colocated', unsure)).toEqual({ value: 0.44, verdict: 'undecided' });
});

test('bars: a client far away gains less → counts against what is possible, not against the colocated goal', () => {
  const far = measured(FAR, { reduction: 0.27 });
  expect(bar('ads-reduction-colocated', measured(CLOSE, {}), far).verdict).toBe('met');
  expect(bar('ads-reduction-vs-possible', measured(CLOSE, {}), far)).toEqual({ value: 0.6, verdict: 'missed' });
});

test('bars: less throughput at the peak of one workload → shown, though there is more of it elsewhere', () => {
  const poor = { plainOps: 1000, speculatedOps: 900 };
  const loaded = atPeak(measured({ ...CLOSE, workers: 96 }, {}), poor, { plainOps: 1000, speculatedOps: 930 }, poor);
  const other = atPeak(measured({ ...CLOSE, workload: 'A' }, {}), {});
  expect(bar('throughput-change', measured(CLOSE, {}), other, loaded)).toEqual({ value: -0.1, verdict: 'missed' });
});

test('peaks: of each workload the load where most is done without speculation, by the median', () => {
  const low = measured(CLOSE, { plainOps: 100 });
  const peak = measured({ ...CLOSE, workers: 48 }, { plainOps: 900 }, { plainOps: 950 }, { plainOps: 100 });
  const beyond = measured({ ...CLOSE, workers: 96 }, { plainOps: 2000 }, { plainOps: 800 }, { plainOps: 700 });
  const other = measured({ ...CLOSE, workload: 'A' }, { plainOps: 50 });
  const far = measured({ ...FAR, workers: 96 }, { plainOps: 5000 });
  expect(peaksOf([low, peak, beyond, other, far])).toEqual([peak, other]);
});

test('bars: a loaded setting → does not count as a latency', () => {
  const loaded = measured({ ...CLOSE, workers: 96 }, { reduction: -0.2, plainOps: 1000, speculatedOps: 1000 });
  expect(bar('ads-reduction-colocated', measured(CLOSE, {}), loaded).value).toBe(0.44);
});

test('bars: wrong deliveries anywhere → added up', () => {
  expect(
    bar('wrong-deliveries', atPeak(measured(CLOSE, {}, { wrong: 2 }), { wrong: 1 }), measured(FAR, { wrong: 1 })),
  ).toEqual({
    value: 4,
    verdict: 'missed',
  });
});

test('plan: the whole one → all workloads, loads up to the peak, the paper’s data, six rounds', () => {
  const { settings, rounds, scale } = planOf(false, { placement: 'paper' });
  expect({ rounds, scale }).toEqual({ rounds: 6, scale: 1 });
  expect(new Set(settings.map(({ workload }) => workload))).toEqual(new Set(['A', 'B', 'C']));
  expect(Math.max(...settings.map(({ workers }) => workers))).toBeGreaterThan(UNLOADED_WORKERS * 10);
});

test('bars: Cassandra → beside the coordinator with two and with three replicas apart, throughput of the far client', () => {
  const options = { way: 3, coordinator: 'frk', readQuorum: 2 } as const;
  const place = { placement: 'paper', client: 'irl', cassandra: options, workload: 'B', workers: 4 } as const;
  const far = atPeak(measured(place, { reduction: 0.42 }), { speculatedOps: 99 });
  const near = measured({ ...place, client: 'frk' }, { reduction: 0.41 });
  const r3 = measured({ ...place, client: 'frk', cassandra: { ...options, readQuorum: 3 } }, { reduction: 0.39 });
  const all = [far, near, r3];
  expect(bar('ads-reduction-colocated', ...all)).toEqual({ value: 0.41, verdict: 'met' });
  expect(bar('ads-reduction-r3', ...all)).toEqual({ value: 0.39, verdict: 'missed' });
  expect(bar('throughput-change', ...all)).toEqual({ value: -0.01, verdict: 'met' });
});

test('plan: Cassandra → the paper’s client under all loads, three more places', () => {
  const { settings, scale } = planOf(false, { placement: 'paper', way: 3 });
  expect(scale).toBe(1);
  expect(new Set(settings.map((setting) => placeOf(setting)))).toEqual(
    new Set(['irl, R = 2', 'frk, R = 2', 'frk, R = 3', 'irl, R = 3']),
  );
});

test('plan: Twissandra → its client in Ireland asks Virginia, whose replicas are in California and Oregon', () => {
  const { settings } = planOf(false, { placement: 'twissandra', way: 3 });
  expect(
    settings.every(({ placement, cassandra }) => placement === 'twissandra' && cassandra?.coordinator === 'vrg'),
  ).toBe(true);
  expect(new Set(settings.map((setting) => placeOf(setting)))).toEqual(
    new Set(['irl, R = 2', 'vrg, R = 2', 'vrg, R = 3', 'irl, R = 3']),
  );
  const loads = (client: string): number =>
    new Set(settings.filter((each) => each.client === client).map((each) => each.workers)).size;
  expect([loads('irl') > 2, loads('vrg')]).toEqual([true, 1]);
});

test('plan: Twissandra on RedBlue → beside Virginia, under all loads', () => {
  const { settings } = planOf(false, { placement: 'twissandra' });
  expect(new Set(settings.map(({ client }) => client))).toEqual(new Set(['vrg']));
  const close = measured({ ...CLOSE, placement: 'twissandra', client: 'vrg' }, { reduction: 0.4 });
  expect(bar('ads-reduction-colocated', close)).toEqual({ value: 0.4, verdict: 'met' });
});
