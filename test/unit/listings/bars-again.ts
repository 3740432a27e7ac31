/** Bars of today from the samples of a results file: what the benchmark would say of the same rounds. */
import * as chase from '../../../bench/ads/bars.ts';
import * as bandwidth from '../../../bench/cassandra/bandwidth-cells.ts';
import * as divergence from '../../../bench/cassandra/divergence.ts';
import * as latency from '../../../bench/cassandra/latency.ts';
import * as drops from '../../../bench/cassandra/load-drops.ts';
import * as core from '../../../bench/core/bench.ts';
import { atLeast, atMost, type Bar } from '../../../bench/harness/bars.ts';
import { grouped } from '../../../bench/harness/grouped.ts';
import { LOOKS } from '../../../bench/harness/until-decided.ts';
import * as redblue from '../../../bench/redblue-overhead/bars.ts';
import * as server from '../../../bench/server/bars.ts';
import type { Measurement } from '../../../bench/server/measurement.ts';
import { PAIRS, SHARES } from '../../../bench/server/targets.ts';
import * as wire from '../../../bench/wire/bars.ts';
import * as zookeeperBandwidth from '../../../bench/zookeeper/bandwidth.ts';
import * as zookeeperLatency from '../../../bench/zookeeper/latency-rounds.ts';

/** What a results file has of a bar. */
export type Published = Omit<Bar, 'verdict'> & { readonly verdict?: Bar['verdict'] };

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

/** How often the others look; once unless it stands here. */
const LOOKS_OF: Readonly<Record<string, number>> = { 'redblue-latency': LOOKS };

function byName([name, of]: [string, unknown]): [string, ReadonlyMap<string, unknown>] {
  return [name, asMap(of)];
}

/**
 * The bars that its samples do not give today, by name: another figure, another interval, another verdict, or none of it. Where
 * samples are too little to make the figure of, its interval has to give the verdict, and as many of them as that takes.
 */
export function differingBars(file: string, samples: unknown, bars: readonly Published[]): string[] {
  const again = AGAIN[file]?.(samples as never) ?? [];
  const isAsToday = (bar: Published): boolean => {
    const today = again.find(({ name }) => name === bar.name);
    return today === undefined ? isJudgedAsToday(bar, LOOKS_OF[file]) : isSame(bar, today);
  };
  const untold = again.filter(({ name }) => !bars.some((bar) => bar.name === name));
  return [...bars.filter((bar) => !isAsToday(bar)), ...untold].map(({ name }) => name);
}

function isSame(bar: Published, today: Bar): boolean {
  const of = ({ value, low, high, samples, verdict, floor, aim }: Published): string =>
    JSON.stringify([value, low, high, samples, verdict, floor, aim]);
  return of(bar) === of(today);
}

function isJudgedAsToday({ name, floor, aim, verdict, ...figure }: Published, looks = 1): boolean {
  const goals = { ...(floor !== null && { floor }), ...(aim !== null && { aim }) };
  return [atMost, atLeast].some((judge) => judge(name, { ...figure, looks }, goals).verdict === (verdict ?? null));
}
