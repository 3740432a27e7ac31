/** The names of bars as they are today, of the benchmarks whose definitions have changed. */
import * as chase from '../../bench/ads/goals.ts';
import type { Latency } from '../../bench/ads/open-loop.ts';
import { isSwept, planOf, type Scene } from '../../bench/ads/settings.ts';
import { getReadStrategy } from '../../bench/cassandra/read-strategy.ts';
import * as core from '../../bench/core/bench.ts';
import type { GoalResult } from '../../bench/harness/goals.ts';
import * as redblue from '../../bench/redblue-overhead/goals.ts';
import * as server from '../../bench/server/goals.ts';
import {
  CLIENTS,
  NAMED,
  PAIRED,
  PAIRS,
  RED,
  SHARES,
  TARGETS,
  WINDOWS,
} from '../../bench/server/targets.ts';
import type { Name } from '../../bench/server/targets.ts';
import type { Measurement } from '../../bench/server/measurement.ts';
import * as transactions from '../../bench/transactions/goals.ts';
import { WAYS } from '../../bench/transactions/messages.ts';
import * as wire from '../../bench/wire/goals.ts';
import type { Comparison, Performance } from '../../demo/shared/speculation/report.ts';

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

function serverBars(): GoalResult[] {
  const measured = (plan: Omit<Measurement['plan'], 'durationMs'>): Measurement => ({
    plan: { ...plan, durationMs: 1 },
    samples: samplesOf(plan.names),
  });
  const all = Object.keys(TARGETS) as Name[];
  const closed = [
    ...WINDOWS.map((window) => measured({ workload: 'set', window, names: all })),
    ...CLIENTS.map((clients) =>
      measured({ workload: 'set', window: NAMED, clients, names: PAIRED }),
    ),
    measured({ workload: 'withdraw', window: NAMED, names: RED }),
  ];
  const open = PAIRS.map(({ of, to }) =>
    SHARES.map(() => measured({ workload: 'set', window: 1, names: [of, to] })),
  );
  return server.computeGoalResults(closed, open);
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

function chaseBars(name: string, scene: Scene): GoalResult[] {
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
  return chase.computeGoalResults(
    name,
    settings.map((item) => {
      const once = [comparison(item.workers === most ? 2 : 1)];
      return {
        ...item,
        rounds: once,
        atPeak: isSwept(item) ? once : [],
        offered: isSwept(item) ? offered : [],
      };
    }),
  );
}

function coreBars(): GoalResult[] {
  const samples = new Map(core.contendersOf(1).map(({ name }) => [name, [1]]));
  return [...core.computeGoalResults(samples), ...core.pendingBars(new Map())];
}

function transactionBars(): readonly GoalResult[] {
  const stands = (['frankfurt', 'virginia', 'ireland'] as const).map((site) => ({
    site,
    awayMs: 0,
  }));
  const all = [...stands, { site: 'frankfurt', awayMs: 20 } as const];
  const views = [all.map((stand) => ({ ...stand, firstMs: 1, finalMs: 1, transactions: 1 }))];
  return transactions.computeGoalResults({ costs: samplesOf(WAYS), views });
}

const BARS: Readonly<Record<string, () => readonly GoalResult[]>> = {
  core: coreBars,
  server: serverBars,
  'redblue-overhead': () =>
    redblue.computeGoalResults(
      new Map(
        redblue.WORKLOADS.map((workload) => [workload, samplesOf(redblue.NAMES_OF[workload])]),
      ),
    ),
  transactions: transactionBars,
  ads: () => chaseBars('ads', { placement: 'paper' }),
  'ads-cassandra': () =>
    chaseBars('ads', { placement: 'paper', way: getReadStrategy({ way: undefined }) }),
  twissandra: () => chaseBars('twissandra', { placement: 'twissandra' }),
  'twissandra-cassandra': () =>
    chaseBars('twissandra', { placement: 'twissandra', way: getReadStrategy({ way: undefined }) }),
  wire: () =>
    wire.computeGoalResults(
      new Map(wire.WINDOWS.map((window) => [window, samplesOf(wire.MODES)])),
      0.01,
    ),
};

/** Sorted; undefined where nothing but the form of the results has changed. */
export function barNamesOf(file: string): readonly string[] | undefined {
  return BARS[file]?.()
    .map(({ name }) => name)
    .sort();
}
