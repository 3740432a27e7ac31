/** The goals of the benchmark, computed from what was measured. */
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
import { isColocated, isColocatedR3, isPaper, UNLOADED_WORKERS, type Measured } from './settings.ts';

const AIMS = { vsPossible: 0.9, colocated: 0.4, throughput: -0.06, wrongDeliveries: 0 } as const;

/** Each bar is that of the worst setting that it is about. The paper's placement first, the friendlier ones beside it. */
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

/** What speculation saves of the latency when no request queues. */
export function reductionBars(
  name: string,
  measured: readonly Measured[],
): Readonly<Record<'paper' | 'elsewhere', GoalResult[]>> {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const [paper, beside, r3] = [isPaper, isColocated, isColocatedR3].map((isThere) => unloaded.filter(isThere)) as [
    Measured[],
    Measured[],
    Measured[],
  ];
  const worst = (settings: readonly Measured[], value: (comparison: Comparison) => number): Estimate[] =>
    settings.length === 0 ? [] : [least(settings.map(({ rounds }) => estimate(rounds.map(value), LOOKS)))];
  const aimed = (title: string, figures: readonly Estimate[], aim: number): GoalResult[] =>
    figures.map((figure) => atLeast(`${name}-${title}`, figure, { aim }, 'fraction'));
  // Where it is the most: where no view was another than the final one, no speculation was in vain.
  const diverged = (title: string, settings: readonly Measured[]): GoalResult[] =>
    settings.length === 0 ? [] : [reported(`${name}-${title}`, largest(settings.map(divergenceOf)), 'fraction')];
  return {
    paper: [
      ...aimed('reduction-vs-possible-paper', worst(paper, vsPossible), AIMS.vsPossible),
      ...diverged('divergence-unloaded-paper', paper),
      ...worst(paper, reduction).map((figure) => reported(`${name}-reduction-paper`, figure, 'fraction')),
    ],
    // Beside the site that is asked, and of all places together, as before.
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
 * What speculation changes in the throughput, at peaks that are known to be some: each at its own; where the one peaks
 * and where the other does, at the same load, of each workload too. Of the workload that loses most: where a peak of
 * another is not known, there may be one that loses more, and then that it is little says nothing.
 */
export function gainBars(measured: readonly Measured[]): GoalResult[] {
  const swept = comparedSweeps(measured);
  return [
    ...knownGainBars(measured).map((bar) => (isOfAll(bar, swept) ? bar : atBest(bar))),
    ...WAYS.flatMap((way) =>
      known(swept, way).map((item) =>
        reported(`${gainTitle(way)}-${workloadOf(item)}`, estimate(changes(peakOf(item, way)), LOOKS), 'fraction'),
      ),
    ),
    ...worstOf(swept, (item) => changes(peakOf(item, 'baseline', WORKERS_BEFORE))).map((figure) =>
      reported(`gain-up-to-${WORKERS_BEFORE}-workers`, figure, 'fraction'),
    ),
    // The same peaks, reckoned as before.
    ...(known(swept, ...WAYS).length < swept.length ? [] : worstOf(swept, busyPeaks)).map((figure) =>
      reported('gain-of-peaks-by-busy-time', figure, 'fraction'),
    ),
  ];
}

/** What is held to a goal of it, of the workloads whose peaks are known: what more rounds may decide. */
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

/** The sweeps whose peaks are known to be some. */
function known(swept: readonly Sweep[], ...ways: readonly Way[]): readonly Sweep[] {
  return swept.filter((item) => ways.every((way) => isBracketed(item, way)));
}

function worstOf(swept: readonly Sweep[], changesOf: (swept: Sweep) => readonly number[]): Estimate[] {
  return swept.length === 0 ? [] : [least(swept.map((item) => estimate(changesOf(item), LOOKS)))];
}

function isOfAll({ name }: GoalResult, swept: readonly Sweep[]): boolean {
  const ways = name === OWN_PEAKS ? WAYS : WAYS.filter((way) => gainTitle(way) === name);
  return known(swept, ...ways).length === swept.length;
}

/** Among others that may be worse: it can miss its goal, but not reach it. */
function atBest(bar: GoalResult): GoalResult {
  return bar.verdict === 'missed' ? bar : { ...bar, verdict: 'undecided' };
}

/** Of how many peaks it is not known whether they are some, since the sweep ends there. */
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

/** The one at its peak against the other at its own, by round. */
function ownPeaks(swept: readonly Measured[], rate: 'opsPerSec' | 'opsPerSecByBusyTime'): number[] {
  const [plain, speculating] = WAYS.map((way) => peakOf(swept, way).atPeak) as [Comparison[], Comparison[]];
  return speculating.map(
    ({ correctable }, round) => correctable[rate] / (plain[round] as Comparison).baseline[rate] - 1,
  );
}

/** Latency at equal rates, by the share of the rate that both reach: of the workload that gains least. */
function offeredBars(measured: readonly Measured[]): GoalResult[] {
  const offers = measured.map(({ offered }) => offered).filter((offered) => offered.length > 0);
  const shares = [...new Set(offers.flat().map(({ share }) => share))].sort((item, other) => item - other);
  const bar = (title: string, share: number, value: (offered: OpenLoopResult) => number): GoalResult => {
    const item = offers.map((offered) => estimate(offered.filter((element) => element.share === share).map(value)));
    return reported(`${title}-at-${100 * share}-percent`, least(item), 'fraction');
  };
  return shares.flatMap((share) => [
    bar('latency-reduction', share, ({ baseline, correctable }) => 1 - correctable.avgMs / baseline.avgMs),
    bar('p99-reduction', share, ({ baseline, correctable }) => 1 - correctable.p99Ms / baseline.p99Ms),
  ]);
}
