/** The names of bars as they are today, of the benchmarks whose definitions have changed. */
import * as chase from '../../../bench/ads/bars.ts';
import type { Latency } from '../../../bench/ads/offered.ts';
import { isSwept, planOf, type Scene } from '../../../bench/ads/settings.ts';
import { wayOf } from '../../../bench/cassandra/way.ts';
import * as core from '../../../bench/core/bench.ts';
import type { Bar } from '../../../bench/harness/bars.ts';
import * as redblue from '../../../bench/redblue-overhead/bars.ts';
import * as server from '../../../bench/server/bars.ts';
import { CLIENTS, NAMED, PAIRED, PAIRS, RED, SHARES, TARGETS, WINDOWS } from '../../../bench/server/targets.ts';
import type { Name } from '../../../bench/server/targets.ts';
import type { Measurement } from '../../../bench/server/measurement.ts';
import * as wire from '../../../bench/wire/bars.ts';
import type { Comparison, Performance } from '../../../demo/shared/chase/report.ts';

/** Any run: only names matter. */
const run = {
  opsPerSecond: 1,
  clientUsPerOp: 1,
  serverUsPerOp: 1,
  usPerOp: 1,
  serverCores: 1,
  p50Ms: 1,
  p99Ms: 1,
  p999Ms: 1,
  bytesSentPerOp: 1,
  bytesReceivedPerOp: 1,
};

function samplesOf<N extends string>(names: readonly N[]): ReadonlyMap<N, readonly (typeof run)[]> {
  return new Map(names.map((name) => [name, [run]]));
}

function serverBars(): Bar[] {
  const measured = (plan: Omit<Measurement['plan'], 'durationMs'>): Measurement => ({
    plan: { ...plan, durationMs: 1 },
    samples: samplesOf(plan.names),
  });
  const all = Object.keys(TARGETS) as Name[];
  const closed = [
    ...WINDOWS.map((window) => measured({ workload: 'set', window, names: all })),
    ...CLIENTS.map((clients) => measured({ workload: 'set', window: NAMED, clients, names: PAIRED })),
    measured({ workload: 'withdraw', window: NAMED, names: RED }),
  ];
  const open = PAIRS.map(({ of, to }) => SHARES.map(() => measured({ workload: 'set', window: 1, names: [of, to] })));
  return server.barsOf(closed, open);
}

const latency: Latency = { avgMs: 1, p50Ms: 1, p99Ms: 1 };
const performance: Performance = { ...latency, p95Ms: 1, opsPerSec: 1, opsPerSecByBusyTime: 1 };
const comparison = (opsPerSec: number): Comparison => ({
  P: 1,
  F: 1,
  t: 1,
  possibleReduction: 1,
  baseline: { ...performance, opsPerSec },
  correctable: { ...performance, opsPerSec },
  latencyReduction: 1,
  throughputChange: 1,
  divergence: 0,
  misspeculations: 0,
  wrongDeliveries: 0,
});

function chaseBars(name: string, scene: Scene): Bar[] {
  const { settings, offers } = planOf(false, scene);
  const offered = offers.shares.map((share) => ({
    share,
    perSecond: 1,
    wrongDeliveries: 0,
    baseline: latency,
    correctable: latency,
  }));
  // Every workload peaks between the ends of its sweep.
  const most = settings[1]?.workers;
  return chase.barsOf(
    name,
    settings.map((each) => {
      const once = [comparison(each.workers === most ? 2 : 1)];
      return { ...each, rounds: once, atPeak: isSwept(each) ? once : [], offered: isSwept(each) ? offered : [] };
    }),
  );
}

function coreBars(): Bar[] {
  const samples = new Map(core.contendersOf(1).map(({ name }) => [name, [1]]));
  return [...core.barsOf(samples), ...core.pendingBars(new Map())];
}

const BARS: Readonly<Record<string, () => readonly Bar[]>> = {
  core: coreBars,
  server: serverBars,
  'redblue-overhead': () =>
    redblue.barsOf(new Map(redblue.WORKLOADS.map((workload) => [workload, samplesOf(redblue.NAMES_OF[workload])]))),
  ads: () => chaseBars('ads', { placement: 'paper' }),
  'ads-cassandra': () => chaseBars('ads', { placement: 'paper', way: wayOf({ way: undefined }) }),
  twissandra: () => chaseBars('twissandra', { placement: 'twissandra' }),
  'twissandra-cassandra': () => chaseBars('twissandra', { placement: 'twissandra', way: wayOf({ way: undefined }) }),
  wire: () => wire.barsOf(new Map(wire.WINDOWS.map((window) => [window, samplesOf(wire.MODES)])), 0.01),
};

/** Sorted; undefined where nothing but the form of the results has changed. */
export function barNamesOf(file: string): readonly string[] | undefined {
  return BARS[file]?.()
    .map(({ name }) => name)
    .sort();
}
