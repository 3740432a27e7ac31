/** The goals of the benchmark, computed from what was measured. */
import type { Comparison } from '../../demo/shared/chase/report.ts';
import { atLeast, atMost, type Bar } from '../harness/bench.ts';
import { median, rounded } from '../harness/statistics.ts';
import { isColocated, isColocatedR3, isSwept, UNLOADED_WORKERS, type Measured } from './settings.ts';

const AIMS = { vsPossible: 0.9, colocated: 0.4, throughput: -0.06, wrongDeliveries: 0 } as const;

/** Each bar is that of the worst setting that it is about. */
export function barsOf(name: string, measured: readonly Measured[]): Bar[] {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const r3 = unloaded.filter(isColocatedR3);
  const worst = (settings: readonly Measured[], value: (comparison: Comparison) => number): number =>
    rounded(Math.min(...settings.map(({ rounds }) => median(rounds.map(value)))));
  const wrong = measured.flatMap(({ rounds }) => rounds).reduce((sum, round) => sum + round.wrongDeliveries, 0);
  return [
    atLeast(`${name}-reduction-vs-possible`, worst(unloaded, vsPossible), AIMS.vsPossible, 'fraction'),
    atLeast(`${name}-reduction-colocated`, worst(unloaded.filter(isColocated), reduction), AIMS.colocated, 'fraction'),
    ...(r3.length === 0 ? [] : [atLeast(`${name}-reduction-r3`, worst(r3, reduction), AIMS.colocated, 'fraction')]),
    atLeast('throughput-change', rounded(peakChange(measured)), AIMS.throughput, 'fraction'),
    atMost('wrong-deliveries', wrong, AIMS.wrongDeliveries, 'requests'),
  ];
}

function reduction({ latencyReduction }: Comparison): number {
  return latencyReduction;
}

/** How much of the possible reduction was reached. */
export function vsPossible({ latencyReduction, possibleReduction }: Comparison): number {
  return latencyReduction / possibleReduction;
}

/** The change of the peak throughput over all loads: the median of the rounds, of the workload that loses most. */
function peakChange(measured: readonly Measured[]): number {
  const sweeps = new Map<string, Measured[]>();
  for (const setting of measured.filter(isSwept)) {
    sweeps.set(setting.workload, [...(sweeps.get(setting.workload) ?? []), setting]);
  }
  const changes = [...sweeps.values()].map((sweep) => {
    const rounds = (sweep[0] as Measured).rounds.keys();
    const peak = (way: 'baseline' | 'correctable', round: number): number =>
      Math.max(...sweep.map((setting) => (setting.rounds[round] as Comparison)[way].opsPerSec));
    return median([...rounds].map((round) => peak('correctable', round) / peak('baseline', round) - 1));
  });
  return Math.min(...changes);
}
