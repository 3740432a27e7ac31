/** The sales of the benchmark: each setting and its strong-only baseline once a round, on one backend and warm code. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { ticketShop } from '../../demo/tickets/contract.ts';
import type { Shop } from '../../demo/tickets/purchase.ts';
import { runSale, stockUp, type Sale } from '../../demo/tickets/sale.ts';
import { startBackend } from '../../demo/tickets/server.ts';

/** Where the retailers stand; the leader of the red order is in Ireland, as in the paper. */
const CLIENT_SITE = 'frk';
const WARM_UP_TICKETS = 60;

/** One kind of sale. `threshold: null` is the baseline: strong views only. */
export interface Setting {
  readonly stock: number;
  readonly threshold: number | null;
}

/** One sale of a round. */
export interface RoundSale extends Setting {
  readonly round: number;
  readonly sale: Sale;
}

export interface SalesOptions {
  readonly retailers: number;
  readonly settings: readonly Setting[];
  readonly rounds: number;
  readonly progress: (text: string) => void;
}

/** Runs every setting in every round, each round beginning with another one. */
export async function runSales({ retailers, settings, rounds, progress }: SalesOptions): Promise<readonly RoundSale[]> {
  const backend = await startBackend({ wan: 'paper' });
  const shops = Array.from({ length: retailers }, (): Shop =>
    createClient(redblue(ticketShop, { url: backend.siteUrl(CLIENT_SITE), WebSocket })),
  );
  const sell = async (event: string, { stock, threshold }: Setting): Promise<Sale> => {
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
        const event = `${setting.stock}-${setting.threshold ?? 'strong'}-${round}`;
        sales.push({ ...setting, round, sale: await sell(event, setting) });
      }
    }
    return sales;
  } finally {
    await Promise.all(shops.map((shop) => shop.close()));
    await backend.close();
  }
}
