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

const WITH = { label: 'with incremental views', colour: '#1f6fc4' };
const WITHOUT = { label: 'strong views only', colour: '#8a4f9e' };
const THRESHOLD_COLOUR = '#c2570c';

/** The plot as SVG text. */
export function saleFigure({ stock, threshold, incremental, strongOnly }: SaleFigure): string {
  const contenders = [
    { ...WITHOUT, waits: averageWaits(strongOnly) },
    { ...WITH, waits: averageWaits(incremental) },
  ];
  const all = contenders.flatMap(({ waits }) => waits.map(({ ms }) => ms));
  const [low, high] = [decadeBelow(Math.min(...all)), 10 * decadeBelow(Math.max(...all))];
  return figure(`${stock} tickets, four retailers: mean wait of a customer over ${incremental.length} sales`, {
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
      Plot.ruleX([threshold], { stroke: THRESHOLD_COLOUR, strokeDasharray: '4,4' }),
      Plot.text([threshold], {
        x: (left: number) => left,
        frameAnchor: 'top',
        dy: -18,
        text: (left: number) => `threshold: ${left} left`,
        textAnchor: 'end',
        fill: THRESHOLD_COLOUR,
      }),
      ...contenders.map(({ waits, colour }) =>
        Plot.dot(waits, {
          x: (wait: MeanWait) => wait.ticketsLeft,
          y: (wait: MeanWait) => wait.ms,
          r: 1.6,
          fill: colour,
        }),
      ),
      // A legend above the frame: no place inside it is free of dots on every machine.
      ...contenders.map(({ label, colour }, index) =>
        Plot.text([`● ${label}`], {
          frameAnchor: 'top-left',
          dx: 150 * index,
          dy: -18,
          fill: colour,
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
