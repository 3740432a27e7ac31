/** The figures of a sale are computed from its history: each fault that they count must show up in them. */
import { expect, test } from 'vitest';
import { count, latencies, percentiles } from '../../../demo/tickets/report.ts';
import type { Purchase, SaleEvent } from '../../../demo/tickets/serve-customer.ts';

function purchase(customer: string, told: 'yes' | 'no', final: string | null, early = false): SaleEvent[] {
  const common = { customer, operation: `concert/${customer}` };
  return [
    { ...common, kind: 'told', level: early ? 'tentative' : 'strong', item: 'guess', told, early, atMs: 1 },
    { ...common, kind: 'final', level: 'strong', item: final, atMs: 2 },
  ];
}

test('count: a clean sale → confirmed and early counted, nothing else', () => {
  const history = [...purchase('a', 'yes', '#1', true), ...purchase('b', 'yes', '#2'), ...purchase('c', 'no', null)];
  expect(count(history, 2)).toEqual({ confirmed: 2, confirmedEarly: 1, revoked: 0, oversold: 0, duplicates: 0 });
});

test('count: told yes, final empty → revoked', () => {
  const history = [...purchase('a', 'yes', '#1', true), ...purchase('b', 'yes', null, true)];
  expect(count(history, 1)).toMatchObject({ confirmed: 2, revoked: 1, oversold: 0 });
});

test('count: more finals than tickets → oversold', () => {
  const history = [...purchase('a', 'yes', '#1'), ...purchase('b', 'yes', '#2')];
  expect(count(history, 1)).toMatchObject({ revoked: 0, oversold: 1 });
});

test('count: one ticket the final of two customers → a duplicate', () => {
  const history = [...purchase('a', 'yes', '#1'), ...purchase('b', 'yes', '#1')];
  expect(count(history, 2)).toMatchObject({ duplicates: 1 });
});

test('latencies: purchases are split at the threshold, the threshold itself below', () => {
  const purchases: Purchase[] = [
    { customer: 'a', retailer: 0, toldMs: 1, ticketsLeft: 21 },
    { customer: 'b', retailer: 0, toldMs: 40, ticketsLeft: 20 },
    { customer: 'c', retailer: 0, toldMs: 41, ticketsLeft: 0 },
  ];
  const { purchaseAbove, purchaseBelow } = latencies({ purchases, history: [] }, 20);
  expect(purchaseAbove).toEqual({ p50: 1, p95: 1, p99: 1 });
  expect(purchaseBelow).toEqual({ p50: 40, p95: 41, p99: 41 });
});

test('percentiles: no purchase has the duration → null, not a number', () => {
  expect(percentiles([{ customer: 'a', retailer: 0 }], 'finalMs')).toEqual({ p50: null, p95: null, p99: null });
});
