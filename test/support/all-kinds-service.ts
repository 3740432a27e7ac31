/** A service with a field of every kind, and rows of several partitions. */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import {
  blue,
  boundedCounter,
  cell,
  counter,
  defineService,
  log,
  queue,
  red,
  register,
  set,
  stock,
  table,
} from 'correctables/server';

const args = z.object({ key: z.string() });
const write = { access: 'write', args, result: z.null() } as const;

export const allKindsContract = defineContract('all-kinds', {
  visit: { ...write, args: args.extend({ tag: z.string(), profile: z.unknown() }) },
  forget: write,
  open: write,
  order: { ...write, args: args.extend({ item: z.unknown() }), partitionBy: 'key' },
  serve: { ...write, partitionBy: 'key' },
});

interface Keyed {
  readonly key: string;
}
interface Visit extends Keyed {
  readonly tag: string;
  readonly profile?: unknown;
}
interface Order extends Keyed {
  readonly item?: unknown;
}

export const service = defineService(allKindsContract, {
  tables: {
    guests: table(
      {
        profile: register<unknown>(),
        visits: counter(),
        tags: set<string>(),
        notes: log<string>(),
      },
      { removable: true },
    ),
    shops: table(
      { seats: boundedCounter({ min: 0 }), bread: stock(), last: cell(), line: queue() },
      { partition: 'key' },
    ),
  },
  shadowOperations: ({ guests, shops }) => ({
    visit: blue(({ key, tag, profile }: Visit) => [
      guests.row(key).profile.write(profile),
      guests.row(key).visits.add(1),
      guests.row(key).tags.add(tag),
      guests.row(key).notes.append(`${tag} came`),
    ]),
    forget: blue(({ key }: Keyed) => [guests.remove(key)]),
    open: blue(({ key }: Keyed) => [shops.row(key).seats.give(10)]),
    order: red(({ key, item }: Order) => [
      shops.row(key).bread.add(3),
      shops.row(key).last.assign(item),
      shops.row(key).line.push(item),
    ]),
    serve: red(({ key }: Keyed) => [shops.row(key).line.pop(), shops.row(key).bread.take(1)]),
  }),
  generators: {
    visit: (a, { shadow }) => shadow.visit(a, null),
    forget: (a, { shadow }) => shadow.forget(a, null),
    open: (a, { shadow }) => shadow.open(a, null),
    order: (a, { shadow }) => shadow.order(a, null),
    serve: (a, { shadow }) => shadow.serve(a, null),
  },
});
