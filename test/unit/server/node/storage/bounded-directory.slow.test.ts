/**
 * Rights in a data folder: over restarts in the middle of things, and in a service that had none
 * before.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/index.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { openEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../src/server/service/shadow-operation.ts';
import { boundedCounter, cell, register, table } from '../../../../../src/server/service/tables.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
type Site = (typeof SITES)[number];

const seats = z.object({ seats: z.int() });
const title = z.object({ title: z.string() });
const before = {
  entitle: { access: 'write', args: title, result: z.null() },
  price: { access: 'write', args: z.object({ price: z.int() }), result: z.null() },
  named: { access: 'read', args: z.object({}), result: z.string().optional() },
} as const;
const sale = defineContract('sale', {
  ...before,
  open: { access: 'write', args: seats, result: z.null() },
  sell: { access: 'write', args: seats, result: z.boolean() },
  left: { access: 'read', args: z.object({}), result: z.int() },
});

const events = { title: register<string>(), price: cell<number>() };

/** Events that are named, and of which no seats are sold yet. */
function namedEvents(): Service {
  return defineService(defineContract('sale', before), {
    tables: { events: table(events) },
    shadowOperations: (tables) => ({
      entitle: blue((a: { title: string }) => [tables.events.row('E').title.write(a.title)]),
      price: red((a: { price: number }) => [tables.events.row('E').price.assign(a.price)]),
    }),
    generators: {
      entitle: (args, { shadow }) => shadow.entitle(args, null),
      price: (args, { shadow }) => shadow.price(args, null),
      named: (_, { tables }) => tables.events.row('E').title,
    },
  });
}

function soldEvents(): Service {
  return defineService(sale, {
    tables: { events: table({ ...events, seats: boundedCounter({ min: 0 }) }) },
    shadowOperations: (tables) => ({
      entitle: blue((a: { title: string }) => [tables.events.row('E').title.write(a.title)]),
      price: red((a: { price: number }) => [tables.events.row('E').price.assign(a.price)]),
      open: blue((a: { seats: number }) => [tables.events.row('E').seats.give(a.seats)]),
      sell: blue((a: { seats: number }) => [tables.events.row('E').seats.take(a.seats)]),
    }),
    generators: {
      entitle: (args, { shadow }) => shadow.entitle(args, null),
      price: (args, { shadow }) => shadow.price(args, null),
      named: (_, { tables }) => tables.events.row('E').title,
      open: (args, { shadow }) => shadow.open(args, null),
      sell: (args, { tables, shadow }) =>
        tables.events.row('E').seats.left >= args.seats && shadow.sell(args, true),
      left: (_, { tables }) => tables.events.row('E').seats.left,
    },
  });
}

let dataDir: string;
let open: Embedded<Site> | undefined;
beforeEach(() => void (dataDir = temporaryFolder()));
afterEach(async () => {
  await open?.close();
});

async function restarted(service: Service): Promise<Embedded<Site>> {
  await open?.close();
  open = await openEmbedded<Site>(service, { sites: SITES, dataDir });
  return open;
}

/** How many of so many takes at each site found something. */
async function sell(deployment: Embedded<Site>, times: number, seats: number): Promise<number> {
  const clients = SITES.map((site) => createClient(deployment.site(site)));
  const takes = Array.from({ length: times }, () =>
    clients.map(async (item) => await item.invoke(sale.sell({ seats }))),
  );
  return (await Promise.all(takes.flat())).filter(Boolean).length * seats;
}

/**
 * Waits until all sites show that so many are left: what one has given others see a little later.
 */
async function untilLeft(deployment: Embedded<Site>, left: number): Promise<void> {
  const clients = SITES.map((site) => createClient(deployment.site(site)));
  const shown = (): Promise<number[]> =>
    Promise.all(clients.map(async (item) => await item.invokeStrong(sale.left({}))));
  await expect.poll(shown, { timeout: 5000 }).toEqual(SITES.map(() => left));
}

test('a version of the service with a bounded field → what was there stays, and all that is given is sold, once', async () => {
  const first = createClient((await restarted(namedEvents())).site('ireland'));
  await first.invoke(sale.entitle({ title: 'gala' }));
  await first.invoke(sale.price({ price: 5 }));
  const second = await restarted(soldEvents());
  await untilLeft(second, 0);
  expect(await sell(second, 1, 1)).toBe(0);
  await createClient(second.site('frankfurt')).invoke(sale.open({ seats: 10 }));
  await untilLeft(second, 10);
  expect(await sell(second, 2, 1)).toBe(6);
  const third = await restarted(soldEvents());
  await untilLeft(third, 4);
  expect(await sell(third, 3, 1)).toBe(4);
  expect(await createClient(third.site('virginia')).invokeStrong(sale.named({}))).toBe('gala');
  await third.close();
  open = undefined;
  await expect(openEmbedded(namedEvents(), { sites: SITES, dataDir })).rejects.toThrow(/seats/);
});
