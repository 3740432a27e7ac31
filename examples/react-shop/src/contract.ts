/** What the page can ask of the shop. The page and the server import it. */
import { defineContract, operation } from 'correctables/contract';
import * as z from 'zod';

const concert = z.object({ concert: z.string() });
const key = ({ concert }: { readonly concert: string }): string => concert;

export const shop = defineContract('react-shop', {
  /** How many tickets are left. */
  ticketsLeft: operation({ access: 'read', args: concert, result: z.number(), key }),
  /** Takes a ticket: `null` if none is left. */
  buy: operation({
    access: 'write',
    args: concert,
    result: z.object({ seat: z.string().nullable(), left: z.number() }),
    key,
  }),
  /** Puts tickets on sale. */
  open: operation({
    access: 'write',
    args: z.object({ concert: z.string(), tickets: z.int() }),
    result: z.null(),
    key,
  }),
});
