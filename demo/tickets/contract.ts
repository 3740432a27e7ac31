/**
 * What the ticket shop asks of its store: the portable queue operations, one queue an event, and opening an event, which
 * many may try and one does. A page imports this file, never the service.
 */
import { defineContract, operation, queueOperations } from 'correctables/contract';
import * as z from 'zod';

/** Most tickets that one event can have. */
export const TICKETS_MAX = 5_000;

export const ticketShop = defineContract('ticket-shop', {
  ...queueOperations,
  /** Puts `tickets` on sale, unless the event is open already: the result says how many it has, and whose doing it was. */
  openEvent: operation({
    access: 'write',
    args: z.object({ event: z.string().min(1).max(100), tickets: z.int().min(1).max(TICKETS_MAX) }),
    result: z.object({ tickets: z.number(), opened: z.boolean() }),
    key: ({ event }) => event,
  }),
});
