/**
 * Listing 5 (Correctables, OSDI 2016, §4.3): selling tickets. While many are left the preliminary
 * view is good enough; the last ones are sold on the final view.
 */
import { createClient } from 'correctables';
import { memory } from 'correctables/bindings/memory';
import { dequeue, enqueue, getRemaining } from 'correctables/operations';

const THRESHOLD = 2;
const store = createClient(memory());

/** As in the paper, by callbacks. Resolves when the purchase is over. */
async function purchaseTicket(eventId: string): Promise<void> {
  let done = false;
  await store.invoke(dequeue<string>(eventId)).setCallbacks({
    onUpdate: (weakResult, view) => {
      if (weakResult !== null && getRemaining(view) >= THRESHOLD) {
        done = true; // many tickets left, so we can buy
        console.log(`confirmed early, ${getRemaining(view)} left`);
      }
    },
    onFinal: (strongResult) => {
      if (done) return; // the final view of a purchase that was confirmed already
      if (strongResult !== null) console.log('confirmed'); // we managed to get a ticket
      else console.log('Sold out. Sorry!');
    },
  });
}

/** The same decision as one call: the first view that is `enough`, otherwise the final one. */
async function purchaseTicketAtOnce(eventId: string): Promise<boolean> {
  const view = await store.invoke(dequeue<string>(eventId)).settle({
    enough: (view) => view.value !== null && getRemaining(view) >= THRESHOLD,
  });
  return view.value !== null;
}

for (const seat of ['A1', 'A2', 'A3', 'A4']) await store.invoke(enqueue('concert', seat));
await store.invoke(enqueue('play', 'B1'));

for (let customer = 0; customer < 5; customer++) await purchaseTicket('concert');
console.log('play:', await purchaseTicketAtOnce('play'), await purchaseTicketAtOnce('play'));

await store.close();
