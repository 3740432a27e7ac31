/**
 * The client of the React shop in this documentation. It replaces the client of the example, whose
 * sites are servers: here, Ireland is a store in the page, and Singapore a copy of it.
 */
import { createClient } from 'correctables';
import { memory, memoryStore } from 'correctables/bindings/memory';
import { dequeue, enqueue, getRemaining, peek } from 'correctables/operations';
import { concerts, formatSeat } from '../../examples/react-shop/src/concerts.ts';
import { createShopBinding } from './shop-binding.ts';

const IRELAND_ROUND_TRIP_MS = 180;
const OTHERS_BUY_EVERY_MS = 4_000;
/** Other customers leave the last tickets to you. */
const MIN_LEFT = 3;

const store = memoryStore();
const ireland = createClient(memory({ store, delaysMs: { weak: 0, strong: 0 } }));
for (const { id, tickets } of concerts)
  for (let index = 0; index < tickets; index++)
    await ireland.invoke(enqueue(id, formatSeat(index)));

const singapore = memory({
  store,
  levels: ['tentative', 'strong'],
  delaysMs: { tentative: 3, strong: IRELAND_ROUND_TRIP_MS },
});

export const client = createClient(createShopBinding(singapore));

setInterval(() => void buyOne(), OTHERS_BUY_EVERY_MS);

async function buyOne(): Promise<void> {
  const { id } = concerts[Math.floor(Math.random() * concerts.length)]!;
  const stock = await ireland.invoke(peek(id)).when('strong');
  if (getRemaining(stock) > MIN_LEFT) await ireland.invoke(dequeue(id));
}
