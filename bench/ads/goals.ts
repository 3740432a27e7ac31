/** Computes the goals of the benchmark from the measurements. */
import { WAYS, type Way } from '../../demo/shared/speculation/application.ts';
import type { Comparison } from '../../demo/shared/speculation/report.ts';
import {
  atLeast,
  limitTime,
  estimate,
  largest,
  least,
  reported,
  type GoalResult,
  type Estimate,
} from '../harness/goals.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import type { OpenLoopResult } from './open-loop.ts';
import { isBracketed, peakOf, peaksFound, sweepsOf, WORKERS_BEFORE } from './peaks.ts';
import {
  isColocated,
  isColocatedR3,
  isPaper,
  UNLOADED_WORKERS,
  type Measured,
} from './settings.ts';

const AIMS = { vsPossible: 0.9, colocated: 0.4, throughput: -0.06, wrongDeliveries: 0 } as const;

/**
 * Returns the bars. Each has the value of its worst setting. The bars of the paper's placement come
 * first, then those of friendlier placements.
 */
export function computeGoalResults(name: string, measured: readonly Measured[]): GoalResult[] {
  const { paper, elsewhere } = reductionBars(name, measured);
  const wrong = measured
    .flatMap(({ rounds, atPeak, offered }) => [...rounds, ...atPeak, ...offered])
    .reduce((sum, { wrongDeliveries }) => sum + wrongDeliveries, 0);
  return [
    ...paper,
    ...gainBars(measured),
    ...bracketBars(measured),
    ...offeredBars(measured),
    ...elsewhere,
    limitTime('wrong-deliveries', wrong, { floor: AIMS.wrongDeliveries }, 'requests'),
  ];
}

/** Returns the share of the latency that speculation saves while no request queues. */
export function reductionBars(
  name: string,
  measured: readonly Measured[],
): Readonly<Record<'paper' | 'elsewhere', GoalResult[]>> {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const [paper, beside, r3] = [isPaper, isColocated, isColocatedR3].map((isThere) =>
    unloaded.filter(isThere),
  ) as [Measured[], Measured[], Measured[]];
  const worst = (
    settings: readonly Measured[],
    value: (comparison: Comparison) => number,
  ): Estimate[] =>
    settings.length === 0
      ? []
      : [least(settings.map(({ rounds }) => estimate(rounds.map(value), LOOKS)))];
  const aimed = (title: string, figures: readonly Estimate[], aim: number): GoalResult[] =>
    figures.map((figure) => atLeast(`${name}-${title}`, figure, { aim }, 'fraction'));
  // The largest share of diverged views. If it is 0, no speculation was undone.
  const diverged = (title: string, settings: readonly Measured[]): GoalResult[] =>
    settings.length === 0
      ? []
      : [reported(`${name}-${title}`, largest(settings.map(divergenceOf)), 'fraction')];
  return {
    paper: [
      ...aimed('reduction-vs-possible-paper', worst(paper, vsPossible), AIMS.vsPossible),
      ...diverged('divergence-unloaded-paper', paper),
      ...worst(paper, reduction).map((figure) =>
        reported(`${name}-reduction-paper`, figure, 'fraction'),
      ),
    ],
    // Clients beside the site that they ask, and all places together, as in earlier results.
    elsewhere: [
      ...aimed('reduction-vs-possible', worst(unloaded, vsPossible), AIMS.vsPossible),
      ...diverged('divergence-unloaded', unloaded),
      ...aimed('reduction-colocated', worst(beside, reduction), AIMS.colocated),
      ...aimed('reduction-r3', worst(r3, reduction), AIMS.colocated),
    ],
  };
}

function divergenceOf({ rounds }: Measured): Estimate {
  return estimate(
    rounds.map(({ divergence }) => divergence),
    LOOKS,
  );
}

function reduction({ latencyReduction }: Comparison): number {
  return latencyReduction;
}

/** How much of the possible reduction was reached. */
export function vsPossible({ latencyReduction, possibleReduction }: Comparison): number {
  return latencyReduction / possibleReduction;
}

/**
 * Returns how speculation changes the throughput at known peaks: each way at its own peak, and both
 * at the same load where one of them peaks. The headline is the workload that loses most. While the
 * peak of some workload is unknown, a small loss proves nothing, because that workload may lose
 * more.
 */
export function gainBars(measured: readonly Measured[]): GoalResult[] {
  const swept = comparedSweeps(measured);
  return [
    ...knownGainBars(measured).map((bar) => (isOfAll(bar, swept) ? bar : atBest(bar))),
    ...WAYS.flatMap((way) =>
      known(swept, way).map((item) =>
        reported(
          `${gainTitle(way)}-${workloadOf(item)}`,
          estimate(changes(peakOf(item, way)), LOOKS),
          'fraction',
        ),
      ),
    ),
    ...worstOf(swept, (item) => changes(peakOf(item, 'baseline', WORKERS_BEFORE))).map((figure) =>
      reported(`gain-up-to-${WORKERS_BEFORE}-workers`, figure, 'fraction'),
    ),
    // The same peaks, by the older definition.
    ...(known(swept, ...WAYS).length < swept.length ? [] : worstOf(swept, busyPeaks)).map(
      (figure) => reported('gain-of-peaks-by-busy-time', figure, 'fraction'),
    ),
  ];
}

