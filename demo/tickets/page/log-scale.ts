/** The logarithmic axis of the plot: its range and its ticks. */

/**
 * The smallest value on the axis. It is the resolution of some browsers' clocks, and a logarithm
 * needs a value above zero.
 */
export const MS_MIN = 0.1;

/**
 * Returns the range between two ticks around the data, or one to a hundred milliseconds if there is
 * no data.
 */
export function logRange(min: number | null, max: number | null): [low: number, high: number] {
  if (min === null || max === null) return [1, 100];
  const all = logTicks(MS_MIN, 100 * max);
  const low = all.findLast((tick) => tick <= min) ?? MS_MIN;
  const high = all.find((tick) => tick >= max * 1.1) ?? 10 * max;
  return [Math.min(low, 1), Math.max(high, 100)];
}

/** 1, 2, 5, 10, 20, 50, …: few enough to read, even on a log scale. */
export function logTicks(min: number, max: number): number[] {
  const values: number[] = [];
  for (let decade = 10 ** Math.floor(Math.log10(min)); decade <= max; decade *= 10) {
    for (const step of [1, 2, 5]) {
      const value = Number((decade * step).toPrecision(1));
      if (value >= min * 0.999 && value <= max * 1.001) values.push(value);
    }
  }
  return values;
}
