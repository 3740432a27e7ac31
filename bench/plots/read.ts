/** Reads figures of a report, for plots and for the sentences above them. */
import type { GoalResult } from '../harness/goals.ts';
import type { Report } from '../harness/results.ts';
import type { Dot } from './intervals.ts';

/** Returns the bar of that name. Throws if the report has none. */
export function barOf({ bench, bars }: Report, name: string): GoalResult {
  const bar = bars.find((item) => item.name === name);
  if (bar === undefined) throw new Error(`${bench}: no figure ${name} to draw`);
  return bar;
}

/** Returns a dot for each bar that the report has, with the name that a reader sees. */
export function dotsOf(
  { bars }: Report,
  names: Readonly<Record<string, string>>,
  look: Partial<Dot> = {},
): Dot[] {
  return Object.entries(names).flatMap(([name, label]) => {
    const bar = bars.find((item) => item.name === name);
    return bar === undefined
      ? []
      : [{ label, value: bar.value, low: bar.low, high: bar.high, ...look }];
  });
}

/** Returns the rows of a report as records of that kind. */
export function rowsOf<Row>({ rows }: Report): readonly Row[] {
  return rows as readonly Row[];
}

/** Returns the samples of a report as records of that kind. */
export function samplesOf<Sample>({ samples }: Report): readonly Sample[] {
  return samples as readonly Sample[];
}
