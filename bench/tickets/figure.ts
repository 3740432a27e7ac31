/** Figure 12 of the paper: purchase latency against tickets left, with and without incremental views. */
import * as Plot from '@observablehq/plot';
import { averageWaits, type MeanWait } from '../../demo/tickets/average.ts';
import type { Purchase } from '../../demo/tickets/serve-customer.ts';
import { figure } from '../harness/figure.ts';

type Purchases = readonly (readonly Purchase[])[];

export interface SaleFigure {
  readonly stock: number;
  readonly threshold: number;
  /** The purchases of each sale with incremental views. */
  readonly incremental: Purchases;
  /** The purchases of each sale without. */
  readonly strongOnly: Purchases;
}

const WITH = { label: 'with incremental views', color: '#1f6fc4' };
const WITHOUT = { label: 'strong views only', color: '#8a4f9e' };
const THRESHOLD_COLOR = '#c2570c';

/** The plot as SVG text. */
export function saleFigure({ stock, threshold, incremental, strongOnly }: SaleFigure): string {
  return waitsFigure(`${stock} tickets, four retailers: mean wait of a customer over ${incremental.length} sales`, {
    stock,
    mark: { at: threshold, label: `threshold: ${threshold} left` },
    contenders: [
      { ...WITHOUT, sales: strongOnly },
      { ...WITH, sales: incremental },
    ],
  });
}

/** Ways to sell the same, one beside the other. */
export interface WaitsFigure {
  readonly stock: number;
  /** So many tickets left, and what begins there. */
  readonly mark: { readonly at: number; readonly label: string };
  readonly contenders: readonly { readonly label: string; readonly color: string; readonly sales: Purchases }[];
}

/** How long customers waited, against the tickets that were left. */
export function waitsFigure(title: string, { stock, mark, contenders: value }: WaitsFigure): string {
  const contenders = value.map(({ sales, ...each }) => ({ ...each, waits: averageWaits(sales) }));
  const all = contenders.flatMap(({ waits }) => waits.map(({ ms }) => ms));
  const [low, high] = [decadeBelow(Math.min(...all)), 10 * decadeBelow(Math.max(...all))];
  return figure(title, {
    height: 410,
    marginTop: 64,
    marginLeft: 66,
    marginRight: 24,
    x: { label: 'tickets left when the purchase began', labelAnchor: 'center', labelArrow: 'none', domain: [stock, 0] },
    y: { type: 'log', domain: [low, high], axis: null },
    marks: [
      Plot.gridY(steps(low, high)),
      Plot.axisY(steps(low, high), {
        label: 'milliseconds until told (log scale)',
        labelAnchor: 'center',
        labelArrow: 'none',
        labelOffset: 46,
        text: String,
        tickSize: 0,
      }),
      Plot.ruleX([mark.at], { stroke: THRESHOLD_COLOR, strokeDasharray: '4,4' }),
      Plot.text([mark.at], {
        x: (left: number) => left,
        frameAnchor: 'top',
        dy: -18,
        text: () => mark.label,
        textAnchor: 'end',
        fill: THRESHOLD_COLOR,
      }),
      ...contenders.map(({ waits, color }) =>
        Plot.dot(waits, {
          x: (wait: MeanWait) => wait.ticketsLeft,
          y: (wait: MeanWait) => wait.ms,
          r: 1.6,
          fill: color,
        }),
      ),
      // A legend above the frame: no place inside it is free of dots on every machine.
      ...contenders.map(({ label, color }, index) =>
        Plot.text([`● ${label}`], {
          frameAnchor: 'top-left',
          dx: 150 * index,
          dy: -18,
          fill: color,
          fontWeight: 'bold',
        }),
      ),
    ],
  });
}

function decadeBelow(ms: number): number {
  return 10 ** Math.floor(Math.log10(ms));
}

/** 1, 2, 5, 10, 20, 50, … */
function steps(low: number, high: number): number[] {
  const decades = Array.from({ length: Math.round(Math.log10(high / low)) }, (_, n) => low * 10 ** n);
  return [...decades.flatMap((decade) => [1, 2, 5].map((step) => Number((decade * step).toPrecision(1)))), high];
}
