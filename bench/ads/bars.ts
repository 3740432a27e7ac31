/** The goals of the benchmark, computed from what was measured. */
import type { Comparison } from '../../demo/shared/chase/report.ts';
import { atLeast, atMost, estimate, least, type Bar, type Estimate } from '../harness/bars.ts';
import { isColocated, isColocatedR3, UNLOADED_WORKERS, type Measured } from './settings.ts';

const AIMS = { vsPossible: 0.9, colocated: 0.4, throughput: -0.06, wrongDeliveries: 0 } as const;

/** Each bar is that of the worst setting that it is about. */
export function barsOf(name: string, measured: readonly Measured[]): Bar[] {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const r3 = unloaded.filter(isColocatedR3);
  const worst = (settings: readonly Measured[], value: (comparison: Comparison) => number): Estimate =>
    least(settings.map(({ rounds }) => estimate(rounds.map(value))));
  const all = measured.flatMap(({ rounds, atPeak }) => [...rounds, ...atPeak]);
  const wrong = all.reduce((sum, { wrongDeliveries }) => sum + wrongDeliveries, 0);
  return [
    atLeast(`${name}-reduction-vs-possible`, worst(unloaded, vsPossible), { aim: AIMS.vsPossible }, 'fraction'),
    atLeast(
      `${name}-reduction-colocated`,
      worst(unloaded.filter(isColocated), reduction),
      { aim: AIMS.colocated },
      'fraction',
    ),
    ...(r3.length === 0
      ? []
      : [atLeast(`${name}-reduction-r3`, worst(r3, reduction), { aim: AIMS.colocated }, 'fraction')]),
    ...peakChange(measured).map((change) => atLeast('throughput-change', change, { aim: AIMS.throughput }, 'fraction')),
    atMost('wrong-deliveries', wrong, { floor: AIMS.wrongDeliveries }, 'requests'),
  ];
}

function reduction({ latencyReduction }: Comparison): number {
  return latencyReduction;
}

/** How much of the possible reduction was reached. */
export function vsPossible({ latencyReduction, possibleReduction }: Comparison): number {
  return latencyReduction / possibleReduction;
}

/** What speculation changes in the throughput where a workload peaks: of the workload that loses most. */
function peakChange(measured: readonly Measured[]): Estimate[] {
  const peaks = measured.filter(({ atPeak }) => atPeak.length > 0);
  return peaks.length === 0 ? [] : [least(peaks.map(({ atPeak }) => estimate(atPeak.map(throughputChange))))];
}

function throughputChange(comparison: Comparison): number {
  return comparison.throughputChange;
}
