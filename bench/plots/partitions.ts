/** Draws the plot of partitions: how long a red operation takes with a red log near its users. */
import type { Wait } from '../partitions/bench.ts';
import type { Report } from '../harness/results.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { rowsOf, samplesOf } from './read.ts';
import { BLUE, GREY, short, type Drawn } from './svg.ts';

interface Row extends Pick<Wait, 'layout' | 'place'> {
  readonly p50Ms: number;
}

const COLORS = { 'one log': GREY, 'a log near its users': BLUE } as const;
const LABELS: Partial<Record<Wait['place'], string>> = {
  virginia: 'user in Virginia, row of us',
  ohio: 'user in Ohio, row of us',
  frankfurt: 'user in Frankfurt, row of main',
};

export function drawPartitions(report: Report): Drawn {
  const rows = rowsOf<Row>(report);
  const waits = samplesOf<readonly Wait[]>(report).flat();
  const dots = rows
    .toSorted(
      (a, b) =>
        rows.findIndex(({ place }) => place === a.place) -
        rows.findIndex(({ place }) => place === b.place),
    )
    .map(({ layout, place, p50Ms }): Dot => {
      const rounds = waits
        .filter((wait) => wait.layout === layout && wait.place === place)
        .map(({ ms }) => ms);
      const range = { low: Math.min(...rounds), high: Math.max(...rounds) };
      const number = layout === 'one log' ? {} : ({ number: 'above' } as const);
      return {
        label: LABELS[place] ?? place,
        value: p50Ms,
        ...range,
        color: COLORS[layout],
        ...number,
      };
    });
  const waitOf = (layout: Wait['layout']): string =>
    short(rows.find((row) => row.layout === layout && row.place === 'virginia')?.p50Ms ?? NaN);
  const figure = intervalsFigure({
    title: `A user in Virginia waits ${waitOf('a log near its users')} ms for a red operation if a red log is near, and ${waitOf('one log')} ms if all rows share one`,
    note: 'Median time of a withdrawal: over all rounds, and the range of the rounds. The leader of main is in Ireland, that of us in Virginia.',
    see: 'The partition us has its leader in Virginia, and Virginia, Ohio and Ireland as voters. A majority of them is 12 ms away. Rows of main are ordered as before.',
    axis: 'milliseconds (log scale)',
    better: 'lower',
    scale: 'log',
    legend: COLORS,
    dots,
  });
  return { 'red-near-users': figure };
}
