/** A sale: retailers sell one stock of tickets at the same time until it is gone. */
import { enqueue } from 'correctables/operations';
import { purchaseTicket, type Answer, type PurchaseEvent, type Shop } from './purchase.ts';

/** One line of a sale's history. */
export interface SaleEvent {
  readonly customer: string;
  readonly operation: string;
  readonly kind: 'preliminary' | 'final' | 'told';
  readonly level: string;
  /** The ticket of the view; null when there was none left. */
  readonly item: string | null;
  readonly told?: Answer;
  readonly early?: boolean;
  /** Milliseconds since the sale began. */
  readonly atMs: number;
}

/** One purchase, with what it cost in time. Durations in milliseconds from the call to the view or the answer. */
export interface Purchase {
  readonly customer: string;
  readonly retailer: number;
  readonly preliminaryMs?: number;
  readonly finalMs?: number;
  readonly toldMs?: number;
  readonly told?: Answer;
  readonly early?: boolean;
  /** Tickets left when the purchase began, as the first view that said so put it. */
  readonly ticketsLeft?: number;
  readonly preliminaryItem?: string | null;
  readonly finalItem?: string | null;
}

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

interface Served {
  /** What the customer is told. */
  readonly answer: Promise<Answer>;
  /** Ends with the final view, or its failure. */
  readonly final: PromiseLike<unknown>;
}

export interface Sale {
  readonly purchases: readonly Purchase[];
  readonly history: readonly SaleEvent[];
}

/** Puts `tickets` numbered tickets into the queue of the event. */
export async function stockUp(shop: Shop, event: string, tickets: number): Promise<void> {
  const puts = Array.from({ length: tickets }, (_, n) => shop.invokeStrong(enqueue(event, `${event}#${n + 1}`)));
  await Promise.all(puts);
}

/**
 * Runs a sale until it is sold out.
 *
 * @param retailers the shop as each retailer reaches it: one client per retailer, at the site that it stands beside
 * @throws the first purchase's failure, once all retailers have stopped
 */
export async function runSale(retailers: readonly Shop[], options: SaleOptions): Promise<Sale> {
  const purchases: Purchase[] = [];
  const history: SaleEvent[] = [];
  const startedAt = performance.now();
  const state = { soldOut: false };

  const sell = async (shop: Shop, retailer: number): Promise<void> => {
    const finals: PromiseLike<unknown>[] = [];
    for (let n = 1; !state.soldOut && options.signal?.aborted !== true; n += 1) {
      const customer = `r${retailer + 1}-c${n}`;
      const served = serve(shop, customer, retailer);
      finals.push(served.final);
      if ((await served.answer) === 'no') state.soldOut = true;
      else if (options.paceMs !== undefined) await pause(options.paceMs);
    }
    await Promise.all(finals);
  };

  const serve = (shop: Shop, customer: string, retailer: number): Served => {
    const begunAt = performance.now();
    const index = purchases.push({ customer, retailer }) - 1;
    const { event, threshold, strongOnly = false } = options;
    let final: PromiseLike<unknown> | undefined;
    const answer = new Promise<Answer>((resolve, reject) => {
      const onEvent = (step: PurchaseEvent): void => {
        const now = performance.now();
        const line = { customer, operation: `${event}/${customer}`, ...lineOf(step), atMs: now - startedAt };
        history.push(line);
        options.onEvent?.(line);
        const purchase = advance(purchases[index] as Purchase, step, now - begunAt);
        purchases[index] = purchase;
        options.onPurchase?.(purchase);
        if (step.kind === 'told') resolve(step.told);
      };
      final = purchaseTicket(shop, { event, threshold, strongOnly, onEvent }).onError(reject);
    });
    return { answer, final: final as PromiseLike<unknown> };
  };

  const outcomes = await Promise.allSettled(retailers.map((shop, n) => sell(shop, n)));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return { purchases, history };
}

function lineOf(step: PurchaseEvent): Omit<SaleEvent, 'customer' | 'operation' | 'atMs'> {
  const { kind, level, item } = step;
  return step.kind === 'told' ? { kind, level, item, told: step.told, early: step.early } : { kind, level, item };
}

function advance(purchase: Purchase, event: PurchaseEvent, tookMs: number): Purchase {
  switch (event.kind) {
    case 'preliminary':
      return { ...purchase, preliminaryMs: tookMs, preliminaryItem: event.item, ...leftAtStart(purchase, event) };
    case 'final':
      return { ...purchase, finalMs: tookMs, finalItem: event.item, ...leftAtStart(purchase, event) };
    case 'told':
      return { ...purchase, toldMs: tookMs, told: event.told, early: event.early };
  }
}

function leftAtStart(purchase: Purchase, event: { readonly ticketsLeft?: number }): { ticketsLeft?: number } {
  const ticketsLeft = purchase.ticketsLeft ?? event.ticketsLeft;
  return ticketsLeft === undefined ? {} : { ticketsLeft };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
