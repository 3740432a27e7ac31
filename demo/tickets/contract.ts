/**
 * The operations of the ticket shop's store: the portable queue operations, with one queue for each
 * event, and an operation that opens an event, which succeeds once. A page imports this file, never
 * the service.
 */
import { defineContract, operation, queueOperations } from 'correctables/contract';
import * as z from 'zod';

/** The maximum number of tickets of one event. */
export const TICKETS_MAX = 5_000;

export const ticketShop = defineContract('ticket-shop', {
  ...queueOperations,
  /**
   * Puts `tickets` on sale, unless the event is open already: the result contains the number of
   * tickets, and whether this call opened the event.
   */
  openEvent: operation({
    access: 'write',
    args: z.object({ event: z.string().min(1).max(100), tickets: z.int().min(1).max(TICKETS_MAX) }),
    result: z.object({ tickets: z.number(), opened: z.boolean() }),
    key: ({ event }) => event,
  }),
});
