/**
 * A ledger in which each operation counts its own executions, so that their number can be read
 * afterwards.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';

const operation = z.string().min(1);

export const ledger = defineContract('ledger', {
  /** A blue operation: it commits at the nearest site. */
  note: { access: 'write', args: z.object({ operation }), result: z.null() },
  /** A red operation: it has a place in the order of all sites. */
  book: { access: 'write', args: z.object({ operation }), result: z.null() },
  /** How often each of these operations has taken effect. */
  times: {
    access: 'read',
    args: z.object({ operations: z.array(operation) }),
    result: z.array(z.int()),
  },
});
