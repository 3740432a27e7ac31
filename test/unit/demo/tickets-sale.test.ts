/**
 * Sales that meet a busy or failing store: customers are tried again, retailers recover, or the
 * sale ends.
 */
import { createClient, CorrectableError, type Binding, type ErrorCode } from 'correctables';
import { memory } from 'correctables/bindings/memory';
import { expect, test } from 'vitest';
import { verifySales } from '../../../demo/tickets/verify/verify-sales.ts';
import { runSale, stockUp, type Sale, type SaleOptions } from '../../../demo/tickets/sale.ts';
import type { Shop } from '../../../demo/tickets/purchase.ts';

const TICKETS = 6;
const EVENT = 'concert';

/** A shop whose store fails the dequeues with these numbers, counted from 1. */
function failingShop(code: ErrorCode, dequeues: readonly number[]): Shop {
  const store = memory();
  let seen = 0;
  const binding: Binding<readonly ['weak', 'strong']> = {
    name: 'failing',
    consistencyLevels: () => store.consistencyLevels(),
    supports: (operation) => store.supports(operation),
    submitOperation(operation, levels, sink, context) {
      if (operation.name === 'dequeue') seen += 1;
      if (operation.name !== 'dequeue' || !dequeues.includes(seen)) {
        return store.submitOperation(operation, levels, sink, context);
      }
      return sink.fail(new CorrectableError(code, `dequeue ${seen} fails`, { retryAfterMs: 1 }));
    },
    close: () => store.close(),
  };
  return createClient(binding);
}

async function sell(shop: Shop, options: Partial<SaleOptions> = {}): Promise<Sale> {
  const stock = await stockUp([shop], EVENT, TICKETS);
  return runSale([shop], {
    event: EVENT,
    stock,
    policy: { threshold: 0, isFixed: true },
    ...options,
  });
}

const CLEAN = {
  tickets: TICKETS,
  confirmed: TICKETS,
  revoked: 0,
  contradicted: 0,
  oversold: 0,
  duplicates: 0,
  lost: 0,
};

test('sale: the store is too busy for some → they try again, and every ticket is sold once', async () => {
  const { history, purchases } = await sell(failingShop('OVERLOADED', [1, 2, 5]));
  expect(verifySales(history)).toMatchObject(CLEAN);
  expect(purchases.map(({ retries }) => retries ?? 0)).toEqual([2, 0, 1, 0, 0, 0, 0]);
});

test('sale: a purchase fails without a `recover` option → the sale ends with its failure', async () => {
  await expect(sell(failingShop('UNAVAILABLE', [3]))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('sale: a purchase fails and the retailer recovers → the sale goes on, the purchase keeps its failure', async () => {
  const recovered: unknown[] = [];
  const recover = async (failure: unknown, retailer: number): Promise<void> =>
    void recovered.push([failure, retailer]);
  const { history, purchases } = await sell(failingShop('UNKNOWN', [2]), { recover });
  expect(verifySales(history)).toMatchObject(CLEAN);
  expect(recovered).toEqual([[expect.objectContaining({ code: 'UNKNOWN' }), 0]]);
  expect(purchases[1]).toMatchObject({ failure: { code: 'UNKNOWN' } });
  expect(purchases[1]).not.toHaveProperty('answered');
});

test('sale: stopped → no further customer, the one being served gets an answer', async () => {
  const stop = new AbortController();
  const onPurchase: SaleOptions['onPurchase'] = ({ customer }) => {
    if (customer === 'r1-c3') stop.abort();
  };
  const { purchases } = await sell(failingShop('UNKNOWN', []), { signal: stop.signal, onPurchase });
  expect(purchases.map(({ answer: reported, finalMs }) => [reported, typeof finalMs])).toEqual(
    Array.from({ length: 3 }, () => ['yes', 'number']),
  );
});

test('sale: the policy changes → it counts from the next customer on', async () => {
  const policy = { threshold: 0, isFixed: true };
  const onPurchase: SaleOptions['onPurchase'] = ({ customer }) => {
    if (customer === 'r1-c2') policy.threshold = TICKETS;
  };
  const { history } = await sell(failingShop('UNKNOWN', []), { policy, onPurchase });
  expect(verifySales(history)).toMatchObject({ confirmed: TICKETS, confirmedEarly: 2 });
});

test('sale: the store does not report other buyers → no early answer, unless the threshold is fixed', async () => {
  const { history } = await sell(failingShop('UNKNOWN', []), { policy: { threshold: 0 } });
  expect(verifySales(history)).toMatchObject({ ...CLEAN, confirmedEarly: 0, heldBack: TICKETS });
  const fixed = await sell(failingShop('UNKNOWN', []), { policy: { threshold: 0, isFixed: true } });
  expect(verifySales(fixed.history)).toMatchObject({ confirmedEarly: TICKETS, heldBack: 0 });
});
