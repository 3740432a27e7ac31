/** Bars of today from the samples of a results file: what the benchmark would say of the same rounds. */
import * as chase from './ads/bars.ts';
import * as bandwidth from './cassandra/bandwidth-cells.ts';
import * as divergence from './cassandra/divergence.ts';
import * as latency from './cassandra/latency.ts';
import * as drops from './cassandra/load-drops.ts';
import * as core from './core/bench.ts';
import type { Bar } from './harness/bars.ts';
import { grouped } from './harness/grouped.ts';
import * as redblue from './redblue-overhead/bars.ts';
import * as server from './server/bars.ts';
import type { Measurement } from './server/measurement.ts';
import { PAIRS, SHARES } from './server/targets.ts';
import * as wire from './wire/bars.ts';
import * as zookeeperBandwidth from './zookeeper/bandwidth.ts';
import * as zookeeperLatency from './zookeeper/latency-rounds.ts';

type Samples = Readonly<Record<string, unknown>>;

const asMap = <K extends string, V>(of: unknown): ReadonlyMap<K, V> =>
  new Map(Object.entries(of as Record<K, V>) as [K, V][]);

function coreBars({ nsPerOp }: { readonly nsPerOp: unknown }): Bar[] {
  return core.barsOf(asMap(nsPerOp));
}

function serverBars(samples: readonly (Measurement['plan'] & { readonly samples: unknown })[]): Bar[] {
  const all = samples.map(({ samples: of, ...plan }): Measurement => ({ plan, samples: asMap(of) }));
  const open = all.filter(({ plan }) => plan.perSecond !== undefined);
  const closed = all.filter((one) => !open.includes(one));
  return server.barsOf(
    closed,
    PAIRS.map((_, at) => open.slice(at * SHARES.length, (at + 1) * SHARES.length)),
  );
}

function loadBars({ sweeps, pairs }: Readonly<Record<'sweeps' | 'pairs', readonly drops.Sample[]>>): Bar[] {
  return grouped(sweeps, ({ workload }) => workload).flatMap((sweep) => {
    const { workload } = sweep[0];
    const measured = { workload, sweep, pairs: pairs.filter((sample) => sample.workload === workload) };
    return drops.CLIENTS.flatMap((clients) => drops.barsOf(drops.dropOf(measured, clients)));
  });
}

function bandwidthBars(samples: readonly bandwidth.Sample[]): Bar[] {
  const cells = grouped(samples, ({ workload, distribution, driven }) => `${workload} ${distribution} ${driven}`);
  return bandwidth.barsOf(cells.map(([cell]) => bandwidth.rowOf(cell, samples)));
}

const isDivergence = ({ name }: Bar): boolean => name.startsWith('divergence-');

/** Without those that are not made of samples alone. */
const AGAIN: Readonly<Record<string, (samples: never) => readonly Bar[]>> = {
  core: coreBars,
  server: serverBars,
  'redblue-overhead': (samples: Samples) => redblue.barsOf(new Map(Object.entries(samples).map(byName)) as never),
  wire: (samples: Samples) =>
    wire.barsOf(new Map(Object.entries(samples).map(([window, of]) => [Number(window), asMap(of)])), null),
  ads: (samples: never) => chase.barsOf('ads', samples),
  twissandra: (samples: never) => chase.barsOf('twissandra', samples),
  'cassandra-latency': latency.barsOf,
  'cassandra-load': loadBars,
  'cassandra-bandwidth': bandwidthBars,
  // What is stale is counted in the history, which is not kept.
  'cassandra-divergence': (samples: readonly divergence.Sample[]) =>
    divergence.barsOf(samples, []).filter(isDivergence),
  'zookeeper-bandwidth': (samples: never) => zookeeperBandwidth.barsOf(samples),
  'zookeeper-latency': (samples: readonly { readonly rounds: readonly zookeeperLatency.Round[] }[]) =>
    zookeeperLatency.barsOf(samples.map(({ rounds }) => rounds)),
};

function byName([name, of]: [string, unknown]): [string, ReadonlyMap<string, unknown>] {
  return [name, asMap(of)];
}

/** The bars that today's rules make of the samples of a results file; none where they are made of more than these. */
export function barsAgain(file: string, samples: unknown): readonly Bar[] {
  return AGAIN[file]?.(samples as never) ?? [];
}
