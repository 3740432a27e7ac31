/** One customer of a sale: a purchase with its history and its timing. */
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

export interface CustomerOptions {
  readonly customer: string;
  /** Which retailer serves, counted from 0. */
  readonly retailer: number;
  /** The queue that holds the tickets. */
  readonly event: string;
  readonly threshold: number;
  readonly strongOnly?: boolean;
  /** When the sale began, by `performance.now()`. */
  readonly saleBeganAt: number;
  readonly onEvent: (event: SaleEvent) => void;
  /** Called whenever the purchase changes, with what is known so far. */
  readonly onPurchase: (purchase: Purchase) => void;
}

/** A customer being served. */
export interface Served {
  /** What the customer is told; fails if the purchase does before that. */
  readonly answer: Promise<Answer>;
  /** Ends with the final view, or its failure. */
  readonly final: PromiseLike<unknown>;
}

/** Serves one customer. The purchase begins at once. */
export function serveCustomer(shop: Shop, options: CustomerOptions): Served {
  const { customer, retailer, event, threshold, strongOnly = false, saleBeganAt } = options;
  const begunAt = performance.now();
  const told = deferred<Answer>();
  let purchase: Purchase = { customer, retailer };
  const onEvent = (step: PurchaseEvent): void => {
    const now = performance.now();
    options.onEvent({ customer, operation: `${event}/${customer}`, ...lineOf(step), atMs: now - saleBeganAt });
    purchase = advance(purchase, step, now - begunAt);
    options.onPurchase(purchase);
    if (step.kind === 'told') told.resolve(step.told);
  };
  const final = purchaseTicket(shop, { event, threshold, strongOnly, onEvent }).onError(told.reject);
  return { answer: told.promise, final };
}

function lineOf(step: PurchaseEvent): Omit<SaleEvent, 'customer' | 'operation' | 'atMs'> {
  const { kind, level, item } = step;
  return step.kind === 'told' ? { kind, level, item, told: step.told, early: step.early } : { kind, level, item };
}

function advance(purchase: Purchase, step: PurchaseEvent, tookMs: number): Purchase {
  switch (step.kind) {
    case 'preliminary':
      return { ...purchase, preliminaryMs: tookMs, preliminaryItem: step.item, ...leftAtStart(purchase, step) };
    case 'final':
      return { ...purchase, finalMs: tookMs, finalItem: step.item, ...leftAtStart(purchase, step) };
    case 'told':
      return { ...purchase, toldMs: tookMs, told: step.told, early: step.early };
  }
}

function leftAtStart(purchase: Purchase, step: { readonly ticketsLeft?: number }): { ticketsLeft?: number } {
  const ticketsLeft = purchase.ticketsLeft ?? step.ticketsLeft;
  return ticketsLeft === undefined ? {} : { ticketsLeft };
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...(settle as Pick<Deferred<T>, 'resolve' | 'reject'>) };
}
