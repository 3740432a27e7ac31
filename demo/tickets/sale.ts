/** Runs a sale: retailers sell one stock of tickets at the same time until it is sold out. */
import { enqueue, peek } from 'correctables/operations';
import { ticketShop } from './contract.ts';
import { pause } from './pause.ts';
import type { Shop } from './purchase.ts';
import { serveCustomer, type Purchase, type SaleEvent } from './serve-customer.ts';

/**
 * How retailers sell. It is read again for each customer, so that it can be changed during a sale.
 */
export interface SalePolicy {
  /** Answers yes early only while more tickets than this are left. */
  readonly threshold: number;
  /**
   * Whether to use only the threshold, as the paper does. Otherwise more tickets must also be left
   * than others may have taken.
   */
  readonly isFixed?: boolean;
  /** A pause between two customers of one retailer, in milliseconds. Default: none */
  readonly paceMs?: number;
}

export interface SaleOptions {
  /** The queue that holds the tickets. */
  readonly event: string;
  readonly policy: SalePolicy;
  /** The tickets that are on sale, for the history. */
  readonly stock?: readonly string[];
  /** The site of each retailer, for the history. */
  readonly sites?: readonly string[];
  /**
   * Returns a name for the item of a final view, if tickets have no numbers. Default: the item
   * itself
   */
  readonly nameOf?: (item: string) => string;
  /** Whether to request only the strongest view: the baseline without incremental consistency. */
  readonly strongOnly?: boolean;
  /** Ends the sale early: customers that are being served get their answers. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SaleEvent) => void;
  /** Called whenever a purchase changes, with what is known so far. */
  readonly onPurchase?: (purchase: Purchase) => void;
  /**
   * Called when a purchase has failed. Resolves when the retailer may continue. Rejects to stop the
   * retailer, which ends the sale with that reason once all have stopped. Default: every failure
   * ends the sale
   */
  readonly recover?: (failure: unknown, retailer: number) => Promise<void>;
}

export interface Sale {
  /** The purchases in the order in which they began. */
  readonly purchases: readonly Purchase[];
  readonly history: readonly SaleEvent[];
}

/**
 * Puts `tickets` numbered tickets into the queue of the event, and waits until every retailer can
 * see them.
 *
 * @returns the tickets
 */
export async function stockUp(
  retailers: readonly Shop[],
  event: string,
  tickets: number,
): Promise<readonly string[]> {
  const [first] = retailers;
  if (first === undefined) throw new RangeError('a sale needs a retailer');
  const stock = Array.from({ length: tickets }, (_, n) => `${event}#${n + 1}`);
  await Promise.all(stock.map((ticket) => first.invokeStrong(enqueue(event, ticket))));
  await Promise.all(retailers.map((shop) => shop.invokeStrong(peek(event))));
  return stock;
}

/**
 * Opens an event whose tickets have no numbers, and waits until every retailer's site holds some of
 * them.
 *
 * @returns the names of the tickets in the history
 */
export async function redistributePool(
  retailers: readonly Shop[],
  event: string,
  tickets: number,
): Promise<readonly string[]> {
  const [first] = retailers;
  if (first === undefined) throw new RangeError('a sale needs a retailer');
  await first.invokeStrong(ticketShop.openEvent({ event, tickets }));
  const untilMs = performance.now() + SHARE_OUT_MAX_MS;
  for (const shop of retailers) {
    for (let isReady = false; !isReady && performance.now() < untilMs;) {
      const { meta } = await shop.invokeWeak(peek(event)).settle();
      isReady = Number(meta?.['rights'] ?? 0) > 0;
      if (!isReady) await pause(SHARE_OUT_LOOK_MS);
    }
  }
  return Array.from({ length: tickets }, (_, n) => `${event}#${n + 1}`);
}

/** The maximum wait. If there are fewer tickets than sites, some sites never hold one. */
const SHARE_OUT_MAX_MS = 1000;
const SHARE_OUT_LOOK_MS = 10;

/**
 * Runs a sale until it is sold out.
 *
 * @param retailers the shop as each retailer reaches it
 * @throws the failure of the first retailer that did not recover, once all have stopped
 */
export async function runSale(retailers: readonly Shop[], options: SaleOptions): Promise<Sale> {
  const {
    event,
    policy,
    stock = [],
    sites = [],
    strongOnly = false,
    nameOf,
    signal,
    recover = giveUp,
  } = options;
  const purchases = new Map<string, Purchase>();
  const history: SaleEvent[] = [];
  const saleBeganAt = performance.now();
  let soldOut = false;
  const isOpen = (): boolean => !soldOut && signal?.aborted !== true;

  const onEvent = (line: SaleEvent): void => {
    history.push(line);
    options.onEvent?.(line);
  };
  const onPurchase = (purchase: Purchase): void => {
    purchases.set(purchase.customer, purchase);
    options.onPurchase?.(purchase);
  };
  const sell = async (shop: Shop, retailer: number): Promise<void> => {
    const inBackground: Promise<unknown>[] = [];
    for (let n = 1; isOpen(); n += 1) {
      const customer = `r${retailer + 1}-c${n}`;
      const { threshold, isFixed } = policy;
      const sale = {
        event,
        threshold,
        isFixed,
        strongOnly,
        nameOf,
        saleBeganAt,
        onEvent,
        onPurchase,
      };
      const { answer, failure } = serveCustomer(shop, {
        customer,
        retailer,
        site: sites[retailer],
        ...sale,
      });
      const reported = await answer;
      if (reported === undefined) await recover(await failure, retailer);
      else inBackground.push(failure);
      if (reported === 'no') soldOut = true;
      else if (policy.paceMs !== undefined) await pause(policy.paceMs, signal);
    }
    for (const failure of await Promise.all(inBackground))
      if (failure !== undefined) await recover(failure, retailer);
  };

  for (const item of stock) onEvent({ kind: 'stocked', item, atMs: 0 });
  const outcomes = await Promise.allSettled(retailers.map(sell));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { purchases: [...purchases.values()], history };
}

async function giveUp(failure: unknown): Promise<void> {
  throw failure;
}
