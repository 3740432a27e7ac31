/** Formats the measurements as rows of plain data. */
import { WAYS } from '../../demo/shared/speculation/application.ts';
import type { Comparison } from '../../demo/shared/speculation/report.ts';
import { median, rounded } from '../harness/statistics.ts';
import { vsPossible } from './goals.ts';
import { peaksFound } from './peaks.ts';
import type { Measured } from './settings.ts';

/** One setting: medians of the rounds; the longer ones too, where it is known to be a peak. */
export function rowOf(setting: Measured, isPeak: boolean): Record<string, unknown> {
  const { rounds, atPeak, placement, client, asks, cassandra, workload, workers } = setting;
  const of = (value: (comparison: Comparison) => number, comparisons = rounds): number =>
    rounded(median(comparisons.map(value)));
  const range = (value: (comparison: Comparison) => number, comparisons = rounds): string => {
    const values = comparisons.map(value);
    return `${rounded(Math.min(...values))} … ${rounded(Math.max(...values))}`;
  };
  return {
    placement,
    client,
    ...(asks !== undefined && { asks }),
    ...(cassandra !== undefined && {
      coordinator: cassandra.coordinator,
      readQuorum: cassandra.readQuorum,
    }),
    workload,
    workers,
    P: of(({ P }) => P),
    F: of(({ F }) => F),
    t: of(({ t }) => t),
    baselineMs: of(({ baseline }) => baseline.avgMs),
    correctableMs: of(({ correctable }) => correctable.avgMs),
    latencyReduction: of(({ latencyReduction }) => latencyReduction),
    latencyReductionRange: range(({ latencyReduction }) => latencyReduction),
    possibleReduction: of(({ possibleReduction }) => possibleReduction),
    vsPossible: of(vsPossible),
    baselineOpsPerSec: of(({ baseline }) => baseline.opsPerSec),
    correctableOpsPerSec: of(({ correctable }) => correctable.opsPerSec),
    baselineOpsPerSecByBusyTime: of(({ baseline }) => baseline.opsPerSecByBusyTime),
    correctableOpsPerSecByBusyTime: of(({ correctable }) => correctable.opsPerSecByBusyTime),
    throughputChange: of(({ throughputChange }) => throughputChange),
    throughputChangeRange: range(({ throughputChange }) => throughputChange),
    ...(isPeak && {
      baselineOpsPerSecAtPeak: of(({ baseline }) => baseline.opsPerSec, atPeak),
      correctableOpsPerSecAtPeak: of(({ correctable }) => correctable.opsPerSec, atPeak),
      changeAtPeak: of(({ throughputChange }) => throughputChange, atPeak),
      changeAtPeakRange: range(({ throughputChange }) => throughputChange, atPeak),
    }),
    divergence: of(({ divergence }) => divergence),
    wrongDeliveries: [...rounds, ...atPeak].reduce(
      (sum, { wrongDeliveries }) => sum + wrongDeliveries,
      0,
    ),
  };
}

/** Latencies of a workload at equal rates, one row a rate. */
export function offersOf({
  workload,
  placement,
  client,
  offered,
}: Measured): Record<string, unknown>[] {
  const shares = [...new Set(offered.map(({ share }) => share))];
  return shares.map((share) => {
    const rounds = offered.filter((item) => item.share === share);
    const figures = WAYS.flatMap((way) =>
      (['avgMs', 'p50Ms', 'p99Ms'] as const).map((figure): [string, number] => [
        `${way}${figure.charAt(0).toUpperCase()}${figure.slice(1)}`,
        rounded(median(rounds.map((round) => round[way][figure]))),
      ]),
    );
    const perSecond = rounded(median(rounds.map((round) => round.perSecond)));
    return {
      placement,
      client,
      workload,
      share,
      offeredPerSec: perSecond,
      ...Object.fromEntries(figures),
    };
  });
}

/**
 * Where each workload peaks, and whether less was done on both sides of it: one row a workload and
 * way.
 */
export function peakRowsOf(measured: readonly Measured[]): Record<string, unknown>[] {
  return peaksFound(measured).map(({ workload, way, workers, opsPerSec, isBracketed }) => ({
    workload,
    peakOf: way,
    workers,
    opsPerSec: rounded(opsPerSec),
    isBracketed,
  }));
}