/**
 * Returns the bars of `gainBars` that have a goal, for workloads with known peaks. More rounds may
 * decide these.
 */
export function knownGainBars(measured: readonly Measured[]): GoalResult[] {
  const swept = comparedSweeps(measured);
  const gain = (title: string, figures: readonly Estimate[]): GoalResult[] =>
    figures.map((figure) => atLeast(title, figure, { aim: AIMS.throughput }, 'fraction'));
  return [
    ...gain(
      OWN_PEAKS,
      worstOf(known(swept, ...WAYS), (item) => ownPeaks(item, 'opsPerSec')),
    ),
    ...WAYS.flatMap((way) =>
      gain(
        gainTitle(way),
        worstOf(known(swept, way), (item) => changes(peakOf(item, way))),
      ),
    ),
  ];
}

const OWN_PEAKS = 'gain-of-peaks';

function gainTitle(way: Way): string {
  return `gain-at-peak-of-${way}`;
}

function comparedSweeps(measured: readonly Measured[]): readonly Sweep[] {
  return sweepsOf(measured).filter((swept) => swept.some(({ atPeak }) => atPeak.length > 0));
}

type Sweep = readonly Measured[];

function workloadOf([first]: Sweep): string {
  return first?.workload ?? '';
}

/** Returns the sweeps with known peaks. */
function known(swept: readonly Sweep[], ...ways: readonly Way[]): readonly Sweep[] {
  return swept.filter((item) => ways.every((way) => isBracketed(item, way)));
}

function worstOf(
  swept: readonly Sweep[],
  changesOf: (swept: Sweep) => readonly number[],
): Estimate[] {
  return swept.length === 0 ? [] : [least(swept.map((item) => estimate(changesOf(item), LOOKS)))];
}

function isOfAll({ name }: GoalResult, swept: readonly Sweep[]): boolean {
  const ways = name === OWN_PEAKS ? WAYS : WAYS.filter((way) => gainTitle(way) === name);
  return known(swept, ...ways).length === swept.length;
}

/** Changes a bar that other, unknown values may exceed: it can miss its goal, but not reach it. */
function atBest(bar: GoalResult): GoalResult {
  return bar.verdict === 'missed' ? bar : { ...bar, verdict: 'undecided' };
}

/**
 * Returns how many peaks are unknown, because the throughput still rises at the end of the sweep.
 */
function bracketBars(measured: readonly Measured[]): GoalResult[] {
  const peaks = peaksFound(measured);
  const open = peaks.filter(({ isBracketed }) => !isBracketed).length;
  return peaks.length === 0 ? [] : [limitTime('peaks-not-bracketed', open, { aim: 0 }, 'peaks')];
}

function changes({ atPeak }: Measured): number[] {
  return atPeak.map(({ throughputChange }) => throughputChange);
}

function busyPeaks(swept: Sweep): number[] {
  return ownPeaks(swept, 'opsPerSecByBusyTime');
}

/** Compares each way at its own peak, by round. */
function ownPeaks(swept: readonly Measured[], rate: 'opsPerSec' | 'opsPerSecByBusyTime'): number[] {
  const [plain, speculating] = WAYS.map((way) => peakOf(swept, way).atPeak) as [
    Comparison[],
    Comparison[],
  ];
  return speculating.map(
    ({ correctable }, round) => correctable[rate] / (plain[round] as Comparison).baseline[rate] - 1,
  );
}

/**
 * Returns the latency at equal rates, for each share of the rate that both reach. Each bar has the
 * workload that gains least.
 */
function offeredBars(measured: readonly Measured[]): GoalResult[] {
  const offers = measured.map(({ offered }) => offered).filter((offered) => offered.length > 0);
  const shares = [...new Set(offers.flat().map(({ share }) => share))].sort(
    (item, other) => item - other,
  );
  const bar = (
    title: string,
    share: number,
    value: (offered: OpenLoopResult) => number,
  ): GoalResult => {
    const item = offers.map((offered) =>
      estimate(offered.filter((element) => element.share === share).map(value)),
    );
    return reported(`${title}-at-${100 * share}-percent`, least(item), 'fraction');
  };
  return shares.flatMap((share) => [
    bar(
      'latency-reduction',
      share,
      ({ baseline, correctable }) => 1 - correctable.avgMs / baseline.avgMs,
    ),
    bar(
      'p99-reduction',
      share,
      ({ baseline, correctable }) => 1 - correctable.p99Ms / baseline.p99Ms,
    ),
  ]);
}
