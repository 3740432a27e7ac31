/** Opening an event: many may try at once, at several sites, and it is stocked once. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { dequeue, peek } from 'correctables/operations';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ticketShop, TICKETS_MAX } from '../../demo/tickets/contract.ts';
import { startBackend } from '../../demo/tickets/server.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;

test('openEvent: from three sites at once, with different stocks → one of them counts, and all callers get it', async () => {
  const backend = await startBackend({ wan: 'none' });
  const shops = SITES.map((site) =>
    createClient(redblue(ticketShop, { url: backend.siteUrl(site), WebSocket })),
  );
  const event = 'concert';
  const opened = await Promise.all(
    shops.map((shop, n) => shop.invokeStrong(ticketShop.openEvent({ event, tickets: 2 + n }))),
  );
  const winners = opened.filter((answer) => answer.opened);
  expect(winners).toHaveLength(1);
  const stock = winners[0]?.tickets as number;
  expect(opened.map(({ tickets }) => tickets)).toEqual([stock, stock, stock]);

  const [shop] = shops as [(typeof shops)[0]];
  const sold: unknown[] = [];
  for (let n = 0; n < stock; n += 1) sold.push(await shop.invokeStrong(dequeue(event)));
  expect(sold).toEqual(Array.from({ length: stock }, (_, n) => ({ item: `concert#${n + 1}` })));
  expect(await shop.invokeStrong(dequeue(event))).toBeNull();
  await Promise.all(shops.map((item) => item.close()));
  await backend.close();
});

test('openEvent: the largest stock → on sale, and a peek shows how many are left', async () => {
  const backend = await startBackend({ wan: 'none' });
  const shop = createClient(redblue(ticketShop, { url: backend.siteUrl('frankfurt'), WebSocket }));
  await shop.invokeStrong(ticketShop.openEvent({ event: 'festival', tickets: TICKETS_MAX }));
  const view = await shop.invokeStrong(peek('festival')).settle();
  expect(view).toMatchObject({ value: { item: 'festival#1' }, meta: { remaining: TICKETS_MAX } });
  await expect(
    shop.invokeStrong(ticketShop.openEvent({ event: 'too-many', tickets: TICKETS_MAX + 1 })),
  ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: expect.stringContaining('tickets') });
  await shop.close();
  await backend.close();
});
