/**
 * The ticket shop's service in which sites sell by rights. Tickets have no numbers. Each site holds
 * rights to some of them and sells these alone, final at once. Only the last few tickets are sold
 * in the red order. The contract and the shop are the same.
 */
import {
  blue,
  boundedCounter,
  cell,
  defineService,
  red,
  table,
  withMeta,
} from 'correctables/server';
import { ticketShop } from './contract.ts';

interface Event {
  readonly queue: string;
}

export const rightsService = defineService(ticketShop, {
  tables: { events: table({ tickets: cell<number>(), free: boundedCounter({ min: 0 }) }) },
  shadowOperations: ({ events }) => ({
    putBack: blue((a: Event) => [events.row(a.queue).free.give(1)]),
    take: blue((a: Event) => [events.row(a.queue).free.take(1)]),
    stock: red(({ event, tickets }: { event: string; tickets: number }) => [
      events.row(event).tickets.assign(tickets),
      events.row(event).free.give(tickets),
    ]),
  }),
  generators: {
    enqueue: ({ queue }, { shadow }) => shadow.putBack({ queue }, undefined),
    // All tickets are equal, so the item is a unique id of the purchase.
    dequeue: ({ queue }, { tables, shadow, uniqueId }) => {
      const { left } = tables.events.row(queue).free;
      if (left === 0) return withMeta(null, { remaining: 0 });
      return shadow.take({ queue }, withMeta({ item: uniqueId() }, { remaining: left - 1 }));
    },
    peek: ({ queue }, { tables }) => {
      const { left, rights } = tables.events.row(queue).free;
      return withMeta(left === 0 ? null : { item: queue }, { remaining: left, rights });
    },
    openEvent: ({ event, tickets }, { tables, shadow }) => {
      const already = tables.events.row(event).tickets;
      if (already !== undefined) return { tickets: already, opened: false };
      return shadow.stock({ event, tickets }, { tickets, opened: true });
    },
  },
  invariants: { events: { 'no ticket is sold twice': ({ free }) => free.value >= 0 } },
});
