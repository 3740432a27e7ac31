/** Figure 10 of the paper: bytes per dequeue against the length of the queue. */
import * as Plot from '@observablehq/plot';
import { figure } from '../harness/figure.ts';
import { OURS } from './recipes.ts';

/** The median of the rounds of one recipe in one situation. */
export interface Row extends Readonly<Record<string, unknown>> {
  readonly recipe: string;
  readonly length: number;
  readonly consumers: number;
  readonly bytes: number;
  /** Of each round. */
  readonly samples: readonly number[];
}

const COLORS = { vanilla: '#858c93', 'head pointer': '#c2570c', [OURS]: '#2f7fd6' };
/** As people know them. */
const NAMES: Readonly<Record<string, string>> = {
  vanilla: 'standard recipe',
  'head pointer': 'head pointer',
  [OURS]: 'this package',
};

/** Round numbers of bytes. */
const TICKS = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000];

/** One panel a number of consumers; both scales logarithmic. */
export function bandwidthFigure(rows: readonly Row[]): string {
  const all = rows.map(({ bytes }) => bytes);
  const longest = Math.max(...rows.map(({ length }) => length));
  const last = rows.filter(({ consumers }) => consumers === Math.max(...rows.map((row) => row.consumers)));
  return figure(
    findingOf(rows),
    {
      height: 400,
      marginTop: 76,
      marginLeft: 70,
      marginRight: 20,
      fx: {
        label: null,
        padding: 0.18,
        tickFormat: (n: number) => (n === 1 ? '1 consumer' : `${n} consumers at once`),
      },
      x: { type: 'log', label: 'items in the queue', ticks: [100, 1000, 5000], tickFormat: String },
      y: {
        type: 'log',
        label: 'bytes per dequeue (log scale)',
        grid: true,
        ticks: TICKS.filter((bytes) => bytes >= Math.min(...all) && bytes <= Math.max(...all)),
        tickFormat: String,
        insetTop: 26,
        insetBottom: 10,
      },
      color: { domain: Object.keys(COLORS), range: Object.values(COLORS) },
      marks: [
        Plot.line(rows, { fx: 'consumers', x: 'length', y: 'bytes', stroke: 'recipe', strokeWidth: 2 }),
        Plot.dot(rows, { fx: 'consumers', x: 'length', y: 'bytes', fill: 'recipe', r: 3 }),
        Plot.text(
          last.filter(({ length }) => length === longest),
          {
            fx: 'consumers',
            x: 'length',
            y: 'bytes',
            text: ({ recipe }: Row) => NAMES[recipe] ?? recipe,
            fill: 'recipe',
            textAnchor: 'end',
            dy: -12,
            fontWeight: 'bold',
          },
        ),
      ],
    },
    'Bytes for each dequeue against the items in the queue, a panel for each number of consumers; fewer is better. Both scales are logarithmic.',
  );
}

/** What the longest queue with the most consumers shows: the upper right corner of the plot. */
function findingOf(rows: readonly Row[]): string {
  const [length, consumers] = [
    Math.max(...rows.map((row) => row.length)),
    Math.max(...rows.map((row) => row.consumers)),
  ];
  const bytesOf = (recipe: string): number =>
    rows.find((row) => row.recipe === recipe && row.length === length && row.consumers === consumers)?.bytes ?? NaN;
  const times = Math.round(bytesOf('vanilla') / bytesOf(OURS));
  return `Taking an item moves ${times} times fewer bytes than the standard recipe`;
}
