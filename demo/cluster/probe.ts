/** The strong read by which a site of the ticket shop shows that it has caught up. */
import { peek } from 'correctables/operations';
import { ticketShop } from '../tickets/contract.ts';
import type { Probe } from './cluster-site.ts';

export const TICKET_PROBE: Probe = { contract: ticketShop, operation: peek('any') };
