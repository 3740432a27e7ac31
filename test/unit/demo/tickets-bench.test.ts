/** The benchmark's goals show what went wrong in a single sale, however many went well. */
import { expect, test } from 'vitest';
import { barsOf, rowOf } from '../../../bench/tickets/rows.ts';
import type { RoundSale } from '../../../bench/tickets/sales.ts';
import type { Purchase, SaleEvent } from '../../../demo/tickets/serve-customer.ts';

const STOCK = 3;

interface Told {
  readonly final: string | null;
  readonly toldMs: number;
}

/** A sale in which these customers were told yes, one with each number of tickets left. */
function sale(threshold: number | null, round: number, customers: readonly Told[]): RoundSale {
  const purchases = customers.map(({ final, toldMs }, n): Purchase => ({
    customer: `c${n}`,
    retailer: 0,
    told: 'yes',
    early: threshold !== null,
    toldMs,
    finalMs: 20,
    finalItem: final,
    ticketsLeft: 100 - n,
  }));
  const history = purchases.flatMap(({ customer, finalItem }): SaleEvent[] => {
    const common = { customer, operation: customer, level: 'any', atMs: 0 };
    return [
      { ...common, kind: 'told', told: 'yes', early: threshold !== null, item: '#?' },
      { ...common, kind: 'final', item: finalItem as string | null },
    ];
  });
  return { stock: STOCK, threshold, round, sale: { purchases, history } };
}

const sold = (toldMs: number): Told[] => ['#1', '#2', '#3'].map((final) => ({ final, toldMs }));

function bars(sales: readonly RoundSale[]): Record<string, unknown> {
  const rows = [null, 0, 20].map((threshold) => rowOf({ stock: STOCK, threshold }, sales));
  return Object.fromEntries(barsOf(rows).map(({ name, value, ok }) => [name, [value, ok]]));
}

/** Two rounds without faults: 20 ms without incremental views, 2 ms with them. */
const clean = [1, 2].flatMap((round) => [
  sale(null, round, sold(20)),
  sale(0, round, sold(2)),
  sale(20, round, sold(2)),
]);

test('bars: clean sales → all met, the speed-up from the same round', () => {
  expect(bars(clean)).toEqual({
    'revoked-at-20': [0, true],
    'revoked-at-0': [0, true],
    oversold: [0, true],
    'purchase-speedup': [10, true],
  });
});

test('bars: one sale at threshold 20 revokes one customer → missed; at threshold 0 within the aim', () => {
  const revoked = [...sold(2), { final: null, toldMs: 2 }];
  const sales = [...clean, sale(null, 3, sold(20)), sale(20, 3, revoked), sale(0, 3, revoked)];
  expect(bars(sales)).toMatchObject({ 'revoked-at-20': [1, false], 'revoked-at-0': [1, true], oversold: [0, true] });
});

test('bars: a baseline that sells more tickets than there are → oversold, missed', () => {
  const oversold = [...sold(20), { final: '#4', toldMs: 20 }];
  const sales = [...clean, sale(null, 3, oversold), sale(0, 3, sold(2)), sale(20, 3, sold(2))];
  expect(bars(sales)).toMatchObject({ oversold: [1, false] });
});

test('bars: purchases as slow as the baseline → the speed-up is missed', () => {
  const slow = [1, 2, 3].flatMap((round) => [
    sale(null, round, sold(20)),
    sale(0, round, sold(2)),
    sale(20, round, sold(20)),
  ]);
  expect(bars(slow)).toMatchObject({ 'purchase-speedup': [1, false] });
});
