/**
 * The ticket shop's service for the RedBlue backend: an event's tickets are a queue, and taking one is red. The pop is
 * applied when its turn in the red order comes, so that contended sales never have to be tried again.
 */
import { defineService, queue, red, table, withMeta } from 'correctables/server';
import { ticketShop } from './contract.ts';

export const service = defineService(ticketShop, {
  tables: { queues: table({ items: queue<unknown>() }) },
  shadowOperations: ({ queues }) => ({
    push: red((args: { queue: string; item: unknown }) => [queues.row(args.queue).items.push(args.item)]),
    pop: red(
      (args: { queue: string }) => [queues.row(args.queue).items.pop()],
      ([popped]) => withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining }),
    ),
  }),
  generators: {
    enqueue: (args, { shadow }) => shadow.push(args, undefined),
    dequeue: (args, { shadow }) => shadow.pop(args),
    peek: (args, { tables }) => {
      const { items } = tables.queues.row(args.queue);
      return items.size === 0 ? null : { item: items.at(0) };
    },
  },
});
