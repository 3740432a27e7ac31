/** What the server is held to beside Redis, by the rounds in which both ran. */
import { expect, test } from 'vitest';
import type { Measured } from '../../../bench/load/processes.ts';
import { barsOf } from '../../../bench/server/bars.ts';
import { openPlansOf, samplesOf, type Measurement } from '../../../bench/server/measurement.ts';
import {
  CLIENTS,
  NAMED,
  OPEN_WINDOW,
  PAIRED,
  PAIRS,
  RED,
  TARGETS,
  WINDOWS,
  type Name,
} from '../../../bench/server/targets.ts';
import { limitsFrom } from '../../../src/server/gateway/limits/limits.ts';

const ALL = Object.keys(TARGETS) as Name[];

function runs(opsPerSecond: number): Measured[] {
  const us = 1e6 / opsPerSecond;
  const latency = { p50Ms: 1, p99Ms: 1e5 / opsPerSecond, p999Ms: 3 };
  const each = { opsPerSecond, clientUsPerOp: us, serverUsPerOp: us, serverCores: 1, ...latency };
  return Array.from({ length: 7 }, () => each);
}

/** Everybody does as much as Redis does, but for those that are given. */
function measured(given: Partial<Record<Name, number>> = {}): Measurement[] {
  const of = (names: readonly Name[]): Measurement['samples'] =>
    new Map(names.map((name) => [name, runs(given[name] ?? 1000)]));
  const set = { workload: 'set', durationMs: 1 } as const;
  return [
    ...WINDOWS.map((window) => ({ plan: { ...set, window, names: ALL }, samples: of(ALL) })),
    ...CLIENTS.map((clients) => ({ plan: { ...set, window: NAMED, clients, names: PAIRED }, samples: of(PAIRED) })),
    { plan: { ...set, workload: 'withdraw', window: NAMED, names: RED }, samples: of(RED) },
  ];
}

test('bars: sites with defaults are held to the floors, tuned ones too', () => {
  const bars = barsOf(measured({ ephemeral: 850, 'ephemeral, tuned': 1300 }), []);
  const verdict = (name: string): unknown => bars.find((bar) => bar.name === name)?.verdict;
  expect(verdict('ephemeral-blue-vs-ioredis-1')).toBe('held');
  expect(verdict('ephemeral-blue-vs-ioredis-64')).toBe('missed');
  expect(bars.find(({ name }) => name === 'ephemeral-blue-vs-ioredis-64')?.floor).toBe(0.9);
  expect(verdict('ephemeral-blue-vs-ioredis-64-tuned')).toBe('held');
  expect(verdict('ephemeral-blue-vs-ioredis-1-tuned')).toBe('met');
  expect(verdict('durable-blue-vs-ioredis-aof-1024-tuned')).toBe('missed');
});

test('bars: rounds of one start count once, for they are alike', () => {
  const [first, ...others] = measured();
  const runsOf = (ops: readonly number[]): Measured[] =>
    ops.flatMap((each, at) => runs(each).map((one) => ({ ...one, start: at + 1 })));
  const samples = new Map([
    ...(first as Measurement).samples,
    ['ephemeral, tuned', runsOf([990, 1010, 1050])],
  ] as const);
  const redis = new Map([...samples, ['redis', runsOf([1000, 1000, 1000])]] as const);
  const bars = barsOf([{ ...(first as Measurement), samples: redis }, ...others], []);
  const bar = bars.find(({ name }) => name === 'ephemeral-blue-vs-ioredis-1-tuned');
  expect(bar).toMatchObject({ value: 1.01, low: 0.99, high: 1.05, samples: 3, verdict: 'undecided' });
});

test('bars: processor time and latency are ratios of the same rounds, less is better', () => {
  const open = [[0.25, 0.5, 0.75].map(() => measured({ ephemeral: 2000 })[0] as Measurement)];
  const bars = barsOf(measured({ ephemeral: 2000 }), open);
  const value = (name: string): unknown => bars.find((bar) => bar.name === name)?.value;
  expect(value('ephemeral-blue-vs-ioredis-64-server-time')).toBe(0.5);
  expect(value('ephemeral-blue-vs-ioredis-64-clients-4')).toBe(2);
  expect(value('ephemeral-blue-vs-ioredis-p99-at-50-percent')).toBe(0.5);
  expect(value('durable-blue-vs-ioredis-aof-64-server-time')).toBe(1);
});

test('open loops: both of a pair at the same rates, shares of what the slower one reaches', () => {
  const closed = samplesOf(measured({ ephemeral: 4000 }), { workload: 'set', window: 1024 });
  const plans = openPlansOf(closed, PAIRS[0], { workload: 'set', window: 5, durationMs: 1 });
  expect(plans.map(({ perSecond, names }) => [perSecond, names])).toEqual([
    [250, ['ephemeral', 'redis']],
    [500, ['ephemeral', 'redis']],
    [750, ['ephemeral', 'redis']],
  ]);
});

test('an open loop has no more under way than a connection takes: a stall delays it, and ends nothing', () => {
  expect(OPEN_WINDOW).toBeLessThan(limitsFrom().inFlightMax);
});
