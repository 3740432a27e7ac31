/**
 * Sells one ticket (Correctables, OSDI 2016, Listing 5): answers yes on the early view while many
 * tickets are left, and waits for the final view when few are left.
 */
import type { AnyClient, AnyView, Correctable, Levels } from 'correctables';
import { dequeue, getSafeThreshold, type QueueItem } from 'correctables/operations';

/** A place that sells: a client of any store that offers queues. */
export type Shop = AnyClient;

/** The answer that a customer gets. */
export type Answer = 'yes' | 'no';

/** What happens in the course of one purchase, in order. */
export type PurchaseEvent =
  | {
      readonly kind: 'preliminary' | 'final';
      readonly level: string;
      readonly item: string | null;
      /** Tickets left when the purchase began, the one about to be sold included. */
      readonly ticketsLeft: number;
      /** More tickets than this must be left for an early yes. Only for preliminary views. */
      readonly needed?: number;
    }
  | {
      readonly kind: 'answered';
      readonly level: string;
      readonly item: string | null;
      readonly answer: Answer;
      readonly early: boolean;
    };

export interface PurchaseOptions {
  /** The queue that holds the tickets. */
  readonly event: string;
  /**
   * Answers yes early only while more tickets than this are left, the one about to be sold
   * included.
   */
  readonly threshold: number;
  /**
   * Whether to use only the threshold, as the paper does. Otherwise more tickets must also be left
   * than others may have taken.
   */
  readonly isFixed?: boolean;
  /** Whether to request only the strongest view: the baseline without incremental consistency. */
  readonly strongOnly?: boolean;
  /** Returns a name for the item of the final view. Default: the item itself */
  readonly nameOf?: ((item: string) => string) | undefined;
  readonly onEvent: (event: PurchaseEvent) => void;
}

/**
 * Buys a ticket. The customer gets one answer, through `onEvent`. The Correctable closes with the
 * final view.
 */
export function purchaseTicket(shop: Shop, options: PurchaseOptions): Purchase {
  return options.strongOnly === true ? sellWhenConfirmed(shop, options) : sellEarly(shop, options);
}

type Purchase = Correctable<QueueItem<string> | null, Levels, string>;

/** Answers yes on the early view while many tickets are left. */
function sellEarly(shop: Shop, options: PurchaseOptions): Purchase {
  const customer = new Customer(options);
  return shop
    .invoke(dequeue<string>(options.event))
    .onUpdate((ticket, view) => {
      const needed = customer.ticketsNeeded(view);
      const { item, ticketsLeft } = customer.hear('preliminary', ticket, view, needed);
      if (item !== null && ticketsLeft > needed) customer.answer(view.level, item, true);
    })
    .onFinal((ticket, view) => {
      const { item } = customer.hear('final', ticket, view);
      customer.answer(view.level, item, false);
    });
}

/** Waits for the final view. */
function sellWhenConfirmed(shop: Shop, options: PurchaseOptions): Purchase {
  const customer = new Customer(options);
  return shop.invokeStrong(dequeue<string>(options.event)).onFinal((ticket, view) => {
    const { item } = customer.hear('final', ticket, view);
    customer.answer(view.level, item, false);
  });
}

type SeenView = Pick<AnyView, 'final' | 'level' | 'meta'>;

/** A customer who gets one answer, whatever happens later. */
class Customer {
  readonly #options: PurchaseOptions;
  #isAnswered = false;

  constructor(options: PurchaseOptions) {
    this.#options = options;
  }

  /** Reports a view. */
  hear(
    kind: 'preliminary' | 'final',
    ticket: QueueItem<string> | null,
    { level, meta }: SeenView,
    needed?: number,
  ): { readonly item: string | null; readonly ticketsLeft: number } {
    const { nameOf = asItIs, onEvent } = this.#options;
    const item = ticket === null ? null : kind === 'final' ? nameOf(ticket.item) : ticket.item;
    const ticketsLeft = item === null ? 0 : remainingOf(meta) + 1;
    onEvent({ kind, level, item, ticketsLeft, ...(needed !== undefined && { needed }) });
    return { item, ticketsLeft };
  }

  /** Returns how many tickets must be exceeded for an early yes. */
  ticketsNeeded(view: SeenView): number {
    const { isFixed = false, threshold } = this.#options;
    return isFixed ? threshold : Math.max(threshold, getSafeThreshold(view));
  }

  answer(level: string, item: string | null, early: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#options.onEvent({
      kind: 'answered',
      level,
      item,
      answer: item === null ? 'no' : 'yes',
      early,
    });
  }
}

const asItIs = (item: string): string => item;

/**
 * Returns how many items are left after a dequeue; 0 if unknown, so that no customer gets an answer
 * too early.
 */
function remainingOf(meta: Readonly<Record<string, unknown>> | undefined): number {
  const remaining = meta?.['remaining'];
  return typeof remaining === 'number' ? remaining : -1;
}
