/** The report of a comparison: correctness by its history, and times by its requests. */
import type { Way } from './application.ts';
import type { AbComparison } from './ab-comparison.ts';
import type { HistoryLine, Timing } from './request.ts';

/** Latencies of deliveries, and the throughput. */
export interface Performance {
  readonly avgMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /**
   * The throughput of fetches and changes together, as YCSB counts: the operations that end in a
   * span while all workers are active.
   */
  readonly opsPerSec: number;
  /**
   * The throughput by the busy time of the workers, the older definition. It is too high if many
   * requests queue.
   */
  readonly opsPerSecByBusyTime: number;
}

/** What can be recomputed from the history alone. */
export interface Counts {
  /** The share of requests whose final references differ from the preliminary ones. */
  readonly divergence: number;
  /** Requests that delivered other things than those of their final references. */
  readonly wrongDeliveries: number;
}

export interface Comparison extends Counts {
  /** Mean time to the preliminary references, in milliseconds. */
  readonly P: number;
  /** Mean time to the final references without speculation, in milliseconds. */
  readonly F: number;
  /** Mean time from there to the delivery, without speculation, in milliseconds. */
  readonly t: number;
  /** The latency that perfect speculation would save: `1 - max(F, P + t) / (F + t)`. */
  readonly possibleReduction: number;
  readonly baseline: Performance;
  readonly correctable: Performance;
  /** The fraction of the mean latency that speculation saved. */
  readonly latencyReduction: number;
  /** The change of the throughput by speculation, as a fraction. */
  readonly throughputChange: number;
  /** Fetches for references that turned out wrong. */
  readonly misspeculations: number;
}

/**
 * Compares the contenders.
 *
 * @throws RangeError when one of them has served no request, or none while it was counted: the run
 * was too short
 */
export function compare(contest: AbComparison): Comparison {
  const [plain, incremental] = [timingsOf(contest, 'baseline'), timingsOf(contest, 'correctable')];
  if (plain.length === 0 || incremental.length === 0) throw tooShort();
  const P = mean(incremental.map(({ preliminaryMs, finalMs }) => preliminaryMs ?? finalMs));
  const F = mean(plain.map(({ finalMs }) => finalMs));
  const t = mean(plain.map(({ finalMs, deliveredMs }) => deliveredMs - finalMs));
  const [baseline, correctable] = [
    performanceOf(contest, 'baseline'),
    performanceOf(contest, 'correctable'),
  ];
  const { divergence, wrongDeliveries } = count(contest.history);
  return {
    P: round(P),
    F: round(F),
    t: round(t),
    possibleReduction: round(1 - Math.max(F, P + t) / (F + t)),
    baseline,
    correctable,
    latencyReduction: round(1 - correctable.avgMs / baseline.avgMs),
    throughputChange: round(correctable.opsPerSec / baseline.opsPerSec - 1),
    divergence,
    misspeculations: incremental.reduce((sum, { runs }) => sum + runs - 1, 0),
    wrongDeliveries,
  };
}

/** Computes the counts from a history, so that anyone can repeat it with the file. */
export function count(history: readonly HistoryLine[]): Counts {
  const requests = new Map<string, HistoryLine[]>();
  for (const line of history) {
    const lines = requests.get(line.request);
    if (lines === undefined) requests.set(line.request, [line]);
    else lines.push(line);
  }
  let [withPreliminary, diverged, wrongDeliveries] = [0, 0, 0];
  for (const lines of requests.values()) {
    const final = lines.find(({ kind }) => kind === 'final')?.ads;
    const preliminaries = lines.filter(({ kind }) => kind === 'preliminary');
    if (preliminaries.length > 0) withPreliminary += 1;
    if (preliminaries.some(({ ads }) => !isSame(ads, final))) diverged += 1;
    const deliveries = lines.filter(({ kind }) => kind === 'delivered');
    if (deliveries.length > 1 || deliveries.some(({ ads }) => !isSame(ads, final)))
      wrongDeliveries += 1;
  }
  return {
    divergence: withPreliminary === 0 ? 0 : round(diverged / withPreliminary),
    wrongDeliveries,
  };
}

function isSame(ads: readonly string[], others: readonly string[] | undefined): boolean {
  return ads.length === others?.length && ads.every((ad, n) => ad === others[n]);
}

function timingsOf({ slices }: AbComparison, way: Way): Timing[] {
  return slices.flatMap((slice) => (slice.way === way ? slice.timings : []));
}

function performanceOf(contest: AbComparison, way: Way): Performance {
  const slices = contest.slices.filter((slice) => slice.way === way);
  const sorted = timingsOf(contest, way)
    .map(({ deliveredMs }) => deliveredMs)
    .sort((a, b) => a - b);
  const at = (share: number): number =>
    round(sorted[Math.ceil(share * sorted.length) - 1] as number);
  const sum = (figure: 'operations' | 'busyMs' | 'counted' | 'countedMs'): number =>
    slices.reduce((total, slice) => total + slice[figure], 0);
  if (sum('counted') === 0) throw tooShort();
  return {
    avgMs: round(mean(sorted)),
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    opsPerSec: round((1000 * sum('counted')) / sum('countedMs')),
    opsPerSecByBusyTime: round((1000 * sum('operations') * contest.workers) / sum('busyMs')),
  };
}

function tooShort(): RangeError {
  return new RangeError('no requests: run for more seconds');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Rounds to four decimal places. */
function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
