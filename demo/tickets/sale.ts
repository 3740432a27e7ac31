/** A sale: retailers sell one stock of tickets at the same time until it is gone. */
import { enqueue, peek } from 'correctables/operations';
import type { Shop } from './purchase.ts';
import { serveCustomer, type Purchase, type SaleEvent } from './serve-customer.ts';

export interface SaleOptions {
  /** The queue that holds the tickets. */
  readonly event: string;
  readonly threshold: number;
  readonly strongOnly?: boolean;
  /** A pause between two customers of one retailer, in milliseconds; none by default. */
  readonly paceMs?: number;
  /** Ends the sale early: customers being served are served to the end. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SaleEvent) => void;
  /** Called whenever a purchase changes, with what is known so far. */
  readonly onPurchase?: (purchase: Purchase) => void;
}

export interface Sale {
  /** In the order in which they began. */
  readonly purchases: readonly Purchase[];
  readonly history: readonly SaleEvent[];
}

/** Puts `tickets` numbered tickets into the queue of the event, and waits until every retailer can see them. */
export async function stockUp(retailers: readonly Shop[], event: string, tickets: number): Promise<void> {
  const [first] = retailers;
  if (first === undefined) throw new RangeError('a sale needs a retailer');
  const puts = Array.from({ length: tickets }, (_, n) => first.invokeStrong(enqueue(event, `${event}#${n + 1}`)));
  await Promise.all(puts);
  await Promise.all(retailers.map((shop) => shop.invokeStrong(peek(event))));
}

/**
 * Runs a sale until it is sold out.
 *
 * @param retailers the shop as each retailer reaches it: one client per retailer, at the site that it stands beside
 * @throws the first purchase's failure, once all retailers have stopped
 */
export async function runSale(retailers: readonly Shop[], options: SaleOptions): Promise<Sale> {
  const { event, threshold, strongOnly = false } = options;
  const purchases = new Map<string, Purchase>();
  const history: SaleEvent[] = [];
  const saleBeganAt = performance.now();
  let soldOut = false;

  const onEvent = (line: SaleEvent): void => {
    history.push(line);
    options.onEvent?.(line);
  };
  const onPurchase = (purchase: Purchase): void => {
    purchases.set(purchase.customer, purchase);
    options.onPurchase?.(purchase);
  };
  const sell = async (shop: Shop, retailer: number): Promise<void> => {
    const finals: PromiseLike<unknown>[] = [];
    for (let n = 1; !soldOut && options.signal?.aborted !== true; n += 1) {
      const customer = `r${retailer + 1}-c${n}`;
      const sale = { event, threshold, strongOnly, saleBeganAt, onEvent, onPurchase };
      const served = serveCustomer(shop, { customer, retailer, ...sale });
      finals.push(served.final);
      if ((await served.answer) === 'no') soldOut = true;
      else if (options.paceMs !== undefined) await pause(options.paceMs);
    }
    await Promise.all(finals);
  };

  const outcomes = await Promise.allSettled(retailers.map(sell));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return { purchases: [...purchases.values()], history };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
