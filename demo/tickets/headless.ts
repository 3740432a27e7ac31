/** Runs one sale with early confirmation and the same sale without, on a real store. */
import { writeFile } from 'node:fs/promises';
import type { Options } from './options.ts';
import { verifySales, type Verdict } from './verify/verify-sales.ts';
import type { Percentiles } from './verify/percentiles.ts';
import { runSale, redistributePool, stockUp, type Sale } from './sale.ts';
import type { Purchase, SaleEvent } from './serve-customer.ts';
import type { Shop } from './purchase.ts';
import { ticketNames } from './ticket-names.ts';
import { storeOf } from './stores/open.ts';

/** The figures of a headless run: the verdict on the history of the sale, and its settings. */
export interface Figures extends Verdict {
  readonly binding: string;
  readonly stock: string;
  readonly retailers: number;
  readonly client: readonly string[];
  readonly threshold: number;
  /** The same sale with strong views only. */
  readonly baseline: { readonly purchase: Percentiles };
  /** The same sale by other recipes of the store, if there are any. */
  readonly baselines?: Readonly<Record<string, { readonly purchase: Percentiles }>>;
}

/** How many tickets are sold first, uncounted, so that both sales run on warm code. */
const WARM_UP_TICKETS = 40;

/** Runs the sale that `options` describe. `progress` gets lines for a person. */
export async function headlessSale(
  options: Options,
  progress: (text: string) => void,
): Promise<Figures> {
  const { client, threshold, binding, stock } = options;
  const store = await (await storeOf(binding))({ ...options, isFixed: false }, progress);
  const { shops } = store;
  const purchase = (history: readonly SaleEvent[]): Percentiles =>
    verifySales(history).latencyMs.purchase;
  try {
    await sale('warm-up', { ...options, tickets: WARM_UP_TICKETS }, { shops, progress });
    await sale(
      'warm-up-strong',
      { ...options, tickets: WARM_UP_TICKETS },
      { shops, progress, strongOnly: true },
    );
    const baseline = await sale('baseline', options, { shops, progress, strongOnly: true });
    const baselines: Record<string, { purchase: Percentiles }> = {};
    for (const [name, others] of Object.entries(store.baselines)) {
      const { history } = await sale(name, options, { shops: others, progress, strongOnly: true });
      baselines[name] = { purchase: purchase(history) };
    }
    const incremental = await sale('sale', options, { shops, progress });
    // Judge the lines of the history, which anyone can check.
    const lines = incremental.history.map((line) => JSON.stringify(line));
    if (options.history !== undefined) await writeFile(options.history, `${lines.join('\n')}\n`);
    const verdict = verifySales(
      lines.map((line): unknown => JSON.parse(line)),
      { threshold },
    );
    return {
      binding,
      stock,
      retailers: client.length,
      client,
      threshold,
      ...verdict,
      baseline: { purchase: purchase(baseline.history) },
      ...(Object.keys(baselines).length > 0 && { baselines }),
    };
  } finally {
    await store.close();
  }
}

interface SaleSetting {
  readonly shops: readonly Shop[];
  readonly progress: (text: string) => void;
  readonly strongOnly?: boolean;
}

async function sale(event: string, options: Options, setting: SaleSetting): Promise<Sale> {
  const { shops, progress, strongOnly = false } = setting;
  const { tickets, threshold, client } = options;
  const isByRights = options.stock === 'rights';
  const stock = await (isByRights ? redistributePool : stockUp)(shops, event, tickets);
  let reported = 0;
  const onPurchase = (purchase: Purchase): void => {
    if (purchase.answer === undefined || purchase.finalMs !== undefined) return;
    reported += 1;
    if (reported % Math.ceil(tickets / 5) === 0)
      progress(`${event}: ${reported} customers answered`);
  };
  const names = isByRights ? { nameOf: ticketNames(event) } : {};
  const done = await runSale(shops, {
    event,
    stock,
    sites: client,
    policy: { threshold },
    strongOnly,
    onPurchase,
    ...names,
  });
  progress(`${event}: sold out, ${tickets} tickets${strongOnly ? ', strong only' : ''}`);
  return done;
}
