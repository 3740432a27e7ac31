/**
 * The sales of the benchmark: the same shop from a queue and by rights, in turn, on two running
 * stores.
 */
import type { Options, Site } from '../../demo/tickets/options.ts';
import { runSale, redistributePool, stockUp, type Sale } from '../../demo/tickets/sale.ts';
import { openRedblue } from '../../demo/tickets/stores/redblue.ts';
import type { SalesStore } from '../../demo/tickets/stores/store.ts';
import { ticketNames } from '../../demo/tickets/ticket-names.ts';

/** The sites of the sellers. The leader of the red order is in Ireland. */
export const PLACEMENTS = {
  'one at each site': ['ireland', 'frankfurt', 'virginia'],
  'frankfurt twice': ['ireland', 'frankfurt', 'virginia', 'frankfurt'],
  'virginia alone': ['virginia', 'virginia', 'virginia'],
} as const satisfies Readonly<Record<string, readonly Site[]>>;

export type Placement = keyof typeof PLACEMENTS;

/** One sale of a round. */
export interface RoundSale {
  readonly placement: Placement;
  readonly stock: Options['stock'];
  readonly round: number;
  readonly sale: Sale;
}

const WARM_UP_TICKETS = 60;
const STOCKS = ['queue', 'rights'] as const;

/** Runs both ways in every round, each round begins with the other way. */
export async function runSales(
  placement: Placement,
  {
    tickets,
    rounds,
    progress,
  }: { tickets: number; rounds: number; progress: (text: string) => void },
): Promise<readonly RoundSale[]> {
  const client = PLACEMENTS[placement];
  const stores: Partial<Record<Options['stock'], SalesStore>> = {};
  try {
    for (const stock of STOCKS) {
      stores[stock] = await openRedblue({ client, isFixed: false, wan: 'paper', stock }, progress);
    }
    const sell = async (stock: Options['stock'], event: string, count: number): Promise<Sale> => {
      const { shops } = stores[stock] as SalesStore;
      const isByRights = stock === 'rights';
      const onSale = await (isByRights ? redistributePool : stockUp)(shops, event, count);
      const names = isByRights ? { nameOf: ticketNames(event) } : {};
      return runSale(shops, {
        event,
        stock: onSale,
        sites: client,
        policy: { threshold: 0 },
        ...names,
      });
    };
    progress(`${placement}: warming up`);
    for (const stock of STOCKS) await sell(stock, `warm-up-${stock}`, WARM_UP_TICKETS);
    const sales: RoundSale[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      progress(`${placement}: sale ${round} of ${rounds}`);
      for (const stock of round % 2 === 0 ? STOCKS.toReversed() : STOCKS) {
        sales.push({
          placement,
          stock,
          round,
          sale: await sell(stock, `${stock}-${round}`, tickets),
        });
      }
    }
    return sales;
  } finally {
    for (const store of Object.values(stores)) await store.close();
  }
}
