/**
 * The sales of the benchmark: each setting and its strong-only baseline once a round, on one store
 * and warm code.
 */
import type { Options, Site } from '../../demo/tickets/options.ts';
import { runSale, stockUp, type Sale } from '../../demo/tickets/sale.ts';
import { storeOf } from '../../demo/tickets/stores/open.ts';
import { rotate } from '../harness/rotate.ts';

/**
 * The sites of the four retailers. The leader of the order is in Ireland. `paper`: as in the paper,
 * with a fixed threshold only. `spread`: at all three sites, and more tickets must be left than
 * other retailers may have sold. `spread, fixed`: at all three sites with a fixed threshold only.
 */
export const PLACEMENTS = {
  paper: { client: ['frankfurt', 'frankfurt', 'frankfurt', 'frankfurt'], isFixed: true },
  spread: { client: ['ireland', 'frankfurt', 'virginia', 'frankfurt'], isFixed: false },
  'spread, fixed': { client: ['ireland', 'frankfurt', 'virginia', 'frankfurt'], isFixed: true },
} as const satisfies Readonly<
  Record<string, { readonly client: readonly Site[]; readonly isFixed: boolean }>
>;

export type Placement = keyof typeof PLACEMENTS;

const WARM_UP_TICKETS = 60;

/** One kind of sale. `threshold: null` is a baseline: strong views only. */
export interface Setting {
  readonly placement: Placement;
  readonly stock: number;
  readonly threshold: number | null;
  /**
   * A comparison that the store offers: another recipe with strong views only, or the same views
   * with another connection.
   */
  readonly recipe?: string;
}

/** One sale of a round. */
export interface RoundSale extends Setting {
  readonly round: number;
  readonly sale: Sale;
}

export interface SalesOptions {
  readonly binding: Options['binding'];
  readonly placement: Placement;
  /** The settings of this placement. */
  readonly settings: readonly Setting[];
  readonly rounds: number;
  readonly progress: (text: string) => void;
}

/** Runs every setting in every round, each round begins with another setting. */
export async function runSales(options: SalesOptions): Promise<readonly RoundSale[]> {
  const { binding, placement, settings, rounds, progress } = options;
  const { client, isFixed } = PLACEMENTS[placement];
  const open = await storeOf(binding);
  const store = await open({ client, isFixed, wan: 'paper', stock: 'queue' }, progress);
  const sell = async (
    event: string,
    { stock, threshold, recipe }: Omit<Setting, 'placement'>,
  ): Promise<Sale> => {
    const others = { ...store.baselines, ...store.alternatives };
    const shops = recipe === undefined ? store.shops : others[recipe];
    if (shops === undefined) throw new RangeError(`the ${binding} store has no recipe "${recipe}"`);
    const tickets = await stockUp(shops, event, stock);
    const policy = { threshold: threshold ?? 0, isFixed };
    return runSale(shops, {
      event,
      stock: tickets,
      sites: client,
      policy,
      strongOnly: threshold === null,
    });
  };
  try {
    progress(`${placement}: warming up`);
    for (const threshold of [0, null])
      await sell(`warm-up-${String(threshold)}`, { stock: WARM_UP_TICKETS, threshold });
    const sales: RoundSale[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      progress(`${placement}: sale ${round} of ${rounds}`);
      for (const setting of rotate(settings, round - 1)) {
        const event = `${setting.stock}-${setting.recipe ?? ''}-${setting.threshold ?? 'strong'}-${round}`;
        sales.push({ ...setting, round, sale: await sell(event, setting) });
      }
    }
    return sales;
  } finally {
    await store.close();
  }
}
