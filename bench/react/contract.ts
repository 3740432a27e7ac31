/** The operations of the shop, for its page and for its sites. */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';

const product = z.object({ product: z.string() });
const key = ({ product: name }: { readonly product: string }): string => name;

export const shop = defineContract('react-bench', {
  /** A product: how many are left, and its description. */
  show: {
    access: 'read',
    args: product,
    result: z.object({ left: z.number(), description: z.string() }),
    key,
  },
  sell: { access: 'write', args: product, result: z.null(), key },
});
