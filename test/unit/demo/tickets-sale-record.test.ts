/** What the page shows of the stock, from its own purchases and from views of the store. */
import { expect, test } from 'vitest';
import {
  baselineLeft,
  OpenSale,
  soldElsewhere,
  type Row,
} from '../../../demo/tickets/page/sale-record.ts';

function saleOf(
  tickets: number,
  rows: readonly Partial<Row>[],
  baseline: readonly Partial<Row>[] = [],
): OpenSale {
  const sale = new OpenSale();
  sale.tickets = tickets;
  const fill = (map: Map<string, Row>, value: readonly Partial<Row>[]): void => {
    for (const [n, row] of value.entries()) {
      const served = { site: 'frankfurt', path: ['frankfurt'], byHand: false };
      map.set(String(n), { customer: String(n), retailer: 0, ...served, ...row });
    }
  };
  fill(sale.rows, rows);
  fill(sale.baseline, baseline);
  return sale;
}

test('left: only confirmed purchases of this page count, until the store reports less', () => {
  const sale = saleOf(10, [{ finalItem: '#1' }, { finalItem: null }, { answer: 'yes' }]);
  expect(sale.left).toBe(9);
  sale.heardLeft = 4;
  expect(sale.left).toBe(4);
});

test('sold elsewhere: purchases in flight may explain what is gone, failed ones do not', () => {
  const sale = saleOf(10, [{ finalItem: '#1' }, { answer: 'yes' }, { failure: new Error('lost') }]);
  sale.heardLeft = 8;
  expect(soldElsewhere(sale)).toBe(0);
  sale.heardLeft = 5;
  expect(soldElsewhere(sale)).toBe(3);
});

test('baseline: left is the value of its last view, less what was sold since, never below 0', () => {
  expect(baselineLeft(saleOf(10, [], [{ ticketsLeft: 10 }, { ticketsLeft: 7 }, {}]))).toBe(6);
  expect(baselineLeft(saleOf(10, [], [{ ticketsLeft: 1 }, { ticketsLeft: 0 }]))).toBe(0);
  expect(baselineLeft(saleOf(10, []))).toBe(10);
});
