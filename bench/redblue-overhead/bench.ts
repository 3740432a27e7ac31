/**
 * Measures the cost of replication and certification if there is no other site (RedBlue, OSDI 2012, Table 5). One site
 * is compared with the same gateway, service and log without replication and certification, with the same batching and
 * the same clock. It is also compared with the simple server of `bench/load/baseline-server.ts`.
 */
import { isUndecided } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { serverFlags } from '../load/processes.ts';
import { rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, STARTS, type Extent } from '../load/restart-rounds.ts';
import { computeGoalResults, NAMES_OF, WORKLOADS, type Name, type Workload } from './goals.ts';
import { TARGETS } from './targets.ts';

const WINDOW = 64;
/**
 * With only three warm-up runs, the mix still becomes faster from run to run: few operations are red, so their code is
 * compiled late.
 */
const FULL: Extent = { ...STARTS, rounds: 2, warmUps: 8 };

export const redblueOverhead: Bench = {
  name: 'redblue-overhead',
  about: "one site with replication and certification on, beside the same parts without, and beside a day's work",
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const extent = quick ? QUICK : FULL;
  const durationMs = quick ? 300 : 400;
  const plans = WORKLOADS.map((workload) => ({
    workload,
    window: WINDOW,
    durationMs,
    names: NAMES_OF[workload],
  }));
  const warmUp = { workload: 'mix', window: WINDOW, durationMs } as const;
  const byWorkload = (measured: readonly Samples<Name>[]): ReadonlyMap<Workload, Samples<Name>> =>
    new Map(WORKLOADS.map((workload, index) => [workload, measured[index] as Samples<Name>]));
  const isDecided = (soFar: readonly Samples<Name>[]): boolean =>
    !computeGoalResults(byWorkload(soFar)).some(isUndecided);
  const samples = byWorkload(await measureStarts(TARGETS, plans, { ...extent, warmUp, isDecided, progress }));
  return {
    rounds: samples.get('mix')?.get('one site')?.length ?? 0,
    rows: [...samples].flatMap(([workload, of]) =>
      [...of].map(([contender, list]) => ({ workload, contender, ...rowOf(list) })),
    ),
    bars: computeGoalResults(samples),
    samples: Object.fromEntries([...samples].map(([workload, of]) => [workload, Object.fromEntries(of)])),
    versions: versionsOf('ws', 'msgpackr'),
    flags: serverFlags(),
  };
}
