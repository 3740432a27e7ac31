/** What a sale amounted to: counted from its history, timed from its purchases. */
import type { Sale } from './sale.ts';
import type { Purchase, SaleEvent } from './serve-customer.ts';

/** Percentiles of a set of durations, in milliseconds; null where there was none. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Counts {
  /** Customers told yes. */
  readonly confirmed: number;
  /** Customers told yes on a preliminary view. */
  readonly confirmedEarly: number;
  /** Customers told yes whose final view is empty. */
  readonly revoked: number;
  /** `confirmed - revoked - tickets`, if positive. */
  readonly oversold: number;
  /** Tickets that are the final item of more than one customer, counted once for each customer too many. */
  readonly duplicates: number;
}

export interface Latencies {
  readonly preliminary: Percentiles;
  readonly final: Percentiles;
  /** Purchases begun with more than `threshold` tickets left. */
  readonly purchaseAbove: Percentiles;
  /** Purchases begun with at most `threshold` tickets left. */
  readonly purchaseBelow: Percentiles;
}

/** Counts a sale from its history alone, so that anyone can do it again from the file. */
export function count(history: readonly SaleEvent[], tickets: number): Counts {
  const finals = new Map<string, string | null>();
  for (const line of history) if (line.kind === 'final') finals.set(line.operation, line.item);
  const yes = history.filter((line) => line.kind === 'told' && line.told === 'yes');
  const revoked = yes.filter((line) => finals.get(line.operation) === null).length;
  const sold = [...finals.values()].filter((item) => item !== null);
  return {
    confirmed: yes.length,
    confirmedEarly: yes.filter((line) => line.early === true).length,
    revoked,
    oversold: Math.max(0, yes.length - revoked - tickets),
    duplicates: sold.length - new Set(sold).size,
  };
}

/** How long customers waited, by what they waited for. */
export function latencies({ purchases }: Sale, threshold: number): Latencies {
  const above = purchases.filter((purchase) => (purchase.ticketsLeft ?? 0) > threshold);
  const below = purchases.filter((purchase) => (purchase.ticketsLeft ?? 0) <= threshold);
  return {
    preliminary: percentiles(purchases, 'preliminaryMs'),
    final: percentiles(purchases, 'finalMs'),
    purchaseAbove: percentiles(above, 'toldMs'),
    purchaseBelow: percentiles(below, 'toldMs'),
  };
}

/** Percentiles (nearest rank) of one duration of the purchases that have it. */
export function percentiles(
  purchases: readonly Purchase[],
  duration: 'preliminaryMs' | 'finalMs' | 'toldMs',
): Percentiles {
  const sorted = purchases.flatMap((purchase) => purchase[duration] ?? []).sort((a, b) => a - b);
  const at = (share: number): number | null => {
    const value = sorted[Math.ceil(share * sorted.length) - 1];
    return value === undefined ? null : Math.round(value * 1000) / 1000;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
