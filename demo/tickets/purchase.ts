/**
 * Selling one ticket (Correctables, OSDI 2016, Listing 5): say yes on the early view while plenty of tickets are left,
 * wait for the final one when few are.
 */
import type { AnyClient, Correctable, Levels } from 'correctables';
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

/** Buys a ticket; the customer is told through `onEvent`, once. The Correctable closes with the final view. */
export function purchaseTicket(
  shop: Shop,
  options: PurchaseOptions,
): Correctable<QueueItem<string> | null, Levels, string> {
  const { event, threshold, isFixed = false, strongOnly = false, nameOf = asItIs, onEvent } = options;
  let reported = false;
  const tell = (level: string, item: string | null, early: boolean): void => {
    reported = true;
    onEvent({ kind: 'answered', level, item, answer: item === null ? 'no' : 'yes', early });
  };

  const purchase = strongOnly ? shop.invokeStrong(dequeue<string>(event)) : shop.invoke(dequeue<string>(event));
  return purchase
    .onUpdate((ticket, view) => {
      const item = ticket?.item ?? null;
      const ticketsLeft = item === null ? 0 : remainingOf(view.meta) + 1;
      const needed = isFixed ? threshold : Math.max(threshold, getSafeThreshold(view));
      onEvent({ kind: 'preliminary', level: view.level, item, ticketsLeft, needed });
      if (!reported && item !== null && ticketsLeft > needed) tell(view.level, item, true);
    })
    .onFinal((ticket, view) => {
      const item = ticket === null ? null : nameOf(ticket.item);
      onEvent({ kind: 'final', level: view.level, item, ticketsLeft: item === null ? 0 : remainingOf(view.meta) + 1 });
      if (!reported) tell(view.level, item, false);
    });
}

const asItIs = (item: string): string => item;

/** How many items the store says are left after a dequeue; none if it does not say, so that nobody is told too early. */
function remainingOf(meta: Readonly<Record<string, unknown>> | undefined): number {
  const remaining = meta?.['remaining'];
  return typeof remaining === 'number' ? remaining : -1;
}
