/**
 * The bank of RedBlue (OSDI 2012, Figure 2) as its customers see it. A page can import this file:
 * it contains names and schemas, not the implementation. Amounts are cents.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';

const account = z.string().min(1);
const cents = z.int().positive();

export const bank = defineContract('bank', {
  deposit: { access: 'write', args: z.object({ account, cents }), result: z.null() },
  withdraw: {
    access: 'write',
    args: z.object({ account, cents }),
    result: z.object({ paid: z.boolean() }),
  },
  accrueInterest: {
    access: 'write',
    args: z.object({ account }),
    result: z.object({ cents: z.int() }),
  },
  balance: { access: 'read', args: z.object({ account }), result: z.int() },
});
