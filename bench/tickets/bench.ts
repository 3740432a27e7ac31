/**
 * Selling tickets (Correctables, OSDI 2016, §6.3.2, Figure 12): four retailers sell one stock, with
 * incremental views and without; all beside one site as in the paper, and spread over three sites.
 * There, the paper's rule, which uses only a fixed threshold, is measured too. Promises that were
 * kept or revoked are counted in the history of each sale.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { writeFileSync } from 'node:fs';
import { SHARED } from '../../demo/tickets/stores/store.ts';
import { BINDINGS, type Options } from '../../demo/tickets/options.ts';
import { verifySales } from '../../demo/tickets/verify/verify-sales.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { readPostgresVersion } from '../../engines/postgres/programs.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import { AIMS, computeGoalResults, rowOf } from './rows.ts';
import { runSales, type Placement, type RoundSale, type Setting } from './sales.ts';

const THRESHOLDS = [0, 20] as const;
const SPREAD_THRESHOLD = 20;

/**
 * The comparisons that the store offers, by placement: its own recipe, and retailers of one site
 * that share a binding.
 */
const VANILLA = { threshold: null, recipe: 'vanilla' } as const;
const SHARING = { threshold: 20, recipe: SHARED } as const;
const NOTHING = { paper: [], spread: [], 'spread, fixed': [] } as const;
const OTHERS: Readonly<Record<Options['binding'], Readonly<Record<Placement, readonly Kind[]>>>> = {
  redblue: NOTHING,
  postgres: NOTHING,
  zookeeper: { ...NOTHING, paper: [VANILLA, SHARING], spread: [VANILLA, SHARING] },
};
type Kind = Omit<Setting, 'placement' | 'stock'>;

export const tickets: Bench = {
  name: 'tickets',
  about:
    'a ticket sale with and without incremental views: latency, customers revoked, tickets oversold',
  takes: ['binding', 'history'],
  run,
};

async function run({ quick, binding = 'redblue', history, progress }: Settings): Promise<Outcome> {
  if (!isBinding(binding))
    throw new UsageError(`--binding takes one of ${BINDINGS.join(', ')}, not "${binding}"`);
  // ZooKeeper's own recipe lists the whole queue for each ticket. With twice as many tickets, a
  // sale takes minutes.
  const stocks = quick ? [200] : binding === 'zookeeper' ? [500] : [500, 1000];
  const rounds = quick ? 2 : 6;
  const settingsOf = (placement: Placement, thresholds: readonly number[]): Setting[] => {
    const others = OTHERS[binding][placement];
    const kinds = [...[null, ...thresholds].map((threshold) => ({ threshold })), ...others];
    return stocks.flatMap((stock) => kinds.map((kind): Setting => ({ placement, stock, ...kind })));
  };
  const paper = settingsOf('paper', THRESHOLDS);
  const spread = settingsOf('spread', [SPREAD_THRESHOLD]);
  const fixed = settingsOf('spread, fixed', [SPREAD_THRESHOLD]);
  const sales = [
    ...(await runSales({ binding, placement: 'paper', settings: paper, rounds, progress })),
    ...(await runSales({ binding, placement: 'spread', settings: spread, rounds, progress })),
    ...(await runSales({ binding, placement: 'spread, fixed', settings: fixed, rounds, progress })),
  ];
  if (history !== undefined) writeHistory(history, sales);

  const rows = [...paper, ...spread, ...fixed].map((setting) => rowOf(setting, sales));
  const name = binding === 'redblue' ? 'tickets' : `tickets-${binding}`;
  const bars = computeGoalResults(rows, AIMS[binding]);
  const versions = await readVersions(binding);
  return { name, versions, rounds, rows, bars, samples: sales.map(sampleOf) };
}

async function readVersions(binding: Options['binding']): Promise<Record<string, string>> {
  if (binding === 'zookeeper') return versionOfEngine('zookeeper');
  if (binding === 'postgres') return { postgres: await readPostgresVersion(), ...versionsOf('pg') };
  return {};
}

function isBinding(name: string): name is Options['binding'] {
  return (BINDINGS as readonly string[]).includes(name);
}

/**
 * Formats a sale with one comma-separated line for each purchase, so that the file stays readable.
 */
function sampleOf({ placement, stock, threshold, recipe, round, sale }: RoundSale): object {
  const columns = 'ticketsLeft,answer,answeredMs,finalMs';
  const purchases = sale.purchases.map(
    ({ ticketsLeft, answer: reported, early, answeredMs, finalMs }) => {
      const ms = [answeredMs, finalMs].map((value) =>
        value === undefined ? '' : Number(value.toPrecision(3)),
      );
      return [ticketsLeft, early === true ? 'early' : reported, ...ms].join(',');
    },
  );
  const { latencyMs: _, ...verdict } = verifySales(sale.history, { threshold: threshold ?? 0 });
  return { placement, stock, threshold, recipe, round, ...verdict, columns, purchases };
}

/** Writes one line for each event of every sale, from which the counts can be computed again. */
function writeHistory(path: string, sales: readonly RoundSale[]): void {
  const lines = sales.flatMap(
    ({ placement, stock, threshold, recipe, round, sale: { history } }) => {
      const sale = `${placement} ${stock} ${[recipe ?? [], threshold ?? 'strong'].flat().join(' ')} ${round}`;
      return history.map((line) => JSON.stringify({ sale, ...line }));
    },
  );
  writeFileSync(path, `${lines.join('\n')}\n`);
}
