/**
 * Compares sales by rights (docs/spec/rights.md) with sales from a queue in the red order: how many
 * sales are final without a trip between sites, and how much sooner. There is demand at all sites,
 * or only at one.
 */
import { writeFileSync } from 'node:fs';
import { verifySales } from '../../demo/tickets/verify/verify-sales.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { computeGoalResults, rowOf } from './rows.ts';
import { PLACEMENTS, runSales, type Placement, type RoundSale } from './sales.ts';

export const rights: Bench = {
  name: 'rights',
  about:
    'a ticket sale by rights and from a queue: finals without a trip between sites, tickets oversold',
  takes: ['history'],
  run,
};

async function run({ quick, history, progress }: Settings): Promise<Outcome> {
  const [tickets, rounds] = quick ? [200, 2] : [500, 6];
  const placements = Object.keys(PLACEMENTS) as Placement[];
  const sales: RoundSale[] = [];
  for (const placement of placements)
    sales.push(...(await runSales(placement, { tickets, rounds, progress })));
  if (history !== undefined) writeHistory(history, sales);
  const rows = placements.flatMap((placement) =>
    ['queue', 'rights'].map((stock) => rowOf(placement, stock, sales)),
  );
  return {
    rounds,
    rows,
    bars: computeGoalResults(rows, sales),
    samples: sales.map(sampleOf),
    versions: versionsOf('ws'),
  };
}

/**
 * Formats a sale with one comma-separated line for each purchase, so that the file stays readable.
 */
function sampleOf({ placement, stock, round, sale }: RoundSale): object {
  const columns = 'retailer,ticketsLeft,answer,finalMs';
  const purchases = sale.purchases.map(({ retailer, ticketsLeft, answer: reported, finalMs }) =>
    [
      retailer,
      ticketsLeft,
      reported,
      finalMs === undefined ? '' : Number(finalMs.toPrecision(3)),
    ].join(','),
  );
  const { latencyMs: _, ...verdict } = verifySales(sale.history);
  return { placement, stock, round, ...verdict, columns, purchases };
}

/** Writes one line for each event of every sale, from which the counts can be computed again. */
function writeHistory(path: string, sales: readonly RoundSale[]): void {
  const lines = sales.flatMap(({ placement, stock, round, sale: { history } }) =>
    history.map((line) => JSON.stringify({ sale: `${placement} ${stock} ${round}`, ...line })),
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
}
