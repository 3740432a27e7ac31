/** The contract of the server that the faults of `http` and `remote` are tried with. */
import * as z from 'zod';
import { defineContract } from '../../../../src/contract/index.ts';

export const LEVELS = ['primary'] as const;

export const shop = defineContract('seat-shop', {
  seats: { access: 'read', args: z.object({}), result: z.array(z.string()) },
  book: { access: 'write', args: z.object({ seat: z.string() }), result: z.null() },
});
export const { seats, book } = shop;
