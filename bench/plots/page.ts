/** Plots when a product is painted on a page, for each way of reading it. */
import { WAY_NAMES, type Way } from '../react/ways.ts';
import { unpackSamples, type PackedSamples } from '../react/goals.ts';
import type { Report } from '../harness/results.ts';
import { median, medianInterval } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { barOf } from './read.ts';
import { BLUE, ORANGE, short, type Drawn } from './svg.ts';

/** Draws when the first and the final value are painted, in visits whose final value corrects the first. */
export function drawPage(report: Report): Drawn {
  const { rounds } = unpackSamples(report.samples as PackedSamples);
  const dotOf = (way: Way, figure: 'firstPaintMs' | 'finalPaintMs', look: Partial<Dot>): Dot => {
    const medians = rounds.map((round) =>
      median(round.filter((item) => item.way === way && item.isSold).map((item) => item[figure])),
    );
    return { label: way, value: median(medians), ...medianInterval(medians), ...look };
  };
  const seesBoth = (way: Way): boolean => rounds.flat().some((item) => item.way === way && item.isCorrected);
  const dots = WAY_NAMES.flatMap((way) => [
    ...(seesBoth(way) ? [dotOf(way, 'firstPaintMs', { color: ORANGE, number: 'above' })] : []),
    dotOf(way, 'finalPaintMs', {}),
  ]);
  const waitShare = short(100 * barOf(report, 'prefetch-wait-vs-none').value);
  const firstShare = short(100 * barOf(report, 'first-paint-vs-use').value);
  return {
    react: intervalsFigure({
      title: `useCorrectable shows a first value in ${firstShare} % of the time of a final value alone; a prefetch leaves ${waitShare} % of that wait`,
      note: 'From the click to the paint of the first and of the final value, while another client buys: medians of the rounds with their 95 % intervals. The user is 20 ms from the nearest site.',
      see: 'useCorrectable sends one request and shows a first value as early as two separate queries do. A prefetched value is there when the user clicks.',
      axis: 'milliseconds from the click to the paint',
      better: 'lower',
      legend: { 'first value': ORANGE, 'final value': BLUE },
      dots,
    }),
  };
}
