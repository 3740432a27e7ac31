/** The goals of the benchmark: the worst setting decides, and each fault shows. */
import { expect, test } from 'vitest';
import { barsOf } from '../../../bench/ads/bars.ts';
import type { Verdict } from '../../../bench/harness/bars.ts';
import { placeOf, planOf, UNLOADED_WORKERS, type Measured, type Setting } from '../../../bench/ads/settings.ts';
import type { Offered } from '../../../bench/ads/offered.ts';
import { peaksOf } from '../../../bench/ads/peaks.ts';
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
    baseline: { ...performance, opsPerSec: plainOps, opsPerSecByBusyTime: plainOps },
    correctable: { ...performance, opsPerSec: speculatedOps, opsPerSecByBusyTime: speculatedOps },
    latencyReduction: reduction,
    throughputChange: speculatedOps / plainOps - 1,
    divergence: 0,
    misspeculations: 0,
    wrongDeliveries: wrong,
  };
}

const PAPER: Setting = { placement: 'paper', client: 'irl', asks: 'frk', workload: 'B', workers: UNLOADED_WORKERS };
const CLOSE: Setting = { placement: 'paper', client: 'frk', workload: 'B', workers: UNLOADED_WORKERS };
const FAR: Setting = { placement: 'paper', client: 'vrg', workload: 'B', workers: UNLOADED_WORKERS };

/** As many rounds as it takes to be sure: those given, and the same again without their wrong deliveries. */
function enough(given: readonly Planted[]): Comparison[] {
  return Array.from({ length: Math.max(7, given.length) }, (_, n) =>
    round({ ...given[n % given.length], ...(n >= given.length && { wrong: 0 }) }),
  );
}

function measured(setting: Setting, ...rounds: Planted[]): Measured {
  return { ...setting, rounds: enough(rounds), atPeak: [], offered: [] };
}

function atPeak(setting: Measured, ...rounds: Planted[]): Measured {
  return { ...setting, atPeak: enough(rounds) };
}

/** Both at the same rate: 20 ms without speculation, 15 with it, 40 and 36 at the 99th percentile. */
function offer(share: number, wrongDeliveries = 0): Offered {
  const [baseline, correctable] = [
    { avgMs: 20, p50Ms: 20, p99Ms: 40 },
    { avgMs: 15, p50Ms: 15, p99Ms: 36 },
  ];
  return { share, perSecond: 100 * share, wrongDeliveries, baseline, correctable };
}

