/** Where a workload peaks: with speculation, without, and as it was looked for before. */
import { WAYS, type Way } from '../../demo/shared/chase/application.ts';
import type { Workload } from '../../demo/shared/chase/workload.ts';
import { median } from '../harness/statistics.ts';
import { isSwept, type Measured } from './settings.ts';

/** The sweep used to end here, where the baseline often does more still. */
export const WORKERS_BEFORE = 96;

/** Of the settings of one workload the load where most is done, by the median of the rounds. */
export function peakOf<Each extends Measured>(swept: readonly Each[], way: Way, workersMax = Infinity): Each {
  const [first, ...others] = swept.filter(({ workers }) => workers <= workersMax);
  if (first === undefined) throw new RangeError('no load was measured');
  return others.reduce((most, each) => (opsPerSec(each, way) > opsPerSec(most, way) ? each : most), first);
}

/** A peak, and whether it is known to be one: under the loads on both sides of it less was done. */
export interface Peak {
  readonly workload: Workload;
  readonly way: Way;
  /** Requests under way at a time. */
  readonly workers: number;
  readonly opsPerSec: number;
  /** False where the peak is at an end of the sweep: there may be more beyond it. */
  readonly isBracketed: boolean;
}

/** The peak of each workload, with speculation and without. */
export function peaksFound(measured: readonly Measured[]): Peak[] {
  return sweepsOf(measured).flatMap((swept) => {
    const loads = swept.map(({ workers }) => workers);
    return WAYS.map((way): Peak => {
      const peak = peakOf(swept, way);
      const { workload, workers } = peak;
      const isBracketed = loads.some((load) => load < workers) && loads.some((load) => load > workers);
      return { workload, way, workers, opsPerSec: opsPerSec(peak, way), isBracketed };
    });
  });
}

/** The sweeps of the workloads, one after the other. */
export function sweepsOf<Each extends Measured>(measured: readonly Each[]): Each[][] {
  const swept = measured.filter((each) => isSwept(each) && each.rounds.length > 0);
  return [...new Set(swept.map(({ workload }) => workload))].map((workload) =>
    swept.filter((each) => each.workload === workload),
  );
}

/** The settings to compare longer: of each workload either's peak, and the one that counted before. */
export function peaksOf<Each extends Measured>(measured: readonly Each[]): Each[] {
  const peaks = sweepsOf(measured).flatMap((swept) => [
    ...WAYS.map((way) => peakOf(swept, way)),
    peakOf(swept, 'baseline', WORKERS_BEFORE),
  ]);
  return [...new Set(peaks)];
}

function opsPerSec({ rounds }: Measured, way: Way): number {
  return median(rounds.map((round) => round[way].opsPerSec));
}
