/**
 * The shop at all sites: tickets are a queue, so that each is sold once, whichever sites sell at
 * the same time.
 */
import { defineService, queue, red, table } from 'correctables/server';
import { formatSeat } from './concerts.ts';
import { shop } from './contract.ts';

export const service = defineService(shop, {
  tables: { concerts: table({ seats: queue<string>() }) },
  shadowOperations: ({ concerts }) => ({
    take: red(
      ({ concert }: { concert: string }) => [concerts.row(concert).seats.pop()],
      ([taken]) => ({ seat: taken.found ? taken.item : null, left: taken.remaining }),
    ),
    fill: red(({ concert, tickets }: { concert: string; tickets: number }) =>
      Array.from({ length: tickets }, (_, index) =>
        concerts.row(concert).seats.push(formatSeat(index)),
      ),
    ),
  }),
  // Decided in the one order of all sites. Until then the page has the ticket that it would get.
  alwaysRed: ['buy', 'open'],
  generators: {
    ticketsLeft: ({ concert }, { tables }) => tables.concerts.row(concert).seats.size,
    buy: (args, { shadow }) => shadow.take(args),
    open: (args, { shadow }) => shadow.fill(args, null),
  },
});
