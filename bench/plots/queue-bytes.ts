/**
 * Bytes for each dequeue of ZooKeeper's recipes against the length of the queue (Correctables, OSDI
 * 2016, Figure 10).
 */
import { linesFigure } from './lines.ts';
import { BLUE, GREY, ORANGE, short, type Figure } from './svg.ts';

/** The median of the rounds of one recipe in one situation. */
export interface Row {
  readonly recipe: string;
  readonly length: number;
  readonly consumers: number;
  readonly bytes: number;
}

const OURS = 'claim tickets';
/** The names of the recipes for readers. */
const NAMES: Readonly<Record<string, string>> = {
  vanilla: 'standard recipe',
  'head pointer': 'head pointer',
  [OURS]: 'this package',
};
const COLORS = {
  [NAMES['vanilla'] as string]: GREY,
  [NAMES['head pointer'] as string]: ORANGE,
  [NAMES[OURS] as string]: BLUE,
};

/** Draws a panel for each number of consumers. */
export function bandwidthFigure(rows: readonly Row[]): Figure {
  const longest = Math.max(...rows.map(({ length }) => length));
  const most = Math.max(...rows.map(({ consumers }) => consumers));
  const bytesOf = (recipe: string, consumers: number): number =>
    rows.find(
      (row) => row.recipe === recipe && row.length === longest && row.consumers === consumers,
    )?.bytes ?? NaN;
  const times = Math.round(bytesOf('vanilla', most) / bytesOf(OURS, most));
  const alone = bytesOf(OURS, 1) / bytesOf('head pointer', 1);
  const points = rows.map(({ recipe, length, consumers, bytes }) => ({
    panel: consumers === 1 ? '1 consumer' : `${consumers} consumers`,
    series: NAMES[recipe] ?? recipe,
    x: length,
    y: bytes,
  }));
  return linesFigure({
    title: `To take one of ${longest} items, this package moves ${times} times fewer bytes than the standard recipe with ${most} consumers; with one consumer, ${short(alone)} times those of a head pointer`,
    note: 'Bytes between client and ZooKeeper for each dequeue. Lower is better.',
    see: 'The standard recipe lists the whole queue for each item. A head pointer, as in the paper, stores where the queue begins, but consumers that move it at once must retry. This package reserves the next item for one consumer.',
    colors: COLORS,
    x: { label: 'items in the queue (log scale)', type: 'log' },
    y: { label: 'bytes for each dequeue (log scale)', type: 'log' },
    points,
  });
}
