/** A service with an invariant: red sales of a stock that must not run out, and blue counters. */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, red, table } from 'correctables/server';

const key = z.object({ key: z.string() });
const counts = z.object({ visits: z.int(), left: z.int(), sold: z.int() });

export const saleContract = defineContract('sale', {
  /** Blue: counts a visit. */
  visit: { access: 'write', partitionBy: 'key', args: key, result: z.null() },
  /** Red: puts items into the stock. */
  stock: {
    access: 'write',
    partitionBy: 'key',
    args: key.extend({ items: z.int().positive() }),
    result: z.null(),
  },
  /** Red: sells an item, if one is left. */
  sell: { access: 'write', partitionBy: 'key', args: key, result: z.boolean() },
  look: { access: 'read', partitionBy: 'key', args: key, result: counts },
});

type Keyed = { readonly key: string };

export const service = defineService(saleContract, {
  tables: {
    shops: table({ visits: counter(), left: counter(), sold: counter() }, { partition: 'key' }),
  },
  shadowOperations: ({ shops }) => ({
    visit: blue((a: Keyed) => [shops.row(a.key).visits.add(1)]),
    stock: red((a: Keyed & { readonly items: number }) => [shops.row(a.key).left.add(a.items)]),
    sell: red((a: Keyed) => [shops.row(a.key).left.add(-1), shops.row(a.key).sold.add(1)]),
  }),
  generators: {
    visit: (a, { shadow }) => shadow.visit(a, null),
    stock: (a, { shadow }) => shadow.stock(a, null),
    sell: (a, { tables, shadow }) =>
      tables.shops.row(a.key).left > 0 ? shadow.sell(a, true) : false,
    look: (a, { tables }) => {
      const { visits, left, sold } = tables.shops.row(a.key);
      return { visits, left, sold };
    },
  },
  invariants: { shops: { 'the stock is never negative': ({ left }) => left >= 0 } },
});
