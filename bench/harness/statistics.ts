/** Medians, ranges and paired ratios. */
import type { Spread } from './bench.ts';

/** The middle value; the mean of the two middle ones for an even count. @throws RangeError on no values */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const high = sorted[Math.floor(middle)];
  if (high === undefined) throw new RangeError('no values');
  return Number.isInteger(middle) ? ((sorted[middle - 1] as number) + high) / 2 : high;
}

/** Median with the smallest and largest value. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The ratios of values taken in the same round: what a noisy machine does to both cancels out. */
export function pairedRatios(values: readonly number[], baseline: readonly number[]): number[] {
  return values.map((value, round) => value / (baseline[round] as number));
}

/** Rounds to four significant digits, for reports. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
