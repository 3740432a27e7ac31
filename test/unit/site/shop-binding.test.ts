/** The React shop of the documentation, whose operations run on queues in the page. */
import { expect, test } from 'vitest';
import { createClient, type Operation } from '../../../src/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import { enqueue } from '../../../src/operations/index.ts';
import { createShopBinding } from '../../../site/shop/shop-binding.ts';

const key = 'aurora';
const ticketsLeft: Operation<number> = {
  name: 'ticketsLeft',
  args: { concert: key },
  access: 'read',
  key,
};
const buy: Operation = { name: 'buy', args: { concert: key }, access: 'write', key };

test('a purchase → a guess, then the sale, with the seat and how many tickets are left', async () => {
  const queues = memory({ lagMs: 0 });
  const office = createClient(queues);
  for (const seat of ['A1', 'A2']) await office.invoke(enqueue(key, seat));
  const customer = createClient(createShopBinding(queues));
  expect(await customer.invoke(ticketsLeft)).toBe(2);
  const sales: unknown[] = [];
  for await (const { level, value } of customer.invoke(buy)) sales.push([level, value]);
  expect(sales).toEqual([
    ['weak', { seat: 'A1', left: 1 }],
    ['strong', { seat: 'A1', left: 1 }],
  ]);
  await customer.invoke(buy);
  expect(await customer.invoke(buy)).toEqual({ seat: null, left: 0 });
  expect(await customer.invoke(ticketsLeft)).toBe(0);
});

test('an operation that only the servers of the example have → UNSUPPORTED', async () => {
  const customer = createClient(createShopBinding(memory()));
  const open: Operation = {
    name: 'open',
    args: { concert: key, tickets: 4 },
    access: 'write',
    key,
  };
  await expect(customer.invoke(open)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});
