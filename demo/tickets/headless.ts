/** One sale with early confirmation and the same sale strong only, in one run, over real websockets. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { ticketShop } from './contract.ts';
import type { Options } from './options.ts';
import { count, latencies, percentiles, type Counts, type Latencies, type Percentiles } from './report.ts';
import { runSale, stockUp, type Sale } from './sale.ts';
import type { Purchase, SaleEvent } from './serve-customer.ts';
import type { Shop } from './purchase.ts';
import { startBackend } from './server.ts';

/** The figures of a headless run. */
export interface Figures extends Counts {
  readonly binding: string;
  readonly tickets: number;
  readonly retailers: number;
  readonly threshold: number;
  readonly latencyMs: Latencies;
  readonly baseline: { readonly purchase: Percentiles };
}

/** How many tickets are sold first, uncounted, so that both sales run on warm code. */
const WARM_UP_TICKETS = 40;

/** Runs the sale that `options` describe. `progress` gets lines for a person. */
export async function headlessSale(options: Options, progress: (text: string) => void): Promise<Figures> {
  const { tickets, retailers, threshold, client, wan } = options;
  progress(`starting three sites (delays: ${wan}); ${retailers} retailers beside ${client}`);
  const backend = await startBackend({ wan });
  const shops = Array.from({ length: retailers }, (): Shop =>
    createClient(redblue(ticketShop, { url: backend.siteUrl(client), WebSocket })),
  );
  try {
    await sale('warm-up', { ...options, tickets: WARM_UP_TICKETS }, { shops, progress });
    await sale('warm-up-strong', { ...options, tickets: WARM_UP_TICKETS }, { shops, progress, strongOnly: true });
    const baseline = await sale('baseline', options, { shops, progress, strongOnly: true });
    const incremental = await sale('sale', options, { shops, progress });
    if (options.history !== undefined) await writeHistory(options.history, incremental.history);
    return {
      binding: options.binding,
      tickets,
      retailers,
      threshold,
      ...count(incremental.history, tickets),
      latencyMs: latencies(incremental, threshold),
      baseline: { purchase: percentiles(baseline.purchases, 'toldMs') },
    };
  } finally {
    await Promise.all(shops.map((shop) => shop.close()));
    await backend.close();
  }
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