function bar(name: string, ...settings: Measured[]): { value: number; verdict: Verdict | null } {
  const found = barsOf('ads', settings).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no bar ${name}`);
  return { value: found.value, verdict: found.verdict };
}

test('bars: a good run → all met', () => {
  const offered: Offered[] = [0.25, 0.5, 0.75].flatMap((share) => enough([{}]).map(() => offer(share)));
  const paper = { ...atPeak(measured(PAPER, {}, {}, {}), {}), offered };
  // Less is done on both sides of the peak.
  const [before, beyond] = [2, 16].map((workers) =>
    measured({ ...PAPER, workers }, { plainOps: 50, speculatedOps: 80 }),
  );
  const sweep = [before as Measured, paper, beyond as Measured];
  const bars = barsOf('ads', [...sweep, measured(CLOSE, {}, {}, {}), measured(FAR, {}, {}, {})]);
  expect(bars.map(({ name }) => name)).toEqual([
    'ads-reduction-vs-possible-paper',
    'ads-divergence-unloaded-paper',
    'ads-reduction-paper',
    'gain-of-peaks',
    'gain-at-peak-of-baseline',
    'gain-at-peak-of-correctable',
    'gain-at-peak-of-baseline-B',
    'gain-at-peak-of-correctable-B',
    'gain-up-to-96-workers',
    'gain-of-peaks-by-busy-time',
    'peaks-not-bracketed',
    ...[25, 50, 75].flatMap((share) => [`latency-reduction-at-${share}-percent`, `p99-reduction-at-${share}-percent`]),
    'ads-reduction-vs-possible',
    'ads-divergence-unloaded',
    'ads-reduction-colocated',
    'wrong-deliveries',
  ]);
  expect(bars.every(({ verdict }) => verdict === 'met' || verdict === null)).toBe(true);
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
  const peak = measured({ ...PAPER, workers: 96 }, { plainOps: 1000, speculatedOps: 1000 });
  const loaded = atPeak(peak, poor, { plainOps: 1000, speculatedOps: 930 }, poor);
  const other = atPeak(measured({ ...PAPER, workload: 'A' }, {}), {});
  expect(bar('gain-up-to-96-workers', measured(PAPER, {}), other, loaded)).toEqual({ value: -0.1, verdict: null });
  // Known to be peaks: less is done on both sides.
  const less = { plainOps: 50, speculatedOps: 80 };
  const sides = [2, 16].map((workers) => measured({ ...other, workers }, less));
  const beyond = measured({ ...PAPER, workers: 192 }, less);
  const swept = [measured(PAPER, {}), loaded, beyond, other, ...sides];
  expect(bar('gain-at-peak-of-correctable', ...swept)).toEqual({ value: -0.1, verdict: 'missed' });
  expect(bar('gain-at-peak-of-correctable-A', ...swept)).toEqual({ value: 0.7, verdict: null });
  expect(bar('gain-at-peak-of-correctable-B', ...swept)).toEqual({ value: -0.1, verdict: null });
});

test('bars: what diverged where nobody queues stands beside what is saved there, of the workload where most did', () => {
  const diverging = (setting: Setting, divergence: number): Measured => {
    const each = measured(setting, {});
    return { ...each, rounds: each.rounds.map((one) => ({ ...one, divergence })) };
  };
  const all = [diverging(PAPER, 0), diverging({ ...PAPER, workload: 'A' }, 0.01), diverging(CLOSE, 0.02)];
  expect(bar('ads-divergence-unloaded-paper', ...all)).toEqual({ value: 0.01, verdict: null });
  expect(bar('ads-divergence-unloaded', ...all)).toEqual({ value: 0.02, verdict: null });
});

/** The baseline peaks at 192, speculation at 48; up to 96, as before, the baseline does most at 96. */
const SWEEP = [
  measured(PAPER, { plainOps: 100, speculatedOps: 150 }),
  atPeak(measured({ ...PAPER, workers: 48 }, { plainOps: 700, speculatedOps: 1000 }), {
    plainOps: 700,
    speculatedOps: 990,
  }),
  atPeak(measured({ ...PAPER, workers: 96 }, { plainOps: 900, speculatedOps: 950 }), {
    plainOps: 900,
    speculatedOps: 945,
  }),
  atPeak(measured({ ...PAPER, workers: 192 }, { plainOps: 1000, speculatedOps: 900 }), {
    plainOps: 1000,
    speculatedOps: 900,
  }),
  measured({ ...PAPER, workers: 384 }, { plainOps: 800, speculatedOps: 700 }),
];

test('bars: each at its own peak, at either peak, and where the sweep used to end', () => {
  expect(bar('gain-of-peaks', ...SWEEP).value).toBe(-0.01);
  expect(bar('gain-at-peak-of-baseline', ...SWEEP).value).toBe(-0.1);
  expect(bar('gain-at-peak-of-correctable', ...SWEEP).value).toBe(0.4143);
  expect(bar('gain-up-to-96-workers', ...SWEEP)).toEqual({ value: 0.05, verdict: null });
});

test('bars: latency at equal rates → of the workload that gains least; a wrong delivery there counts', () => {
  const rounds = [1, 2, 3, 4, 5, 6];
  const good = { ...measured(PAPER, {}), offered: rounds.map(() => offer(0.5)) };
  const poor = {
    ...measured({ ...PAPER, workload: 'A' }, {}),
    offered: rounds.map((n) => offer(0.5, n === 1 ? 1 : 0)),
  };
  const slower = poor.offered.map((each) => ({ ...each, correctable: { ...each.correctable, avgMs: 18 } }));
  const all = [good, { ...poor, offered: slower }];
  expect(bar('latency-reduction-at-50-percent', ...all)).toEqual({ value: 0.1, verdict: null });
  expect(bar('p99-reduction-at-50-percent', ...all)).toEqual({ value: 0.1, verdict: null });
  expect(bar('wrong-deliveries', ...all)).toEqual({ value: 1, verdict: 'missed' });
});

test('bars: the client in Ireland that asks Frankfurt → the headline, apart from the friendlier place', () => {
  const all = [measured(PAPER, { reduction: 0.2 }), measured(CLOSE, { reduction: 0.43 })];
  expect(bar('ads-reduction-paper', ...all).value).toBe(0.2);
  expect(bar('ads-reduction-colocated', ...all).value).toBe(0.43);
  expect(bar('ads-reduction-vs-possible-paper', ...all)).toEqual({ value: 0.4444, verdict: 'missed' });
});

test('peaks: of each workload either’s, and the one up to the old end of the sweep, once each', () => {
  const other = measured({ ...PAPER, workload: 'A' }, { plainOps: 50 });
  const far = measured({ ...FAR, workers: 96 }, { plainOps: 5000 });
  expect(peaksOf([...SWEEP, other, far]).map(({ workload, workers }) => `${workload} ${workers}`)).toEqual([
    'B 192',
    'B 48',
    'B 96',
    'A 4',
  ]);
});

test('bars: a loaded setting → does not count as a latency', () => {
  const loaded = measured({ ...PAPER, workers: 96 }, { reduction: -0.2, plainOps: 1000, speculatedOps: 1000 });
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

test('plan: the whole one → all workloads, loads up to the peak, the paper’s data, seven rounds', () => {
  const { settings, rounds, scale } = planOf(false, { placement: 'paper' });
  expect({ rounds, scale }).toEqual({ rounds: 7, scale: 1 });
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
  expect(bar('gain-up-to-96-workers', ...all)).toEqual({ value: -0.01, verdict: null });
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

test('plan: Twissandra on RedBlue → from Ireland to Virginia under all loads, and beside it', () => {
  const { settings } = planOf(false, { placement: 'twissandra' });
  expect(new Set(settings.map((setting) => placeOf(setting)))).toEqual(new Set(['irl, asks vrg', 'vrg']));
  const close = measured({ ...CLOSE, placement: 'twissandra', client: 'vrg' }, { reduction: 0.4 });
  expect(bar('ads-reduction-colocated', close)).toEqual({ value: 0.4, verdict: 'met' });
});
