/**
 * Buying what is in the cart: RedBlue, OSDI 2012, Figure 7, with as many books in the cart as there
 * are.
 */
import { uncertified } from 'correctables/server';
import { discounted, linesOf } from './cart.ts';
import { addressFor } from './customers.ts';
import type { GeneratorsOf, HasOf } from './generators.ts';
import type { Purchase } from './shadows.ts';

/**
 * A purchase that would leave fewer than these fills the stock up instead (Figure 7, line 8), by so
 * many more (line 9).
 */
const STOCK_MIN = 10;
const REFILL = 21;

/** What TPC-W adds to the price: 8.25 % of tax, and what sending costs. */
const TAX = 0.0825;
const SHIPPING_CENTS = 300;
const SHIPPING_CENTS_EACH = 100;

type Wish = Pick<Purchase, 'cart' | 'customer' | 'payment' | 'shipType'>;
type Has = Pick<HasOf<'doBuyConfirm'>, 'tables' | 'uniqueId' | 'now'>;

/**
 * How the stock changes by the sale of some; `undefined` where that many cannot be had (line 12).
 */
function getLengthChange(stock: number, quantity: number): number | undefined {
  const left = stock - quantity;
  if (left >= STOCK_MIN) return -quantity;
  const delta = left + REFILL;
  return delta > 0 ? delta : undefined;
}

/**
 * The purchase, as the scratchpad of Figure 7 (b) comes to it: `empty` of an empty cart, `tooMany`
 * where it rolls back.
 */
function decided(
  wish: Wish,
  shipTo: string,
  { tables, uniqueId, now: at }: Has,
): Purchase | 'empty' | 'tooMany' {
  const { cart, customer } = wish;
  const inCart = linesOf(tables, cart).filter(({ quantity }) => quantity > 0);
  if (inCart.length === 0) return 'empty';
  const stocking: { item: string; change: number }[] = [];
  const lines = inCart.map(({ item, quantity }) => {
    const { about, shown } = tables.items.row(item);
    return { item, quantity, subject: about?.subject ?? '', costCents: shown?.costCents ?? 0 };
  });
  for (const { item, quantity } of lines) {
    const change = getLengthChange(tables.items.row(item).stock, quantity);
    if (change === undefined) return 'tooMany';
    stocking.push({ item, change });
  }
  const subtotal = discounted(lines, tables.customers.row(customer).known?.discount ?? 0);
  const sent = lines.reduce(
    (sum, { quantity }) => sum + quantity * SHIPPING_CENTS_EACH,
    SHIPPING_CENTS,
  );
  const totalCents = Math.round(subtotal * (1 + TAX)) + sent;
  return { ...wish, order: uniqueId(), shipTo, at, totalCents, lines, stocking };
}

const takes = ({ stocking }: Purchase): boolean => stocking.some(({ change }) => change < 0);

const toReply = ({ order, totalCents }: Purchase) => ({ order, totalCents });

export const buyGenerators: GeneratorsOf<'doBuyConfirm' | 'doBuyConfirmAddr'> = {
  doBuyConfirm: (wish, has) => {
    const home = has.tables.customers.row(wish.customer).known?.address ?? '';
    const purchase = decided(wish, home, has);
    // The customer's own site knows whether the cart is empty. All sites must agree whether there
    // are enough books.
    if (purchase === 'empty') return uncertified(null);
    if (purchase === 'tooMany') return null;
    const { doBuyConfirmDecre, doBuyConfirmIncre } = has.shadow;
    return (takes(purchase) ? doBuyConfirmDecre : doBuyConfirmIncre)(purchase, toReply(purchase));
  },
  doBuyConfirmAddr: ({ address: value, ...wish }, has) => {
    const { address, elsewhere } = addressFor(has, value);
    const purchase = decided(wish, address, has);
    if (purchase === 'empty') return uncertified(null);
    if (purchase === 'tooMany') return null;
    const { doBuyConfirmAddrDecre, doBuyConfirmAddrIncre } = has.shadow;
    const choose = takes(purchase) ? doBuyConfirmAddrDecre : doBuyConfirmAddrIncre;
    return choose({ ...purchase, elsewhere }, toReply(purchase));
  },
};
