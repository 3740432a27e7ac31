/**
 * The ticket shop's service for the RedBlue backend: an event's tickets are a queue, and taking one
 * is red. The pop is applied at its place in the red order, so contended sales need no retries.
 */
import { cell, defineService, queue, red, table, withMeta } from 'correctables/server';
import type { Throttle } from 'correctables/operations';
import { ticketShop } from './contract.ts';

/** @param pace the throttle of each site. Default: no throttle, and then no early view is safe */
export const serviceAt = (pace?: Throttle) =>
  defineService(ticketShop, {
    tables: {
      queues: table({ items: queue<unknown>() }),
      events: table({ tickets: cell<number>() }),
    },
    shadowOperations: ({ queues, events }) => ({
      push: red((args: { queue: string; item: unknown }) => [
        queues.row(args.queue).items.push(args.item),
      ]),
      pop: red(
        (args: { queue: string }) => [queues.row(args.queue).items.pop()],
        ([popped]) =>
          withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining }),
      ),
      stock: red(({ event, tickets }: { event: string; tickets: number }) => {
        const { items } = queues.row(event);
        const pushes = Array.from({ length: tickets }, (_, n) => items.push(`${event}#${n + 1}`));
        return [events.row(event).tickets.assign(tickets), ...pushes];
      }),
    }),
    // Make these always red, whatever they find: a customer whose site is down is then served once,
    // at another site.
    alwaysRed: ['enqueue', 'dequeue', 'openEvent'],
    ...(pace && { throttled: { operations: ['dequeue'], ...pace } }),
    generators: {
      enqueue: (args, { shadow }) => shadow.push(args, undefined),
      dequeue: (args, { shadow }) => shadow.pop(args),
      peek: (args, { tables }) => {
        const { items } = tables.queues.row(args.queue);
        return withMeta(items.size === 0 ? null : { item: items.at(0) }, { remaining: items.size });
      },
      // If two clients open an event at the same time, the later one in the red order is rejected,
      // runs again and finds it open. The result that it is open already is certified in the red
      // order too.
      openEvent: ({ event, tickets }, { tables, shadow }) => {
        const already = tables.events.row(event).tickets;
        if (already !== undefined) return { tickets: already, opened: false };
        return shadow.stock({ event, tickets }, { tickets, opened: true });
      },
    },
  });

export const service = serviceAt();
