/** Plots when a product is painted on a page, for each way of reading it. */
import { WAY_NAMES, type Way } from '../react/ways.ts';
import { unpackSamples, type PackedSamples } from '../react/goals.ts';
import type { Report } from '../harness/results.ts';
import { median } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { barOf } from './read.ts';
import { spreadOf } from './spread.ts';
import { BLUE, ORANGE, short, type Drawn } from './svg.ts';

const CORRECTED = 'another client buys: the final value differs from the first';
const CONFIRMED = 'nobody buys: the final value equals the first';

/**
 * Draws when the first and the final value are painted, for visits with and without a correction.
 */
export function drawPage(report: Report): Drawn {
  const { rounds } = unpackSamples(report.samples as PackedSamples);
  const dotOf = (way: Way, isSold: boolean, figure: 'firstPaintMs' | 'finalPaintMs'): Dot => {
    const medians = rounds.map((round) =>
      median(
        round
          .filter((item) => item.way === way && item.isSold === isSold)
          .map((item) => item[figure]),
      ),
    );
    const look = figure === 'firstPaintMs' ? ({ color: ORANGE, number: 'above' } as const) : {};
    return { group: isSold ? CORRECTED : CONFIRMED, label: way, ...spreadOf(medians), ...look };
  };
  const seesBoth = (way: Way): boolean =>
    rounds.flat().some((item) => item.way === way && item.isCorrected);
  const dots = [true, false].flatMap((isSold) =>
    WAY_NAMES.flatMap((way) => [
      ...(isSold && seesBoth(way) ? [dotOf(way, isSold, 'firstPaintMs')] : []),
      dotOf(way, isSold, 'finalPaintMs'),
    ]),
  );
  const ms = (way: Way, isSold: boolean, figure: 'firstPaintMs' | 'finalPaintMs'): string =>
    short(dotOf(way, isSold, figure).value);
  const share = short(100 * barOf(report, 'first-paint-vs-use').value);
  return {
    react: intervalsFigure({
      title: `useCorrectable paints a first value after ${ms('useCorrectable', true, 'firstPaintMs')} ms and corrects it after ${ms('useCorrectable', true, 'finalPaintMs')} ms. A first value that is right comes after ${ms('useCorrectable', false, 'firstPaintMs')} ms, and the final value alone after ${ms('use', true, 'finalPaintMs')} ms`,
      note: 'From the click to the paint: medians of the rounds with their 95 % intervals. In every other visit another client buys meanwhile. The user is 20 ms from the nearest site.',
      see: `useCorrectable sends one request, and two separate queries take as long to a first value. Over all visits, the first value takes ${share} % of the time of the final value alone. A prefetched value is there when the user clicks.`,
      axis: 'milliseconds from the click to the paint',
      better: 'lower',
      legend: { 'first value': ORANGE, 'final value': BLUE },
      dots,
    }),
  };
}
