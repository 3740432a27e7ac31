/** The sentences about a sale. */
import { expect, test } from 'vitest';
import type { Row } from '../../../demo/tickets/page/sale-record.ts';
import { formatHeadline, formatSelling } from '../../../demo/tickets/page/sale-texts.ts';

const row = (purchase: Partial<Row>): Row => ({
  customer: 'a',
  retailer: 0,
  site: 'virginia',
  path: ['virginia'],
  byHand: false,
  ...purchase,
});

const rowsOf = (...purchases: readonly Partial<Row>[]): Map<string, Row> =>
  new Map(purchases.map((purchase, n) => [String(n), row(purchase)]));

test('headline: before the first customer → what is on sale', () => {
  expect(formatHeadline({ rows: new Map(), baseline: new Map(), tickets: 500 })).toBe(
    '500 tickets, sold from three sites at once.',
  );
});

test('headline: medians of both sales, and how many were taken back', () => {
  const early = {
    answer: 'yes',
    early: true,
    answeredMs: 2.04,
    finalMs: 90,
    finalItem: '#1',
  } as const;
  const rows = rowsOf(
    early,
    early,
    { ...early, finalItem: null },
    { answer: 'yes', answeredMs: 80, finalItem: '#3' },
  );
  const baseline = rowsOf({ answer: 'yes', answeredMs: 27.3 });
  expect(formatHeadline({ rows, baseline, tickets: 4 })).toBe(
    '3 of 4 answered in 2 ms instead of 27; 1 taken back.',
  );
  expect(formatHeadline({ rows, baseline: new Map(), tickets: 4 })).toBe(
    '3 of 4 answered in 2 ms instead of 90; 1 taken back.',
  );
});

test('selling: sold out while a site is away → names the customers that wait for the connection', () => {
  const lost = { left: 0, lostSites: ['virginia'] };
  expect(formatSelling({ ...lost, rows: [row({})] })).toBe(
    'Sold out; 1 customer in Virginia waits for the connection',
  );
  expect(formatSelling({ ...lost, rows: [row({}), row({}), row({ answer: 'yes' })] })).toBe(
    'Sold out; 2 customers in Virginia wait for the connection',
  );
  expect(formatSelling({ ...lost, left: 3, rows: [row({})], which: 'sale 1 of 2' })).toBe(
    'Selling: sale 1 of 2, without Virginia',
  );
  expect(formatSelling({ left: 0, lostSites: [], rows: [row({})] })).toBe('Selling');
  expect(formatSelling({ left: 0, baselineLeft: 7, lostSites: [], rows: [] })).toBe(
    'Sold out; without early answers 7 are left',
  );
});
