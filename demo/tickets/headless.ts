/** One sale with early confirmation and the same sale without, in one run, on a real store. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Options } from './options.ts';
import { count, latencies, percentiles, type Counts, type Latencies, type Percentiles } from './report.ts';
import { runSale, stockUp, type Sale } from './sale.ts';
import type { Purchase, SaleEvent } from './serve-customer.ts';
import type { Shop } from './purchase.ts';
import { storeOf } from './stores/open.ts';
import type { SalesStore } from './stores/store.ts';

/** The figures of a headless run. */
export interface Figures extends Counts {
  readonly binding: string;
  readonly tickets: number;
  readonly retailers: number;
  readonly threshold: number;
  readonly latencyMs: Latencies;
  /** The same sale with strong views only. */
  readonly baseline: { readonly purchase: Percentiles };
  /** The same sale by other means, where the store has some. */
  readonly baselines?: Readonly<Record<string, { readonly purchase: Percentiles }>>;
}

/** How many tickets are sold first, uncounted, so that both sales run on warm code. */
const WARM_UP_TICKETS = 40;

/** Runs the sale that `options` describe. `progress` gets lines for a person. */
export async function headlessSale(options: Options, progress: (text: string) => void): Promise<Figures> {
  const { tickets, retailers, threshold, binding } = options;
  const store = await (await storeOf(binding))(options, progress);
  const { shops } = store;
  try {
    await warnOfThreshold(store, threshold, progress);
    await sale('warm-up', { ...options, tickets: WARM_UP_TICKETS }, { shops, progress });
    await sale('warm-up-strong', { ...options, tickets: WARM_UP_TICKETS }, { shops, progress, strongOnly: true });
    const baseline = await sale('baseline', options, { shops, progress, strongOnly: true });
    const baselines: Record<string, { purchase: Percentiles }> = {};
    for (const [name, others] of Object.entries(store.baselines)) {
      const { purchases } = await sale(name, options, { shops: others, progress, strongOnly: true });
      baselines[name] = { purchase: percentiles(purchases, 'toldMs') };
    }
    const incremental = await sale('sale', options, { shops, progress });
    if (options.history !== undefined) await writeHistory(options.history, incremental.history);
    return {
      binding,
      tickets,
      retailers,
      threshold,
      ...count(incremental.history, tickets),
      latencyMs: latencies(incremental, threshold),
      baseline: { purchase: percentiles(baseline.purchases, 'toldMs') },
      ...(Object.keys(baselines).length > 0 && { baselines }),
    };
  } finally {
    await store.close();
  }
}

/** Sales under way that no estimate knows of can break an early yes: the threshold has to cover them. */
async function warnOfThreshold(store: SalesStore, threshold: number, progress: (text: string) => void): Promise<void> {
  const least = await store.leastThreshold?.();
  if (least === undefined || threshold >= least) return;
  progress(`--threshold ${threshold}: other sellers may have ${least} sales under way that no early view knows of`);
}

interface SaleSetting {
  readonly shops: readonly Shop[];
  readonly progress: (text: string) => void;
  readonly strongOnly?: boolean;
}

async function sale(event: string, options: Options, setting: SaleSetting): Promise<Sale> {
  const { shops, progress, strongOnly = false } = setting;
  const { tickets, threshold } = options;
  await stockUp(shops, event, tickets);
  let told = 0;
  const onPurchase = (purchase: Purchase): void => {
    if (purchase.told === undefined || purchase.finalMs !== undefined) return;
    told += 1;
    if (told % Math.ceil(tickets / 5) === 0) progress(`${event}: ${told} customers told`);
  };
  const done = await runSale(shops, { event, policy: { threshold }, strongOnly, onPurchase });
  progress(`${event}: sold out, ${tickets} tickets${strongOnly ? ', strong only' : ''}`);
  return done;
}

async function writeHistory(path: string, history: readonly SaleEvent[]): Promise<void> {
  const file = createWriteStream(path);
  for (const line of history) file.write(`${JSON.stringify(line)}\n`);
  file.end();
  await once(file, 'close');
}
