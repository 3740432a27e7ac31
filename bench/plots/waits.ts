/**
 * Plots how long customers of a sale wait, against the number of tickets left (Correctables, OSDI
 * 2016, Figure 12).
 */
import * as Plot from '@observablehq/plot';
import { averageWaits, type MeanWait } from '../../demo/tickets/average.ts';
import {
  BACK,
  BESIDE,
  figure,
  logAxis,
  logTicks,
  ORANGE,
  RULE,
  type Figure,
  type Texts,
} from './svg.ts';

/** The latency of a purchase. */
export type Sold = Parameters<typeof averageWaits>[0][number][number];

/** The waits of several ways to sell the same tickets. */
export interface Waits extends Texts {
  readonly stock: number;
  /** A mark at a number of tickets left, with its label. */
  readonly mark: { readonly at: number; readonly label: string };
  readonly ways: readonly {
    readonly name: string;
    readonly color: string;
    readonly sales: readonly (readonly Sold[])[];
  }[];
}

const HEIGHT_PX = 340;
/** The share of the width that a name covers. */
const NAME_SHARE = 0.4;
/**
 * The number of digits of a point's coordinates. More digits are invisible, and make the file
 * larger.
 */
const DIGITS = 3;

export function waitsFigure({ stock, mark, ways, ...texts }: Waits): Figure {
  const shown = ways.map(({ sales, ...way }) => ({ ...way, waits: averageWaits(sales) }));
  const all = shown.flatMap(({ waits }) => waits.map(({ ms }) => ms));
  const domain = [Math.min(...all) / 1.6, Math.max(...all) * 2.2] as const;
  return figure(texts, {
    width: 760,
    height: HEIGHT_PX,
    marginTop: 24,
    marginLeft: 76,
    marginRight: 24,
    x: { ...BESIDE, label: 'tickets left when the purchase began', domain: [stock, 0] },
    y: { type: 'log', domain, axis: null },
    marks: [
      ...logAxis('y', logTicks(...domain), 'ms until the answer (log scale, lower is better)'),
      Plot.frame({ stroke: RULE }),
      Plot.ruleX([mark.at], { stroke: ORANGE, strokeDasharray: '4,4' }),
      Plot.text([mark.label], {
        x: () => mark.at,
        frameAnchor: 'top',
        dy: -14,
        textAnchor: 'end',
        fill: ORANGE,
      }),
      ...shown.map(({ waits, color }) =>
        Plot.dot(waits, {
          x: 'ticketsLeft',
          y: ({ ms }: MeanWait) => Number(ms.toPrecision(DIGITS)),
          r: 1.8,
          fill: color,
        }),
      ),
      ...shown.map(({ name, waits, color }) => {
        // Place the names above most dots of the first tickets.
        const first = waits
          .filter(({ ticketsLeft }) => ticketsLeft > stock * (1 - NAME_SHARE))
          .map(({ ms }) => ms);
        const high = first.toSorted((a, b) => a - b)[Math.floor(0.9 * first.length)] ?? 1;
        return Plot.text([name], {
          x: () => stock * 0.97,
          y: () => Math.min(high * 1.8, domain[1] / 1.2),
          text: (label: string) => label,
          textAnchor: 'start',
          fill: color,
          stroke: BACK,
          strokeWidth: 5,
          fontSize: 13,
          fontWeight: 'bold',
        });
      }),
    ],
  });
}
