/**
 * Plots of transactions: how much sooner a result is shown than it is committed, and what that
 * costs.
 */
import type { Report } from '../harness/results.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { barOf, dotsOf } from './read.ts';
import { BLUE, GREY, short, VIOLET, type Drawn, type Figure } from './svg.ts';

/** The row that the benchmark writes for each place of a client. */
interface FirstView {
  readonly site: string;
  readonly awayMs: number;
  readonly firstMs: number;
  readonly finalMs: number;
}

interface Samples {
  readonly views: readonly (readonly FirstView[])[];
}

interface Row {
  readonly site?: string;
  readonly awayMs: number;
  readonly firstP50Ms: number;
  readonly finalP50Ms: number;
}

const FIRST = 'first view (tentative)';
const FINAL = 'final view (committed)';

export function drawTransactions(report: Report): Drawn {
  return { transactions: drawFirstViews(report), 'transactions-cost': drawCost(report) };
}

function drawFirstViews(report: Report): Figure {
  const rows = (report.rows as unknown as readonly Row[]).filter(({ site }) => site !== undefined);
  const { views } = report.samples as Samples;
  const dots = rows.flatMap(({ site = '', awayMs, firstP50Ms, finalP50Ms }): Dot[] => {
    const rounds = views.flat().filter((view) => view.site === site && view.awayMs === awayMs);
    const label = nameStand(site, awayMs);
    const rangeOf = (values: readonly number[]): Pick<Dot, 'low' | 'high'> => ({
      low: Math.min(...values),
      high: Math.max(...values),
    });
    const first = {
      label,
      value: firstP50Ms,
      ...rangeOf(rounds.map(({ firstMs }) => firstMs)),
      color: BLUE,
    };
    const final = {
      label,
      value: finalP50Ms,
      ...rangeOf(rounds.map(({ finalMs }) => finalMs)),
      color: VIOLET,
    };
    return [{ ...first, number: 'above' }, final];
  });
  const [near] = rows;
  const percent = Math.round(100 * barOf(report, 'first-view-vs-final').value);
  return intervalsFigure({
    title: `Beside the site in Frankfurt, a transaction shows its result after ${short(near?.firstP50Ms ?? NaN)} ms and is committed after ${short(near?.finalP50Ms ?? NaN)} ms`,
    note: 'Median time of a transfer between two accounts: over all rounds, and the range of the rounds. The leader of the red order is in Ireland.',
    see: `The site near the client answers the read, and checks the commit first. That takes ${percent} % of the time until the leader has ordered it. A client that is far from its site waits for two trips before the first view.`,
    axis: 'milliseconds (log scale)',
    better: 'lower',
    scale: 'log',
    legend: { [FIRST]: BLUE, [FINAL]: VIOLET },
    dots,
  });
}

function nameStand(site: string, awayMs: number): string {
  const place = `${site.charAt(0).toUpperCase()}${site.slice(1)}`;
  return awayMs === 0 ? `client in ${place}` : `client ${awayMs} ms from ${place}`;
}

function drawCost(report: Report): Figure {
  const cost = short(barOf(report, 'transaction-cost').value);
  const read = short(barOf(report, 'transaction-cost-vs-read-and-red').value);
  return intervalsFigure({
    title: `One site does ${cost} times as many transfers a second if a transfer is one hand-written red operation`,
    note: 'Transfers between two accounts at one site in memory, 64 in flight, without conflicts. Dots are medians, lines their 95 % intervals.',
    see: `A transaction sends two requests: one reads both accounts, and one commits. A client that reads both before its red operation does ${read} times as many transfers as one with transactions.`,
    axis: 'transaction ÷ hand-written operation (log scale)',
    better: 'lower',
    scale: 'log',
    reference: { at: 1, label: 'hand-written' },
    dots: [
      ...dotsOf(report, { 'transaction-cost': 'time for a transfer, saturated' }),
      ...dotsOf(
        report,
        { 'transaction-cost-vs-read-and-red': 'time, compared with a read and a red operation' },
        { color: VIOLET },
      ),
      ...dotsOf(
        report,
        {
          'transaction-server-time': 'processor time of the server',
          'transaction-client-time': 'processor time of the client',
        },
        { color: GREY },
      ),
    ],
  });
}
