/**
 * One customer of a sale: a purchase with its history and its timing, retried while the store is
 * overloaded.
 */
import { isCorrectableError } from 'correctables';
import { purchaseTicket, type Answer, type PurchaseEvent, type Shop } from './purchase.ts';
import { retry } from './retry.ts';

/** One line of a sale's history: a ticket put on sale, or a step of a purchase. */
export type SaleEvent =
  | { readonly kind: 'stocked'; readonly item: string; readonly atMs: number }
  | CustomerEvent;

/** One step of a purchase. */
export type CustomerEvent = {
  readonly customer: string;
  readonly operation: string;
  /** Milliseconds since the sale began. */
  readonly atMs: number;
} & (
  | { readonly kind: 'begun'; readonly retailer: number; readonly site?: string }
  | { readonly kind: 'failed'; readonly code: string }
  | PurchaseEvent
);

/** One purchase, with its times: milliseconds from the first attempt to the view or the answer. */
export interface Purchase {
  readonly customer: string;
  readonly retailer: number;
  readonly preliminaryMs?: number;
  readonly finalMs?: number;
  readonly answeredMs?: number;
  readonly answer?: Answer;
  readonly early?: boolean;
  /** Tickets left when the purchase began, by the first view that contained their number. */
  readonly ticketsLeft?: number;
  readonly preliminaryItem?: string | null;
  readonly finalItem?: string | null;
  /** How often the store was too busy to accept the purchase. */
  readonly retries?: number;
  /**
   * Why there will be no final view. Unless the error rules it out, a ticket may have been taken.
   */
  readonly failure?: unknown;
}

export interface CustomerOptions {
  readonly customer: string;
  /** Which retailer serves, counted from 0. */
  readonly retailer: number;
  /** The queue that holds the tickets. */
  readonly event: string;
  /** The site of that retailer, for the history. */
  readonly site?: string | undefined;
  readonly threshold: number;
  readonly isFixed?: boolean | undefined;
  readonly strongOnly?: boolean;
  readonly nameOf?: ((item: string) => string) | undefined;
  /** When the sale began, by `performance.now()`. */
  readonly saleBeganAt: number;
  readonly onEvent: (event: CustomerEvent) => void;
  /** Called whenever the purchase changes, with what is known so far. */
  readonly onPurchase: (purchase: Purchase) => void;
}

/** A customer being served. Neither promise rejects. */
export interface Served {
  /** The answer to the customer; undefined if the purchase fails before. */
  readonly answer: Promise<Answer | undefined>;
  /** Resolves when the purchase is over: with its failure, if it has failed. */
  readonly failure: Promise<unknown>;
}

/** Serves one customer. The purchase begins at once. */
export function serveCustomer(shop: Shop, options: CustomerOptions): Served {
  const {
    customer,
    retailer,
    site,
    event,
    threshold,
    isFixed = false,
    strongOnly = false,
    nameOf,
    saleBeganAt,
  } = options;
  const begunAt = performance.now();
  const whose = { customer, operation: `${event}/${customer}` };
  let purchase: Purchase = { customer, retailer };
  let answered: (answer: Answer | undefined) => void = () => {};
  const answer = new Promise<Answer | undefined>((resolve) => (answered = resolve));
  const change = (next: Purchase): void => options.onPurchase((purchase = next));
  const onEvent = (step: PurchaseEvent): void => {
    const now = performance.now();
    options.onEvent({ ...whose, ...step, atMs: now - saleBeganAt });
    change(advance(purchase, step, now - begunAt));
    if (step.kind === 'answered') answered(step.answer);
  };
  options.onEvent({
    ...whose,
    kind: 'begun',
    retailer,
    ...(site && { site }),
    atMs: begunAt - saleBeganAt,
  });
  change(purchase); // List the purchase now, so that purchases are in the order in which customers arrive.
  const attempt = (): PromiseLike<unknown> =>
    purchaseTicket(shop, { event, threshold, isFixed, strongOnly, nameOf, onEvent });
  const served = retry(attempt, {
    onRetry: (retries) => change({ ...purchase, retries }),
    // Do not retry after a view: the purchase was accepted, and a retry would buy another ticket.
    mayRetry: () => purchase.preliminaryMs === undefined,
  });
  const failure = served.then(
    () => undefined,
    (reason: unknown) => {
      const code = isCorrectableError(reason) ? reason.code : String(reason);
      options.onEvent({ ...whose, kind: 'failed', code, atMs: performance.now() - saleBeganAt });
      change({ ...purchase, failure: reason });
      answered(undefined);
      return reason;
    },
  );
  return { answer, failure };
}

function advance(purchase: Purchase, step: PurchaseEvent, tookMs: number): Purchase {
  switch (step.kind) {
    case 'preliminary':
      return {
        ...purchase,
        preliminaryMs: tookMs,
        preliminaryItem: step.item,
        ...leftAtStart(purchase, step),
      };
    case 'final':
      return { ...purchase, finalMs: tookMs, finalItem: step.item, ...leftAtStart(purchase, step) };
    case 'answered':
      return { ...purchase, answeredMs: tookMs, answer: step.answer, early: step.early };
  }
}

function leftAtStart(
  purchase: Purchase,
  step: { readonly ticketsLeft: number },
): { ticketsLeft: number } {
  return { ticketsLeft: purchase.ticketsLeft ?? step.ticketsLeft };
}
