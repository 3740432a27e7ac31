/** The sales of the benchmark: each setting and its strong-only baseline once a round, on one store and warm code. */
import type { Options } from '../../demo/tickets/options.ts';
import { runSale, stockUp, type Sale } from '../../demo/tickets/sale.ts';
import { storeOf } from '../../demo/tickets/stores/open.ts';

/** Where the retailers stand; the leader of the red order is in Ireland, as in the paper. */
const CLIENT_SITE = 'frk';
const WARM_UP_TICKETS = 60;

/** One kind of sale. `threshold: null` is a baseline: strong views only. */
export interface Setting {
  readonly stock: number;
  readonly threshold: number | null;
  /** By other means that the store has for comparison. */
  readonly recipe?: string;
}

/** One sale of a round. */
export interface RoundSale extends Setting {
  readonly round: number;
  readonly sale: Sale;
}

export interface SalesOptions {
  readonly binding: Options['binding'];
  readonly retailers: number;
  readonly settings: readonly Setting[];
  readonly rounds: number;
  readonly progress: (text: string) => void;
}

/** Runs every setting in every round, each round beginning with another one. */
export async function runSales(options: SalesOptions): Promise<readonly RoundSale[]> {
  const { binding, retailers, settings, rounds, progress } = options;
  const open = await storeOf(binding);
  const store = await open({ retailers, client: CLIENT_SITE, wan: 'paper' }, progress);
  const sell = async (event: string, { stock, threshold, recipe }: Setting): Promise<Sale> => {
    const shops = recipe === undefined ? store.shops : store.baselines[recipe];
    if (shops === undefined) throw new RangeError(`the ${binding} store has no recipe "${recipe}"`);
    await stockUp(shops, event, stock);
    return runSale(shops, { event, policy: { threshold: threshold ?? 0 }, strongOnly: threshold === null });
  };
  try {
    progress('warming up');
    for (const threshold of [0, null])
      await sell(`warm-up-${String(threshold)}`, { stock: WARM_UP_TICKETS, threshold });
    const sales: RoundSale[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      progress(`sale ${round} of ${rounds}`);
      const first = (round - 1) % settings.length;
      for (const setting of [...settings.slice(first), ...settings.slice(0, first)]) {
        const event = `${setting.stock}-${setting.recipe ?? setting.threshold ?? 'strong'}-${round}`;
        sales.push({ ...setting, round, sale: await sell(event, setting) });
      }
    }
    return sales;
  } finally {
    await store.close();
  }
}
