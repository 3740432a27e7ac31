/**
 * Filling the bookstore: not a transaction of TPC-W's, whose database is full before the first
 * customer comes.
 */
import { blue, type EffectTables } from 'correctables/server';
import type { z } from 'zod';
import { joined, orderedText } from '../composite-keys.ts';
import type { tpcw } from './contract.ts';
import type { Known, tables } from './tables.ts';

type Specs = (typeof tpcw)['operations'];
type Items = z.infer<Specs['loadItems']['args']>['items'];
type Authors = z.infer<Specs['loadAuthors']['args']>['authors'];
type Customers = z.infer<Specs['loadCustomers']['args']>['customers'];

/** A customer with the address that goes with the identifier. */
export type Resident = Omit<Customers[number], 'person' | 'address' | 'discount'> & {
  readonly known: Known;
  readonly line: string;
};

export const loadShadows = ({
  items,
  authors,
  customers,
  addresses,
  orders,
}: EffectTables<typeof tables>) => ({
  loadItems: blue(({ items: loaded }: { readonly items: Items }) =>
    loaded.flatMap(({ item, about, published, costCents, image, thumbnail, related, stock }) => [
      items.row(item).about.write(about),
      items.row(item).shown.write({ costCents, image, thumbnail }),
      items.row(item).related.write(related),
      items.row(item).stock.add(stock),
      items.row(item).title.write(about.title.toLowerCase()),
      items.row(item).author.write(about.author),
      items.row(item).shelf.write(joined(about.subject, about.title)),
      items.row(item).newness.write(joined(about.subject, published)),
    ]),
  ),
  loadAuthors: blue(({ authors: loaded }: { readonly authors: Authors }) =>
    loaded.flatMap(({ author, firstName, lastName }) => [
      authors.row(author).name.write(`${firstName} ${lastName}`),
      authors.row(author).lastName.write(lastName.toLowerCase()),
    ]),
  ),
  loadCustomers: blue(
    ({ residents, at }: { readonly residents: readonly Resident[]; readonly at: number }) =>
      residents.flatMap(({ customer, uname, known, line, orders: before }) => [
        addresses.row(known.address).line.write(line),
        customers.row(customer).uname.write(uname),
        customers.row(customer).known.write(known),
        customers.row(customer).session.write({ loginAt: at, expiresAt: at }),
        ...before.flatMap(({ order, placedAt, status, totalCents, shipType, payment, lines }) => [
          orders.row(order).placedAt.write(placedAt),
          orders.row(order).history.write(joined(customer, orderedText(placedAt))),
          orders.row(order).status.write(status),
          orders
            .row(order)
            .placed.write({ customer, totalCents, shipType, shipTo: known.address, payment }),
          orders.row(order).lines.write(lines),
        ]),
      ]),
  ),
});
