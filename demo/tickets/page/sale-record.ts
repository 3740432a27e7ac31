/**
 * One stock of tickets and all that this page has sold of it, with the same stock sold without
 * incremental views.
 */
import type { Purchase, SaleEvent } from '../serve-customer.ts';

/** One purchase as the page lists it. */
export interface Row extends Purchase {
  /** The site of the retailer. */
  readonly site: string;
  /** The sites that have served it, in order: several if the retailer has moved. */
  readonly path: readonly string[];
  readonly byHand: boolean;
}

/** A sale as the page shows it. */
export interface SaleRecord {
  /** The queue that holds the tickets. */
  readonly event: string;
  readonly tickets: number;
  /** Tickets left, as far as this page knows. */
  readonly left: number;
  /** By customer, in the order in which they came. */
  readonly rows: ReadonlyMap<string, Row>;
  readonly history: readonly SaleEvent[];
  /** The purchases without incremental views; empty if nothing is compared. */
  readonly baseline: ReadonlyMap<string, Row>;
}

/** A sale under way. */
export class OpenSale implements SaleRecord {
  readonly event: string;
  readonly rows = new Map<string, Row>();
  readonly history: SaleEvent[] = [];
  readonly baseline = new Map<string, Row>();
  /** Ends the sale. */
  readonly stop: AbortController = new AbortController();
  /** By `performance.now()`. */
  readonly beganAt: number = performance.now();
  tickets = 0;
  /** Returns a name for the item of a final view, if tickets have no numbers. */
  nameOf: ((item: string) => string) | undefined;
  /** Tickets left, as the store last reported; others may sell from the same stock. */
  heardLeft = Infinity;

  constructor(
    event = `concert-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
  ) {
    this.event = event;
  }

  /** Called when this number of tickets was put on sale, by this page or another. */
  stock(tickets: number): void {
    this.tickets = tickets;
    for (let n = 1; n <= tickets; n += 1) {
      this.history.push({ kind: 'stocked', item: `${this.event}#${n}`, atMs: 0 });
    }
  }

  get left(): number {
    return Math.min(this.heardLeft, this.tickets - soldTo(this.rows));
  }

  /** The queue from which the same number of tickets is sold without incremental views. */
  get baselineEvent(): string {
    return `${this.event}-strong`;
  }
}

/**
 * Returns the tickets of the baseline that are left, as its views showed. Sales of other tabs are
 * included.
 */
export function baselineLeft({ tickets, baseline }: SaleRecord): number {
  let left = tickets;
  for (const { ticketsLeft } of baseline.values()) {
    if (ticketsLeft !== undefined) left = Math.min(left, Math.max(0, ticketsLeft - 1));
  }
  return left;
}

/**
 * Returns the number of tickets that other pages have sold: they are gone, but no customer here has
 * them or may still get them.
 */
export function soldElsewhere({ tickets, left, rows }: SaleRecord): number {
  let here = 0;
  for (const { finalItem, failure } of rows.values()) {
    const isUnderWay = finalItem === undefined && failure === undefined;
    if (isUnderWay || typeof finalItem === 'string') here += 1;
  }
  return Math.max(0, tickets - left - here);
}

/** Returns how many of these customers certainly have a ticket. */
function soldTo(rows: ReadonlyMap<string, Row>): number {
  let sold = 0;
  for (const { finalItem } of rows.values()) if (typeof finalItem === 'string') sold += 1;
  return sold;
}
