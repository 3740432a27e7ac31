/** Medians, ranges and paired ratios. */

/** Median with its range over the rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The middle value; the mean of the two middle ones for an even count. @throws RangeError on no
 * values
 */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const high = sorted[Math.floor(middle)];
  if (high === undefined) throw new RangeError('no values');
  return Number.isInteger(middle) ? ((sorted[middle - 1] as number) + high) / 2 : high;
}

/** @throws RangeError on no values */
export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('no values');
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * How far values are from their mean, as the root of the mean square. @throws RangeError on no
 * values
 */
export function standardDeviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** Median with the smallest and largest value. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The allowed probability that the true median is outside of an interval. */
const OUTSIDE = 0.05;

/**
 * Returns how many values are needed for such an interval. All values are on one side of the true
 * median as rarely as that many tossed coins all show the same side. If the result is checked
 * several times, more values are needed.
 */
export function samplesMin(looks = 1): number {
  return Math.ceil(Math.log2((2 * looks) / OUTSIDE));
}

/**
 * Returns two of the values that enclose the true median with at least 95 % confidence, for any
 * distribution: the number of values below it is binomial. With fewer values than `samplesMin`,
 * returns their whole range, which is less sure. If you look several times until an interval
 * decides, pass `looks`: each look then may be wrong less often.
 */
export function medianInterval(
  values: readonly number[],
  looks = 1,
): { readonly low: number; readonly high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const { length } = sorted;
  let [left, tail, ways] = [0, 0, 1];
  // `tail`: that at most `left` of all values are below the median.
  for (; ; left += 1) {
    tail += ways / 2 ** length;
    if (tail > OUTSIDE / 2 / looks || left > length) break;
    ways = (ways * (length - left)) / (left + 1);
  }
  const low = Math.max(0, left - 1);
  return { low: sorted[low] as number, high: sorted[length - 1 - low] as number };
}

/**
 * Returns the ratios of values from the same round. Disturbances of the machine that affect both
 * cancel out.
 */
export function pairedRatios(values: readonly number[], baseline: readonly number[]): number[] {
  return values.map((value, round) => value / (baseline[round] as number));
}

/** Rounds to four significant digits, for reports. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
