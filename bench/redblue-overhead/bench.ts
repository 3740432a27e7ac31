/**
 * Measures the cost of replication and certification if there is no other site (RedBlue, OSDI 2012,
 * Table 5). One site is compared with the same gateway, service and log without replication and
 * certification, with the same batching and the same clock. It is also compared with the simple
 * server of `bench/load/baseline-server.ts`. `--beside DIR` measures a site of another checkout in
 * the same rounds.
 */
import { checkCheckout, describeCheckout } from '../harness/checkouts.ts';
import { isUndecided } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import type { Target } from '../load/messages.ts';
import { serverFlags } from '../load/processes.ts';
import { rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, STARTS, type Extent } from '../load/restart-rounds.ts';
import { computeGoalResults, NAMES_OF, WORKLOADS, type Name, type Workload } from './goals.ts';
import { TARGETS } from './targets.ts';

const WINDOW = 64;
/**
 * With only three warm-up runs, the mix still becomes faster from run to run: few operations are
 * red, so their code is compiled late.
 */
const FULL: Extent = { ...STARTS, rounds: 2, warmUps: 8 };

export const redblueOverhead: Bench = {
  name: 'redblue-overhead',
  about:
    "one site with replication and certification on, beside the same parts without, and beside a day's work",
  takes: ['beside'],
  run,
};

async function run({ quick, beside, progress }: Settings): Promise<Outcome> {
  if (beside !== undefined) checkCheckout(beside);
  const others: readonly Name[] = beside === undefined ? [] : ['other site'];
  const targets: Partial<Record<Name, Target>> = {
    ...TARGETS,
    ...(beside !== undefined && { 'other site': { ...TARGETS['one site'], checkout: beside } }),
  };
  const extent = quick ? QUICK : FULL;
  const durationMs = quick ? 300 : 400;
  const plans = WORKLOADS.map((workload) => ({
    workload,
    window: WINDOW,
    durationMs,
    names: [...NAMES_OF[workload], ...others],
  }));
  const warmUp = { workload: 'mix', window: WINDOW, durationMs } as const;
  const byWorkload = (measured: readonly Samples<Name>[]): ReadonlyMap<Workload, Samples<Name>> =>
    new Map(WORKLOADS.map((workload, index) => [workload, measured[index] as Samples<Name>]));
  const isDecided = (soFar: readonly Samples<Name>[]): boolean =>
    !computeGoalResults(byWorkload(soFar)).some(isUndecided);
  const samples = byWorkload(
    await measureStarts(targets as Record<Name, Target>, plans, {
      ...extent,
      warmUp,
      isDecided,
      progress,
    }),
  );
  return {
    rounds: samples.get('mix')?.get('one site')?.length ?? 0,
    rows: [...samples].flatMap(([workload, of]) =>
      [...of].map(([contender, list]) => ({ workload, contender, ...rowOf(list) })),
    ),
    bars: computeGoalResults(samples),
    samples: Object.fromEntries(
      [...samples].map(([workload, of]) => [workload, Object.fromEntries(of)]),
    ),
    versions: { ...versionsOf('ws', 'msgpackr'), ...describeCheckout(beside) },
    flags: serverFlags(),
  };
}
