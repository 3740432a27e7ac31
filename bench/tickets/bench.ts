/**
 * Selling tickets (Correctables, OSDI 2016, §6.3.2, Figure 12): four retailers sell one stock, with incremental views and
 * without.
 */
import { writeFileSync } from 'node:fs';
import { count } from '../../demo/tickets/report.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { saleFigure } from './figure.ts';
import { barsOf, rowOf, salesOf } from './rows.ts';
import { runSales, type RoundSale, type Setting } from './sales.ts';

const RETAILERS = 4;
const THRESHOLDS = [0, 20] as const;

export const tickets: Bench = {
  name: 'tickets',
  about: 'a ticket sale with and without incremental views: latency, customers revoked, tickets oversold',
  run,
};

async function run({ quick, binding, history, progress }: Settings): Promise<Outcome> {
  if (binding !== undefined && binding !== 'redblue') throw new RangeError(`--binding: redblue, not "${binding}"`);
  const stocks = quick ? [200] : [500, 1000];
  const rounds = quick ? 2 : 5;
  const settings = stocks.flatMap((stock) => [null, ...THRESHOLDS].map((threshold): Setting => ({ stock, threshold })));
  const sales = await runSales({ retailers: RETAILERS, settings, rounds, progress });
  if (history !== undefined) writeHistory(history, sales);

  const rows = settings.map((setting) => rowOf(setting, sales));
  return { rounds, rows, bars: barsOf(rows), samples: sales.map(sampleOf), figures: figuresOf(stocks, sales) };
}

/** A sale with one line a purchase, comma-separated, so that thousands of them stay readable. */
function sampleOf({ stock, threshold, round, sale }: RoundSale): object {
  const columns = 'ticketsLeft,told,toldMs,finalMs';
  const purchases = sale.purchases.map(({ ticketsLeft, told, early, toldMs, finalMs }) => {
    const ms = [toldMs, finalMs].map((value) => (value === undefined ? '' : Number(value.toPrecision(3))));
    return [ticketsLeft, early === true ? 'early' : told, ...ms].join(',');
  });
  return { stock, threshold, round, ...count(sale.history, stock), columns, purchases };
}

function figuresOf(stocks: readonly number[], sales: readonly RoundSale[]): Record<string, string> {
  const figures: Record<string, string> = {};
  for (const [index, stock] of stocks.entries()) {
    const purchases = (threshold: number | null): RoundSale['sale']['purchases'][] =>
      salesOf(sales, { stock, threshold }).map(({ sale }) => sale.purchases);
    const name = index === 0 ? 'tickets' : `tickets-${stock}`;
    figures[name] = saleFigure({ stock, threshold: 20, incremental: purchases(20), strongOnly: purchases(null) });
  }
  return figures;
}

/** One line an event of every sale, from which the counts can be computed again. */
function writeHistory(path: string, sales: readonly RoundSale[]): void {
  const lines = sales.flatMap(({ stock, threshold, round, sale }) =>
    sale.history.map((line) => JSON.stringify({ sale: round, tickets: stock, threshold, ...line })),
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
}
