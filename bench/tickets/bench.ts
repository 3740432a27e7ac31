/**
 * Selling tickets (Correctables, OSDI 2016, §6.3.2, Figure 12): four retailers sell one stock, with incremental views and
 * without.
 */
import { writeFileSync } from 'node:fs';
import { count, latencies, percentiles } from '../../demo/tickets/report.ts';
import { atLeast, atMost, type Bar, type Bench, type Outcome, type Settings } from '../harness/bench.ts';
import { median, rounded, spread } from '../harness/statistics.ts';
import { saleFigure } from './figure.ts';
import { runSales, type RoundSale, type Setting } from './sales.ts';

const RETAILERS = 4;
const THRESHOLDS = [0, 20] as const;
const AIMS = { revokedAt20: 0, revokedAt0: 6, oversold: 0, speedup: 4 } as const;

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
  return { rounds, rows, bars: barsOf(sales, rows), samples: sales.map(sampleOf), figures: figuresOf(stocks, sales) };
}

type Row = ReturnType<typeof rowOf>;

/** One setting over all its sales: medians of the rounds, and the worst sale of each fault. */
function rowOf({ stock, threshold }: Setting, sales: readonly RoundSale[]) {
  const mine = salesOf(sales, { stock, threshold });
  const worst = (fault: 'revoked' | 'oversold' | 'duplicates'): number =>
    Math.max(...mine.map(({ sale }) => count(sale.history, stock)[fault]));
  const ofRounds = (value: (sale: RoundSale) => number | null): number | null => {
    const values = mine.map(value).filter((each) => each !== null);
    return values.length === 0 ? null : rounded(median(values));
  };
  const speedup = threshold === null ? null : spread(mine.map((sale) => rounded(speedupOf(sale, sales))));
  return {
    tickets: stock,
    contender: threshold === null ? 'strong only' : `threshold ${threshold}`,
    threshold,
    sales: mine.length,
    soldMin: Math.min(...mine.map(({ sale }) => soldIn(sale.history, stock))),
    confirmedEarlyMin: Math.min(...mine.map(({ sale }) => count(sale.history, stock).confirmedEarly)),
    revokedMax: worst('revoked'),
    oversoldMax: worst('oversold'),
    duplicatesMax: worst('duplicates'),
    purchaseAboveP50Ms: ofRounds((sale) => aboveP50(sale)),
    purchaseBelowP50Ms:
      threshold === null ? null : ofRounds(({ sale }) => latencies(sale, threshold).purchaseBelow.p50),
    finalP50Ms: ofRounds(({ sale }) => latencies(sale, 0).final.p50),
    speedup: speedup?.median ?? null,
    speedupMin: speedup?.min ?? null,
    speedupMax: speedup?.max ?? null,
  };
}

function soldIn(history: RoundSale['sale']['history'], stock: number): number {
  const { confirmed, revoked } = count(history, stock);
  return confirmed - revoked;
}

/** The median wait of purchases begun above the threshold; of all that got a ticket where there is none. */
function aboveP50({ sale, threshold }: RoundSale): number | null {
  if (threshold !== null) return latencies(sale, threshold).purchaseAbove.p50;
  const sold = sale.purchases.filter((purchase) => purchase.told === 'yes');
  return percentiles(sold, 'toldMs').p50;
}

/** How many times shorter customers above the threshold waited than those of the baseline in the same round. */
function speedupOf(one: RoundSale, sales: readonly RoundSale[]): number {
  const baseline = salesOf(sales, { stock: one.stock, threshold: null }).find(({ round }) => round === one.round);
  return (aboveP50(baseline as RoundSale) as number) / (aboveP50(one) as number);
}

function salesOf(sales: readonly RoundSale[], { stock, threshold }: Setting): readonly RoundSale[] {
  return sales.filter((sale) => sale.stock === stock && sale.threshold === threshold);
}

function barsOf(sales: readonly RoundSale[], rows: readonly Row[]): Bar[] {
  const worst = (fault: 'revoked' | 'oversold', threshold?: number): number =>
    Math.max(
      ...sales
        .filter((sale) => threshold === undefined || sale.threshold === threshold)
        .map(({ sale, stock }) => count(sale.history, stock)[fault]),
    );
  const speedups = rows.flatMap((row) => (row.threshold === 20 ? (row.speedup ?? []) : []));
  return [
    atMost('revoked-at-20', worst('revoked', 20), AIMS.revokedAt20, 'customers'),
    atMost('revoked-at-0', worst('revoked', 0), AIMS.revokedAt0, 'customers'),
    atMost('oversold', worst('oversold'), AIMS.oversold, 'tickets'),
    atLeast('purchase-speedup', rounded(Math.min(...speedups)), AIMS.speedup),
  ];
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
