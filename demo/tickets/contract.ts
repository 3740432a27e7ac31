/**
 * What the ticket shop asks of its store: the portable queue operations, one queue an event. A page imports this file,
 * never the service.
 */
import { defineContract, queueOperations } from 'correctables/bindings/redblue';

export const ticketShop = defineContract('ticket-shop', { ...queueOperations });
