/** Finds the load at which the throughput of a workload peaks, with speculation and without it. */
import { WAYS, type Way } from '../../demo/shared/speculation/application.ts';
import type { Workload } from '../../demo/shared/speculation/workload.ts';
import { median } from '../harness/statistics.ts';
import { isSwept, type Measured } from './settings.ts';

/** The load at which earlier sweeps ended. The baseline often has a higher throughput beyond it. */
export const WORKERS_BEFORE = 96;

/**
 * Returns the setting with the highest throughput among those of one workload, by the median of the
 * rounds.
 */
export function peakOf<Each extends Measured>(
  swept: readonly Each[],
  way: Way,
  maxWorkers = Infinity,
): Each {
  const [first, ...others] = swept.filter(({ workers }) => workers <= maxWorkers);
  if (first === undefined) throw new RangeError('no load was measured');
  return others.reduce(
    (most, item) => (opsPerSec(item, way) > opsPerSec(most, way) ? item : most),
    first,
  );
}

/** A peak, and whether it is proven: the throughput is lower at the loads on both sides of it. */
export interface Peak {
  readonly workload: Workload;
  readonly way: Way;
  /** Requests in flight at a time. */
  readonly workers: number;
  readonly opsPerSec: number;
  /** False if the peak is at an end of the sweep, because the throughput may rise beyond it. */
  readonly isBracketed: boolean;
}

/** The peak of each workload, with speculation and without. */
export function peaksFound(measured: readonly Measured[]): Peak[] {
  return sweepsOf(measured).flatMap((swept) => {
    return WAYS.map((way): Peak => {
      const peak = peakOf(swept, way);
      const { workload, workers } = peak;
      return {
        workload,
        way,
        workers,
        opsPerSec: opsPerSec(peak, way),
        isBracketed: isBracketed(swept, way),
      };
    });
  });
}

/**
 * Returns whether the peak of a workload is proven: the throughput is lower with fewer requests at
 * a time, and with more.
 */
export function isBracketed(swept: readonly Measured[], way: Way): boolean {
  const peak = peakOf(swept, way);
  const less = swept.filter((item) => opsPerSec(item, way) < opsPerSec(peak, way));
  return (
    less.some(({ workers }) => workers < peak.workers) &&
    less.some(({ workers }) => workers > peak.workers)
  );
}

/** The sweeps of the workloads, one after the other. */
export function sweepsOf<Each extends Measured>(measured: readonly Each[]): Each[][] {
  const swept = measured.filter((item) => isSwept(item) && item.rounds.length > 0);
  return [...new Set(swept.map(({ workload }) => workload))].map((workload) =>
    swept.filter((item) => item.workload === workload),
  );
}

/** Returns a message about each unproven peak, for which no gain is reported. */
export function formatOpenPeaks(measured: readonly Measured[]): string[] {
  const open = peaksFound(measured).filter((peak) => !peak.isBracketed);
  return open.map(
    ({ workload, way, workers }) =>
      `workload ${workload}, ${way}: most was done at ${workers} at a time, with no less on one side of it: ` +
      'that is no peak, so no gain is reported',
  );
}

/** Returns whether the setting is a proven peak, with speculation or without it. */
export function isKnownPeak(setting: Measured, measured: readonly Measured[]): boolean {
  const swept = sweepsOf(measured).find((item) => item.includes(setting)) ?? [];
  return (
    swept.length > 0 &&
    WAYS.some((way) => peakOf(swept, way) === setting && isBracketed(swept, way))
  );
}

/**
 * Returns the settings to compare for longer: the peaks of each workload with and without
 * speculation, and the load that earlier results used.
 */
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
