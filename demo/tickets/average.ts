/**
 * Computes how long customers waited by the number of tickets left, averaged over several sales
 * (OSDI 2016, Figure 12).
 */
import type { Purchase } from './serve-customer.ts';

/** The mean wait of the purchases that began with this number of tickets left. */
export interface MeanWait {
  readonly ticketsLeft: number;
  readonly ms: number;
}

/**
 * Averages sales of the same stock, ticket by ticket. Two purchases of one sale may begin with the
 * same number of tickets left: each counts. Customers who found the sale sold out do not count.
 *
 * @returns by falling number of tickets left
 */
export function averageWaits(
  sales: readonly (readonly Pick<Purchase, 'answer' | 'answeredMs' | 'ticketsLeft'>[])[],
): MeanWait[] {
  const sums = new Map<number, { total: number; count: number }>();
  for (const { answer: reported, answeredMs, ticketsLeft } of sales.flat()) {
    if (reported !== 'yes' || answeredMs === undefined || ticketsLeft === undefined) continue;
    const sum = sums.get(ticketsLeft) ?? { total: 0, count: 0 };
    sums.set(ticketsLeft, { total: sum.total + answeredMs, count: sum.count + 1 });
  }
  const means = [...sums].map(([ticketsLeft, { total, count }]) => ({
    ticketsLeft,
    ms: total / count,
  }));
  return means.sort((a, b) => b.ticketsLeft - a.ticketsLeft);
}
