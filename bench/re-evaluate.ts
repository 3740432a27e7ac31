/**
 * Computes the bars of a results file from its samples by the present rules, as the benchmark would
 * for the same rounds.
 */
import * as chase from './ads/goals.ts';
import * as causal from './causal/goals.ts';
import * as bandwidth from './cassandra/bandwidth-cells.ts';
import * as divergence from './cassandra/divergence.ts';
import * as latency from './cassandra/latency.ts';
import * as drops from './cassandra/load-drops.ts';
import * as cluster from './cluster/throughput.ts';
import * as failover from './cluster/failover.ts';
import * as failoverEtcd from './cluster/failover-etcd.ts';
import * as core from './core/bench.ts';
import type { GoalResult } from './harness/goals.ts';
import { groupBy } from './harness/group-by.ts';
import * as postgres from './postgres/goals.ts';
import * as react from './react/goals.ts';
import * as redblue from './redblue-overhead/goals.ts';
import * as delay from './sdur/delay.ts';
import * as metadata from './sdur/metadata.ts';
import * as mix from './sdur/mix.ts';
import * as reorder from './sdur/reorder.ts';
import * as social from './sdur/social.ts';
import * as server from './server/goals.ts';
import type { Measurement } from './server/measurement.ts';
import { PAIRS, SHARES } from './server/targets.ts';
import * as transactions from './transactions/goals.ts';
import * as wire from './wire/goals.ts';
import * as zookeeperBandwidth from './zookeeper/bandwidth.ts';
import * as zookeeperLatency from './zookeeper/latency-rounds.ts';

type Samples = Readonly<Record<string, unknown>>;

const asMap = <K extends string, V>(of: unknown): ReadonlyMap<K, V> =>
  new Map(Object.entries(of as Record<K, V>) as [K, V][]);

function coreBars({ nsPerOp }: { readonly nsPerOp: unknown }): GoalResult[] {
  return core.computeGoalResults(asMap(nsPerOp));
}

function serverBars(
  samples: readonly (Measurement['plan'] & { readonly samples: unknown })[],
): GoalResult[] {
  const all = samples.map(({ samples: of, ...plan }): Measurement => ({
    plan,
    samples: asMap(of),
  }));
  const open = all.filter(({ plan }) => plan.perSecond !== undefined);
  const closed = all.filter((item) => !open.includes(item));
  return server.computeGoalResults(
    closed,
    PAIRS.map((_, at) => open.slice(at * SHARES.length, (at + 1) * SHARES.length)),
  );
}

function loadBars({
  sweeps,
  pairs,
}: Readonly<Record<'sweeps' | 'pairs', readonly drops.Sample[]>>): GoalResult[] {
  return groupBy(sweeps, ({ workload }) => workload).flatMap((sweep) => {
    const { workload } = sweep[0];
    const measured = {
      workload,
      sweep,
      pairs: pairs.filter((sample) => sample.workload === workload),
    };
    return drops.CLIENTS.flatMap((clients) =>
      drops.computeGoalResults(drops.dropOf(measured, clients)),
    );
  });
}

function bandwidthBars(samples: readonly bandwidth.Sample[]): GoalResult[] {
  const cells = groupBy(
    samples,
    ({ workload, distribution, driven }) => `${workload} ${distribution} ${driven}`,
  );
  return bandwidth.computeGoalResults(cells.map(([cell]) => bandwidth.rowOf(cell, samples)));
}

const isDivergence = ({ name }: GoalResult): boolean => name.startsWith('divergence-');

/**
 * The function that computes the bars of each result. Bars that need more than the samples are left
 * out.
 */
const AGAIN: Readonly<Record<string, (samples: never) => readonly GoalResult[]>> = {
  core: coreBars,
  cluster: cluster.computeGoalResults,
  failover: failover.computeGoalResults,
  'failover-etcd': failoverEtcd.computeGoalResults,
  react: (samples: never) => react.computeGoalResults(react.unpackSamples(samples)),
  server: serverBars,
  'redblue-overhead': (samples: Samples) =>
    redblue.computeGoalResults(new Map(Object.entries(samples).map(byName)) as never),
  transactions: ({ costs, views }: Samples) =>
    transactions.computeGoalResults({ costs: asMap(costs), views: views as never }),
  causal: (samples: never) => causal.computeGoalResults(samples),
  'sdur-mix': ({ rows }: mix.MixSamples) => mix.computeGoalResults(rows),
  'sdur-reorder': reorder.computeGoalResults,
  'sdur-delay': delay.computeGoalResults,
  'sdur-social': social.computeGoalResults,
  'partition-metadata': metadata.computeGoalResults,
  wire: (samples: Samples) =>
    wire.computeGoalResults(
      new Map(Object.entries(samples).map(([window, of]) => [Number(window), asMap(of)])),
      null,
    ),
  ads: (samples: never) => chase.computeGoalResults('ads', samples),
  'ads-postgres': (samples: never) => chase.computeGoalResults('ads', samples),
  twissandra: (samples: never) => chase.computeGoalResults('twissandra', samples),
  'cassandra-latency': latency.computeGoalResults,
  'cassandra-load': loadBars,
  'cassandra-bandwidth': bandwidthBars,
  // Without the stale views: they are counted in the history, which is not stored.
  'cassandra-divergence': (samples: readonly divergence.Sample[]) =>
    divergence.computeGoalResults(samples, []).filter(isDivergence),
  'postgres-latency': postgres.computeLatencyGoals,
  'postgres-sessions': postgres.computeSessionGoals,
  'zookeeper-bandwidth': (samples: never) => zookeeperBandwidth.computeGoalResults(samples),
  'zookeeper-latency': (
    samples: readonly { readonly rounds: readonly zookeeperLatency.Round[] }[],
  ) => zookeeperLatency.computeGoalResults(samples.map(({ rounds }) => rounds)),
};

function byName([name, of]: [string, unknown]): [string, ReadonlyMap<string, unknown>] {
  return [name, asMap(of)];
}

/**
 * Returns the bars of a results file by the present rules, or none if they need more than the
 * samples.
 */
export function reEvaluateGoals(file: string, samples: unknown): readonly GoalResult[] {
  return AGAIN[file]?.(samples as never) ?? [];
}
