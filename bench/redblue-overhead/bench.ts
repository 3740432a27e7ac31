/**
 * What replication and certification cost where there is nothing to replicate to (RedBlue, OSDI 2012, Table 5): one site,
 * beside the same gateway, service and log without them, with the same batching per turn and the same clock; and beside
 * what a good engineer would write in a day, for whom one place, one view and no retries will do.
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
/** With three, the mix is still gaining from run to run: the code of red operations is compiled late, as few are red. */
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
