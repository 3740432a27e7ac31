/** A sale at three sites: seats and coats, of which each site has its share. */
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import type { Ledger } from '../../../../../../src/server/service/fields/ledger.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import { boundedCounter, counter, table } from '../../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { Sites } from '../../sites.ts';

export const sold = z.object({ sold: z.boolean() });
export const seats = z.object({ seats: z.int() });
export const contract = defineContract('sale', {
  open: { access: 'write', args: seats, result: z.null() },
  openInOrder: { access: 'write', args: seats, result: z.null() },
  sell: { access: 'write', args: seats, result: sold },
  sellInOrder: { access: 'write', args: seats, result: sold },
  /** Reads how many were sold before it looks at what is left, in the red order. */
  sellCounted: { access: 'write', args: seats, result: sold },
  sellBoth: { access: 'write', args: seats, result: sold },
  sellBlindly: { access: 'write', args: seats, result: sold },
  sellBlindlyInOrder: { access: 'write', args: seats, result: sold },
  /** Reads in the red order how many are left, and takes none. */
  count: { access: 'write', args: z.object({}), result: z.int() },
  left: { access: 'read', args: z.object({}), result: z.array(z.int()) },
});

export type Seats = z.infer<typeof seats>;

export const service = defineService(contract, {
  tables: {
    events: table({
      seats: boundedCounter({ min: 0 }),
      coats: boundedCounter({ min: 0 }),
      sold: counter(),
    }),
  },
  shadowOperations: ({ events }) => ({
    open: blue((a: Seats) => [
      events.row('E').seats.give(a.seats),
      events.row('E').coats.give(a.seats),
    ]),
    openInOrder: red((a: Seats) => [events.row('E').seats.give(a.seats)]),
    sell: blue((a: Seats) => [events.row('E').seats.take(a.seats)]),
    sellInOrder: red((a: Seats) => [events.row('E').seats.take(a.seats)]),
    sellCounted: red((a: Seats) => [
      events.row('E').sold.add(a.seats),
      events.row('E').seats.take(a.seats),
    ]),
    sellBoth: blue((a: Seats) => [
      events.row('E').seats.take(a.seats),
      events.row('E').coats.take(a.seats),
    ]),
    count: red((_args: object) => [events.row('E').coats.give(0)]),
  }),
  generators: {
    open: (args, { shadow }) => shadow.open(args, null),
    openInOrder: (args, { shadow }) => shadow.openInOrder(args, null),
    sell: (args, { tables, shadow }) =>
      tables.events.row('E').seats.left < args.seats
        ? { sold: false }
        : shadow.sell(args, { sold: true }),
    sellInOrder: (args, { tables, shadow }) =>
      tables.events.row('E').seats.left < args.seats
        ? { sold: false }
        : shadow.sellInOrder(args, { sold: true }),
    sellCounted: (args, { tables, shadow }) => {
      const row = tables.events.row('E');
      return row.sold < 0 || row.seats.left < args.seats
        ? { sold: false }
        : shadow.sellCounted(args, { sold: true });
    },
    sellBoth: (args, { tables, shadow }) => {
      const row = tables.events.row('E');
      return row.seats.left < args.seats || row.coats.left < args.seats
        ? { sold: false }
        : shadow.sellBoth(args, { sold: true });
    },
    sellBlindly: (args, { shadow }) => shadow.sell(args, { sold: true }),
    sellBlindlyInOrder: (args, { shadow }) => shadow.sellInOrder(args, { sold: true }),
    count: (_args, { tables, shadow }) => shadow.count({}, tables.events.row('E').seats.left),
    left: (_args, { tables }) => {
      const { left, rights } = tables.events.row('E').seats;
      return [left, rights];
    },
  },
});

export const item = contract.sell({ seats: 1 });

export function ledgerAt(sites: Sites, site: number, field = 'seats'): Ledger {
  return sites.machines[site]?.state.store.read('events', 'E', field) as Ledger;
}

/** What each site holds, as the first one shows it, and the pool. */
export function held(sites: Sites): readonly number[] {
  const ledger = ledgerAt(sites, 0);
  return [0, 1, 2].map((site) => ledger.getHolding(siteAt(site))).concat(ledger.pool);
}

type SitesGiven = ConstructorParameters<typeof Sites>[2];

/** A sale of so many seats, of which each site has its share. */
export function opened(count: number, value: SitesGiven = {}): Sites {
  const sites = new Sites(service, 3, { maxAttempts: 5, ...value });
  sites.submit(0, contract.open({ seats: count }));
  sites.settle();
  return sites;
}

/**
 * The same, where so many of them have come together in the pool, for a take at site 1 that was
 * given up.
 */
export function pooled(count: number, taken: number, value: SitesGiven = {}): Sites {
  const sites = opened(count, value);
  sites.submit(1, contract.sell({ seats: taken }));
  sites.abandon(1);
  sites.settle();
  return sites;
}
