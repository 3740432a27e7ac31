/** A small contract that a page and a gateway share: no statement is in it. */
import * as z from 'zod/mini';
import { defineContract, keyValueOperations } from '../../../src/contract/index.ts';

const item = z.string().check(z.minLength(1));
const nothing = z.object({});

export const shop = defineContract('shop', {
  ...keyValueOperations,
  price: {
    access: 'read',
    args: z.object({ item }),
    result: z.optional(z.number()),
    key: ({ item }) => item,
  },
  setPrice: {
    access: 'write',
    args: z.object({ item, cents: z.int() }),
    result: z.void(),
    key: ({ item }) => item,
  },
  clear: { access: 'write', args: nothing, result: z.void() },
});
