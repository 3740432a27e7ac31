/** Averages over sales, as Figure 12 has them. */
import { expect, test } from 'vitest';
import { averageWaits } from '../../../demo/tickets/average.ts';
import type { Purchase } from '../../../demo/tickets/serve-customer.ts';

function told(ticketsLeft: number, toldMs: number, answer: 'yes' | 'no' = 'yes'): Purchase {
  return { customer: `${ticketsLeft}-${toldMs}`, retailer: 0, ticketsLeft, toldMs, told: answer };
}

test('average: two sales → the mean at each number of tickets left, from many to few', () => {
  const sales = [
    [told(1, 40), told(2, 2)],
    [told(2, 4), told(1, 20)],
  ];
  expect(averageWaits(sales)).toEqual([
    { ticketsLeft: 2, ms: 3 },
    { ticketsLeft: 1, ms: 30 },
  ]);
});

test('average: two purchases of one sale at the same number → both count', () => {
  expect(averageWaits([[told(5, 1), told(5, 2)], [told(5, 6)]])).toEqual([{ ticketsLeft: 5, ms: 3 }]);
});

test('average: told no, or nothing yet → left out', () => {
  expect(averageWaits([[told(0, 9, 'no'), { customer: 'a', retailer: 0, ticketsLeft: 3 }]])).toEqual([]);
});
