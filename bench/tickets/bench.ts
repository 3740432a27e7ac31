/**
 * Selling tickets (Correctables, OSDI 2016, §6.3.2, Figure 12): four retailers sell one stock, with incremental views and
 * without.
 */
import { writeFileSync } from 'node:fs';
import { BINDINGS, type Options } from '../../demo/tickets/options.ts';
import { count } from '../../demo/tickets/report.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { saleFigure } from './figure.ts';
import { AIMS, barsOf, rowOf, salesOf } from './rows.ts';
import { runSales, type RoundSale, type Setting } from './sales.ts';

const RETAILERS = 4;
const THRESHOLDS = [0, 20] as const;

export const tickets: Bench = {
  name: 'tickets',
  about: 'a ticket sale with and without incremental views: latency, customers revoked, tickets oversold',
  run,
};

async function run({ quick, binding = 'redblue', history, progress }: Settings): Promise<Outcome> {
  if (!isBinding(binding)) throw new RangeError(`--binding: one of ${BINDINGS.join(', ')}, not "${binding}"`);
  // ZooKeeper's own recipe lists the whole queue for each ticket: with twice as many it takes minutes a sale.
  const stocks = quick ? [200] : binding === 'zookeeper' ? [500] : [500, 1000];
  const rounds = quick ? 2 : 5;
  const others = binding === 'zookeeper' ? [{ threshold: null, recipe: 'vanilla' }] : [];
  const kinds = [...[null, ...THRESHOLDS].map((threshold) => ({ threshold })), ...others];
  const settings = stocks.flatMap((stock) => kinds.map((kind): Setting => ({ stock, ...kind })));
  const sales = await runSales({ binding, retailers: RETAILERS, settings, rounds, progress });
  if (history !== undefined) writeHistory(history, sales);

  const rows = settings.map((setting) => rowOf(setting, sales));
  const name = binding === 'redblue' ? 'tickets' : `tickets-${binding}`;
  const bars = barsOf(rows, AIMS[binding]);
  return { name, rounds, rows, bars, samples: sales.map(sampleOf), figures: figuresOf(name, stocks, sales) };
}

function isBinding(name: string): name is Options['binding'] {
  return (BINDINGS as readonly string[]).includes(name);
}

/** A sale with one line a purchase, comma-separated, so that thousands of them stay readable. */
function sampleOf({ stock, threshold, recipe, round, sale }: RoundSale): object {
  const columns = 'ticketsLeft,told,toldMs,finalMs';
  const purchases = sale.purchases.map(({ ticketsLeft, told, early, toldMs, finalMs }) => {
    const ms = [toldMs, finalMs].map((value) => (value === undefined ? '' : Number(value.toPrecision(3))));
    return [ticketsLeft, early === true ? 'early' : told, ...ms].join(',');
  });
  return { stock, threshold, recipe, round, ...count(sale.history, stock), columns, purchases };
}

function figuresOf(name: string, stocks: readonly number[], sales: readonly RoundSale[]): Record<string, string> {
  const figures: Record<string, string> = {};
  for (const [index, stock] of stocks.entries()) {
    const purchases = (threshold: number | null): RoundSale['sale']['purchases'][] =>
      salesOf(sales, { stock, threshold }).map(({ sale }) => sale.purchases);
    figures[index === 0 ? name : `${name}-${stock}`] = saleFigure({
      stock,
      threshold: 20,
      incremental: purchases(20),
      strongOnly: purchases(null),
    });
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
