/**
 * Selling one ticket (Correctables, OSDI 2016, Listing 5): say yes on the early view while plenty of tickets are left,
 * wait for the final one when few are.
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
      /** More than so many must be left for an early yes: of preliminary views. */
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
  /** Say yes early only while more than this many tickets are left, the one about to be sold included. */
  readonly threshold: number;
  /** Trust the threshold alone, as the paper does; otherwise more must be left than others may have taken. */
  readonly isFixed?: boolean;
  /** Ask for the strongest view only: the baseline without incremental consistency. */
  readonly strongOnly?: boolean;
  /** Names what the final hands out; as it is unless given. */
  readonly nameOf?: ((item: string) => string) | undefined;
  readonly onEvent: (event: PurchaseEvent) => void;
}

/** Buys a ticket; the customer is answered through `onEvent`, once. The Correctable closes with the final view. */
export function purchaseTicket(shop: Shop, options: PurchaseOptions): Purchase {
  return options.strongOnly === true ? sellWhenConfirmed(shop, options) : sellEarly(shop, options);
}

type Purchase = Correctable<QueueItem<string> | null, Levels, string>;

/** Answers yes on the early answer while plenty of tickets are left. */
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

/** Waits for the confirmed answer. */
function sellWhenConfirmed(shop: Shop, options: PurchaseOptions): Purchase {
  const customer = new Customer(options);
  return shop.invokeStrong(dequeue<string>(options.event)).onFinal((ticket, view) => {
    const { item } = customer.hear('final', ticket, view);
    customer.answer(view.level, item, false);
  });
}

type SeenView = Pick<AnyView, 'final' | 'level' | 'meta'>;

/** A customer who is answered once, whatever comes later. */
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

  /** More than so many tickets must be left for an early yes. */
  ticketsNeeded(view: SeenView): number {
    const { isFixed = false, threshold } = this.#options;
    return isFixed ? threshold : Math.max(threshold, getSafeThreshold(view));
  }

  answer(level: string, item: string | null, early: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#options.onEvent({ kind: 'answered', level, item, answer: item === null ? 'no' : 'yes', early });
  }
}

const asItIs = (item: string): string => item;

/** How many items are left after a dequeue by the store; 0 if unknown, so that no customer gets an answer too early. */
function remainingOf(meta: Readonly<Record<string, unknown>> | undefined): number {
  const remaining = meta?.['remaining'];
  return typeof remaining === 'number' ? remaining : -1;
}
