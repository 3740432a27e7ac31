/** The goals of the benchmark, computed from what was measured. */
import { WAYS, type Way } from '../../demo/shared/chase/application.ts';
import type { Comparison } from '../../demo/shared/chase/report.ts';
import { atLeast, atMost, estimate, least, reported, type Bar, type Estimate } from '../harness/bars.ts';
import { LOOKS } from '../harness/until-decided.ts';
import type { Offered } from './offered.ts';
import { isBracketed, peakOf, peaksFound, sweepsOf, WORKERS_BEFORE } from './peaks.ts';
import { isColocated, isColocatedR3, isPaper, UNLOADED_WORKERS, type Measured } from './settings.ts';

const AIMS = { vsPossible: 0.9, colocated: 0.4, throughput: -0.06, wrongDeliveries: 0 } as const;

/** Each bar is that of the worst setting that it is about. The paper's placement first, the friendlier ones beside it. */
export function barsOf(name: string, measured: readonly Measured[]): Bar[] {
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
    atMost('wrong-deliveries', wrong, { floor: AIMS.wrongDeliveries }, 'requests'),
  ];
}

/** What speculation saves of the latency where nobody queues. */
export function reductionBars(
  name: string,
  measured: readonly Measured[],
): Readonly<Record<'paper' | 'elsewhere', Bar[]>> {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const [paper, beside, r3] = [isPaper, isColocated, isColocatedR3].map((isThere) => unloaded.filter(isThere)) as [
    Measured[],
    Measured[],
    Measured[],
  ];
  const worst = (settings: readonly Measured[], value: (comparison: Comparison) => number): Estimate[] =>
    settings.length === 0 ? [] : [least(settings.map(({ rounds }) => estimate(rounds.map(value), LOOKS)))];
  const aimed = (title: string, figures: readonly Estimate[], aim: number): Bar[] =>
    figures.map((figure) => atLeast(`${name}-${title}`, figure, { aim }, 'fraction'));
  return {
    paper: [
      ...aimed('reduction-vs-possible-paper', worst(paper, vsPossible), AIMS.vsPossible),
      ...worst(paper, reduction).map((figure) => reported(`${name}-reduction-paper`, figure, 'fraction')),
    ],
    // Beside the site that is asked, and of all places together, as before.
    elsewhere: [
      ...aimed('reduction-vs-possible', worst(unloaded, vsPossible), AIMS.vsPossible),
      ...aimed('reduction-colocated', worst(beside, reduction), AIMS.colocated),
      ...aimed('reduction-r3', worst(r3, reduction), AIMS.colocated),
    ],
  };
}

function reduction({ latencyReduction }: Comparison): number {
  return latencyReduction;
}

/** How much of the possible reduction was reached. */
export function vsPossible({ latencyReduction, possibleReduction }: Comparison): number {
  return latencyReduction / possibleReduction;
}

/**
 * What speculation changes in the throughput: where the one peaks and where the other does, at the same load; each at its own
 * peak; and where the sweep used to end. Of the workload that loses most: where one peak is not known to be one, nobody knows
 * which workload that is, and no gain is told.
 */
export function gainBars(measured: readonly Measured[]): Bar[] {
  const sweeps = sweepsOf(measured).filter((swept) => swept.some(({ atPeak }) => atPeak.length > 0));
  if (sweeps.length === 0) return [];
  const worst = (changesOf: (swept: readonly Measured[]) => readonly number[]): Estimate =>
    least(sweeps.map((swept) => estimate(changesOf(swept), LOOKS)));
  const gain = (title: string, figure: Estimate): Bar => atLeast(title, figure, { aim: AIMS.throughput }, 'fraction');
  const arePeaks = (...ways: readonly Way[]): boolean =>
    sweeps.every((swept) => ways.every((way) => isBracketed(swept, way)));
  return [
    ...(arePeaks(...WAYS)
      ? [
          gain(
            'gain-of-peaks',
            worst((swept) => ownPeaks(swept, 'opsPerSec')),
          ),
        ]
      : []),
    ...WAYS.filter((way) => arePeaks(way)).map((way) =>
      gain(
        `gain-at-peak-of-${way}`,
        worst((swept) => changes(peakOf(swept, way))),
      ),
    ),
    gain(
      'throughput-change',
      worst((swept) => changes(peakOf(swept, 'baseline', WORKERS_BEFORE))),
    ),
    // The same peaks, reckoned as before.
    ...(arePeaks(...WAYS)
      ? [
          reported(
            'gain-of-peaks-by-busy-time',
            worst((swept) => ownPeaks(swept, 'opsPerSecByBusyTime')),
            'fraction',
          ),
        ]
      : []),
  ];
}

/** Of how many peaks it is not known whether they are some, since the sweep ends there. */
function bracketBars(measured: readonly Measured[]): Bar[] {
  const peaks = peaksFound(measured);
  const open = peaks.filter(({ isBracketed }) => !isBracketed).length;
  return peaks.length === 0 ? [] : [atMost('peaks-not-bracketed', open, { aim: 0 }, 'peaks')];
}

function changes({ atPeak }: Measured): number[] {
  return atPeak.map(({ throughputChange }) => throughputChange);
}

/** The one at its peak against the other at its own, by round. */
function ownPeaks(swept: readonly Measured[], rate: 'opsPerSec' | 'opsPerSecByBusyTime'): number[] {
  const [plain, speculating] = WAYS.map((way) => peakOf(swept, way).atPeak) as [Comparison[], Comparison[]];
  return speculating.map(
    ({ correctable }, round) => correctable[rate] / (plain[round] as Comparison).baseline[rate] - 1,
  );
}

/** Latency at equal rates, by the share of the rate that both reach: of the workload that gains least. */
function offeredBars(measured: readonly Measured[]): Bar[] {
  const offers = measured.map(({ offered }) => offered).filter((offered) => offered.length > 0);
  const shares = [...new Set(offers.flat().map(({ share }) => share))].sort((one, other) => one - other);
  const bar = (title: string, share: number, value: (offered: Offered) => number): Bar => {
    const each = offers.map((offered) => estimate(offered.filter((one) => one.share === share).map(value)));
    return reported(`${title}-at-${100 * share}-percent`, least(each), 'fraction');
  };
  return shares.flatMap((share) => [
    bar('latency-reduction', share, ({ baseline, correctable }) => 1 - correctable.avgMs / baseline.avgMs),
    bar('p99-reduction', share, ({ baseline, correctable }) => 1 - correctable.p99Ms / baseline.p99Ms),
  ]);
}
