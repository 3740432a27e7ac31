/** Plots of ticket sales: with early answers and without, from a queue and by rights. */
import type { Report } from '../harness/results.ts';
import { median, samplesMin } from '../harness/statistics.ts';
import { rowsOf, samplesOf } from './read.ts';
import { spreadOf } from './spread.ts';
import { BLUE, short, VIOLET, type Drawn } from './svg.ts';
import { waitsFigure, type Sold } from './waits.ts';

/**
 * A sale of a results file: one line for each purchase, with its values in the order of `columns`.
 */
interface Sale {
  readonly placement: string;
  readonly stock: number | string;
  readonly threshold?: number | null;
  readonly recipe?: string | null;
  readonly purchases: readonly string[];
}

interface TicketRow {
  readonly placement: string;
  readonly tickets: number;
  readonly threshold: number | null;
  readonly recipe?: string | null;
  readonly purchaseAboveP50Ms: number;
  readonly revokedMax: number;
}

/** Customers get an early answer while more tickets than these are left. */
const THRESHOLD = 20;
/** Describes the dots of that many sales, and the interval behind their name. */
function describeDots(sales: number): string {
  const interval =
    sales < samplesMin()
      ? 'range of the medians of the sales'
      : '95 % interval of the median of a sale';
  return `${sales} sales each way; each dot is a mean over the customers who began with that many tickets left. In brackets: the ${interval}`;
}

/**
 * Describes the interval of the median wait of the sales, for customers who began before the last
 * tickets.
 */
function describeInterval(sales: readonly (readonly Sold[])[]): string {
  const waits = sales.map((sold) =>
    sold.flatMap(({ ticketsLeft = 0, answeredMs }) =>
      ticketsLeft > THRESHOLD ? (answeredMs ?? []) : [],
    ),
  );
  const { low, high } = spreadOf(waits.map((ms) => median(ms)));
  return `(${short(low)} to ${short(high)})`;
}

function soldOf(line: string, [left, answer, ms]: readonly [number, number, number]): Sold[] {
  const cells = line.split(',');
  if (cells[answer] === 'no' || cells[ms] === '') return [];
  return [{ ticketsLeft: Number(cells[left]), answer: 'yes', answeredMs: Number(cells[ms]) }];
}

/** Draws the sale of the first stock. Larger stocks look alike. */
export function drawTickets(report: Report, name: string): Drawn {
  const rows = rowsOf<TicketRow>(report).filter(
    ({ placement, recipe = null }) => placement === 'paper' && recipe === null,
  );
  const stock = rows[0]?.tickets ?? NaN;
  const rowOf = (threshold: number | null) =>
    rows.find((row) => row.tickets === stock && row.threshold === threshold);
  const sales = (threshold: number | null) =>
    samplesOf<Sale>(report)
      .filter((sale) => sale.placement === 'paper' && sale.stock === stock)
      .filter((sale) => (sale.recipe ?? null) === null && sale.threshold === threshold)
      .map(({ purchases }) => purchases.flatMap((line) => soldOf(line, [0, 1, 2])));
  const early = short(rowOf(THRESHOLD)?.purchaseAboveP50Ms ?? NaN);
  const confirmed = short(rowOf(null)?.purchaseAboveP50Ms ?? NaN);
  const revoked = rowOf(THRESHOLD)?.revokedMax ?? 0;
  const drawn = waitsFigure({
    title: `Customers know after ${early} ms instead of ${confirmed} that they have a ticket, until the last ${THRESHOLD}${revoked === 0 ? '' : `; up to ${revoked} of a sale then get none`}`,
    note: `${stock} tickets, four retailers, ${describeDots(sales(null).length)}.`,
    see: `While more than ${THRESHOLD} tickets are left, the early answer is enough. ${describeRevoked(revoked)}`,
    stock,
    mark: { at: THRESHOLD, label: `the last ${THRESHOLD} wait for the confirmed answer` },
    ways: [
      {
        name: `confirmed answers only: ${confirmed} ms ${describeInterval(sales(null))}`,
        color: VIOLET,
        sales: sales(null),
      },
      {
        name: `early answers: ${early} ms ${describeInterval(sales(THRESHOLD))}`,
        color: BLUE,
        sales: sales(THRESHOLD),
      },
    ],
  });
  return { [name]: drawn };
}

/** A copy that lags by more tickets than the threshold confirms too many. */
function describeRevoked(revoked: number): string {
  if (revoked === 0)
    return 'For the last ones both ways wait for the confirmed one, so none is sold twice.';
  return `For the last ones both ways wait for the confirmed one. No ticket was sold twice, but up to ${revoked} customers of a sale got an early answer and then no ticket: the copy lags by more than ${THRESHOLD} tickets here. The safe threshold takes none back (\`revoked-spread\`).`;
}

interface RightsRow {
  readonly placement: string;
  readonly stock: string;
  readonly finalAboveP50Ms: number;
  readonly localFinals: number;
}

const PLACEMENTS = {
  rights: { placement: 'one at each site', where: 'retailers at three sites' },
  'rights-skewed': { placement: 'virginia alone', where: 'all retailers in Virginia' },
} as const;

export function drawRights(report: Report): Drawn {
  const figures = Object.entries(PLACEMENTS).map(([name, { placement, where }]) => {
    const row = (stock: string): RightsRow | undefined =>
      rowsOf<RightsRow>(report).find(
        (item) => item.placement === placement && item.stock === stock,
      );
    const ms = (stock: string): string => short(row(stock)?.finalAboveP50Ms ?? NaN);
    const all = samplesOf<Sale & { readonly tickets: number }>(report).filter(
      (sale) => sale.placement === placement,
    );
    const sales = (stock: string) =>
      all
        .filter((sale) => sale.stock === stock)
        .map(({ purchases }) => purchases.flatMap((line) => soldOf(line, [1, 2, 3])));
    const local = Math.round(100 * (row('rights')?.localFinals ?? NaN));
    const drawn = waitsFigure({
      title: `If sites hold rights to sell, a ticket is final after ${ms('rights')} ms; from one shared queue, after ${ms('queue')} ms`,
      note: `${all[0]?.tickets} tickets, ${where}, ${describeDots(sales('queue').length)}.`,
      see: `A site with rights sells its share of the tickets alone: ${local} % of these sales are final without a trip to another site.${local < 100 ? ' Before each other sale, the site fetched rights from another one.' : ''}`,
      stock: all[0]?.tickets ?? 0,
      mark: { at: THRESHOLD, label: `the last ${THRESHOLD}` },
      ways: [
        {
          name: `one shared queue: ${ms('queue')} ms ${describeInterval(sales('queue'))}`,
          color: VIOLET,
          sales: sales('queue'),
        },
        {
          name: `rights to sell: ${ms('rights')} ms ${describeInterval(sales('rights'))}`,
          color: BLUE,
          sales: sales('rights'),
        },
      ],
    });
    return [name, drawn] as const;
  });
  return Object.fromEntries(figures);
}
