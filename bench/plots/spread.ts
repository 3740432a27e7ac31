/** How far the rounds of a benchmark are apart, and the words for it in the text of a plot. */
import { median, medianInterval, samplesMin } from '../harness/statistics.ts';

export interface Range {
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the median of the rounds, with its 95 % interval. If there are too few rounds for one,
 * returns their range.
 */
export function spreadOf(rounds: readonly number[]): Range & { readonly value: number } {
  return { value: median(rounds), ...medianInterval(rounds) };
}

/** Describes the lines through dots that `spreadOf` returned for that many rounds. */
export function describeLines(rounds: number): string {
  return rounds < samplesMin()
    ? `Dots are medians of ${rounds} rounds, thin lines go from the lowest to the highest round.`
    : `Dots are medians of ${rounds} rounds, thin lines their 95 % intervals.`;
}

/** Lists the loads of a curve in the order of its dots. */
export function describeLoads(what: string, loads: readonly number[]): string {
  const sorted = [...new Set(loads)]
    .toSorted((a, b) => a - b)
    .map((load) => load.toLocaleString('en'));
  return `From dot to dot: ${sorted.slice(0, -1).join(', ')} and ${sorted.at(-1)} ${what}.`;
}
