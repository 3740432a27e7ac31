/**
 * The shadow operations of TPC-W: one for each way through a transaction that changes something
 * (RedBlue, OSDI 2012, §7). Two take from the stock, and are red; all others are blue.
 *
 * The paper's `lTs` columns have no counterpart: here each field knows when it was written, and a
 * removal takes from the cart what was put in up to its time.
 */
import { blue, red, type EffectTables } from 'correctables/server';
import type { z } from 'zod';
import { joined, orderedText } from '../composite-keys.ts';
import type { orderLine, payment } from './contract.ts';
import { loadShadows } from './load-shadows.ts';
import { lineKey, type Known, type Shown, type tables } from './tables.ts';

/** A new address. */
export interface NewAddress {
  readonly address: string;
  readonly line: string;
}

interface CartLine {
  readonly item: string;
  readonly quantity: number;
}

interface CartChange {
  readonly cart: string;
  readonly at: number;
  readonly lines: readonly CartLine[];
}

/** How the stock of a book changes: by less than nothing where it is taken from. */
interface Stocking {
  readonly item: string;
  readonly change: number;
}

/** A purchase as its generator has decided it. */
export interface Purchase {
  readonly order: string;
  readonly cart: string;
  readonly customer: string;
  readonly at: number;
  readonly totalCents: number;
  readonly shipType: string;
  readonly shipTo: string;
  readonly payment: z.infer<typeof payment>;
  readonly lines: readonly z.infer<typeof orderLine>[];
  readonly stocking: readonly Stocking[];
}

interface PurchaseElsewhere extends Purchase {
  /** Where it goes, if that is a new address. */
  readonly elsewhere: NewAddress | null;
}

interface NewCustomer {
  readonly customer: string;
  readonly uname: string;
  readonly known: Known;
  readonly at: number;
  readonly expiresAt: number;
  /** Where the customer lives, if that is a new address. */
  readonly elsewhere: NewAddress | null;
}

interface Update {
  readonly item: string;
  readonly shown: Shown;
  readonly newness: string;
}

export const shadowOperations = (on: EffectTables<typeof tables>) => {
  const { items, customers, addresses, orders, carts, cartLines } = on;
  const made = ({ address, line }: NewAddress) => [
    addresses.row(address).made.add(1),
    addresses.row(address).line.write(line),
  ];
  const setLines = ({ cart, at, lines }: CartChange) => [
    carts.row(cart).changedAt.write(at),
    ...lines.map(({ item, quantity }) =>
      cartLines.row(lineKey(cart, item)).quantity.write(quantity),
    ),
  ];
  const setAndRemove = (change: CartChange & { readonly gone: readonly string[] }) => [
    ...change.gone.map((item) => cartLines.remove(lineKey(change.cart, item))),
    ...setLines(change),
  ];
  /** Figure 7, (c) and (d): the order, the stock, and an empty cart. */
  const buy = (bought: Purchase) => {
    const { order, cart, customer, at, totalCents, shipType, shipTo, payment, lines, stocking } =
      bought;
    return [
      orders.row(order).made.add(1),
      orders.row(order).placedAt.write(at),
      orders.row(order).history.write(joined(customer, orderedText(at))),
      orders.row(order).status.write('pending'),
      orders.row(order).placed.write({ customer, totalCents, shipType, shipTo, payment }),
      orders.row(order).lines.write(lines),
      ...stocking.map(({ item, change }) => items.row(item).stock.add(change)),
      ...lines.map(({ item }) => cartLines.remove(lineKey(cart, item))),
    ];
  };
  const buyElsewhere = (bought: PurchaseElsewhere) => [
    ...(bought.elsewhere === null ? [] : made(bought.elsewhere)),
    ...buy(bought),
  ];
  const update = ({ item, shown, newness }: Update) => [
    items.row(item).shown.write(shown),
    items.row(item).newness.write(newness),
  ];
  return {
    createEmptyCart: blue(({ cart, at }: { cart: string; at: number }) => [
      carts.row(cart).made.add(1),
      carts.row(cart).changedAt.write(at),
    ]),

    // The ways through doCart: what was put in is new to the cart, or one more of the same;
    doCartAdd: blue(setLines),
    doCartAgain: blue(setLines),
    // other quantities, some of them perhaps none;
    doCartQuantities: blue(setLines),
    doCartRemove: blue(setAndRemove),
    // something by chance, for a cart that was empty, or has become so;
    doCartRandom: blue(setLines),
    doCartRefill: blue(setAndRemove),
    // and a look at the cart.
    doCartTouch: blue(({ cart, at }: { cart: string; at: number }) => [
      carts.row(cart).changedAt.write(at),
    ]),

    createNewCustomer: blue(({ customer, uname, known, at, expiresAt, elsewhere }: NewCustomer) => [
      ...(elsewhere === null ? [] : made(elsewhere)),
      customers.row(customer).made.add(1),
      customers.row(customer).uname.write(uname),
      customers.row(customer).known.write(known),
      customers.row(customer).session.write({ loginAt: at, expiresAt }),
    ]),
    refreshSession: blue(
      ({ customer, at, expiresAt }: { customer: string; at: number; expiresAt: number }) => [
        customers.row(customer).session.write({ loginAt: at, expiresAt }),
      ],
    ),

    // Figure 7: the stock is filled up, or taken from.
    doBuyConfirmIncre: blue(buy),
    doBuyConfirmDecre: red(buy),
    doBuyConfirmAddrIncre: blue(buyElsewhere),
    doBuyConfirmAddrDecre: red(buyElsewhere),

    adminUpdate: blue(update),
    adminUpdateRelated: blue((a: Update & { readonly related: readonly string[] }) => [
      ...update(a),
      items.row(a.item).related.write(a.related),
    ]),

    ...loadShadows(on),
  };
};
