/**
 * The bookstore of TPC-W as its web servers ask for it: the twenty transactions of the open
 * implementation that RedBlue (OSDI 2012, §7.1) was built into, 13 reads and 7 updates. Money is in
 * cents, dates are texts such as `2011-04-01`.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';
import { auditOperation } from '../audit.ts';

const id = z.string().min(1).max(100);
const text = z.string().max(500);
const cents = z.int().min(0);
/** A share of the price. */
const discount = z.number().min(0).max(1);
const quantity = z.int().min(0).max(100);

/** What does not change of a book. */
export const about = z.object({
  title: text,
  author: id,
  subject: text,
  publisher: text,
  description: text,
  backing: text,
  pages: z.int(),
  isbn: text,
  srpCents: cents,
});

const listed = z.object({ item: id, title: text, author: text });
const related = z.object({ item: id, thumbnail: text });
const book = about.extend({
  item: id,
  authorName: text,
  published: text,
  costCents: cents,
  image: text,
  thumbnail: text,
  stock: z.int(),
});

export const address = z.object({
  street: text,
  city: text,
  state: text,
  zip: text,
  country: text,
});

/** What a customer says when signing up. */
export const person = z.object({
  firstName: text,
  lastName: text,
  phone: text,
  email: text,
  birthday: text,
  data: text,
});

const customer = person.extend({ customer: id, uname: text, discount, address });
const cartLine = z.object({ item: id, title: text, costCents: cents, quantity: z.int() });
const cart = z.object({ lines: z.array(cartLine), subtotalCents: cents });
export const orderLine = z.object({ item: id, subject: text, quantity: z.int(), costCents: cents });
const order = z.object({
  order: id,
  placedAt: z.number(),
  status: text,
  totalCents: cents,
  shipType: text,
  lines: z.array(orderLine),
});
export const payment = z.object({ type: text, number: text, name: text, expiry: text });
const purchase = z.object({ cart: id, customer: id, payment, shipType: text });
/** The order; `null` where the cart is empty, or one wants more of a book than there can be. */
const bought = z.object({ order: id, totalCents: cents }).nullable();

export const tpcw = defineContract('tpcw', {
  getName: {
    access: 'read',
    args: z.object({ customer: id }),
    result: z.object({ firstName: text, lastName: text }).nullable(),
  },
  getUserName: { access: 'read', args: z.object({ customer: id }), result: text.nullable() },
  getPassword: { access: 'read', args: z.object({ uname: text }), result: text.nullable() },
  getCustomer: { access: 'read', args: z.object({ uname: text }), result: customer.nullable() },
  getMostRecentOrder: { access: 'read', args: z.object({ uname: text }), result: order.nullable() },
  getBook: { access: 'read', args: z.object({ item: id }), result: book.nullable() },
  getRelated: { access: 'read', args: z.object({ item: id }), result: z.array(related) },
  doSubjectSearch: { access: 'read', args: z.object({ subject: text }), result: z.array(listed) },
  doTitleSearch: { access: 'read', args: z.object({ title: text }), result: z.array(listed) },
  doAuthorSearch: { access: 'read', args: z.object({ author: text }), result: z.array(listed) },
  getNewProducts: { access: 'read', args: z.object({ subject: text }), result: z.array(listed) },
  getBestSellers: { access: 'read', args: z.object({ subject: text }), result: z.array(listed) },
  getCart: { access: 'read', args: z.object({ cart: id, discount }), result: cart },

  createEmptyCart: {
    access: 'write',
    color: 'blue',
    args: z.object({}),
    result: z.object({ cart: id }),
  },
  /**
   * Puts one of `item` into the cart, or sets how many of which it has: 0 takes them out. An empty
   * cart gets something.
   */
  doCart: {
    access: 'write',
    color: 'blue',
    args: z.object({
      cart: id,
      item: id.nullable(),
      quantities: z.array(z.object({ item: id, quantity })),
    }),
    result: cart,
  },
  createNewCustomer: {
    access: 'write',
    color: 'blue',
    args: z.object({ person, address }),
    result: z.object({ customer: id, uname: text, discount }),
  },
  refreshSession: {
    access: 'write',
    color: 'blue',
    args: z.object({ customer: id }),
    result: z.null(),
  },
  /** Buys what is in the cart, sent to where the customer lives. */
  doBuyConfirm: { access: 'write', args: purchase, result: bought },
  /** The same, sent to somewhere else. */
  doBuyConfirmAddr: { access: 'write', args: purchase.extend({ address }), result: bought },
  adminUpdate: {
    access: 'write',
    color: 'blue',
    args: z.object({ item: id, costCents: cents, image: text, thumbnail: text }),
    result: z.null(),
  },

  /** The store's first stock; items that are there already stay as they are. */
  loadItems: {
    access: 'write',
    color: 'blue',
    args: z.object({
      items: z.array(
        z.object({
          item: id,
          about,
          published: text,
          costCents: cents,
          image: text,
          thumbnail: text,
          related: z.array(id),
          stock: z.int().min(0),
        }),
      ),
    }),
    result: z.null(),
  },
  loadAuthors: {
    access: 'write',
    color: 'blue',
    args: z.object({ authors: z.array(z.object({ author: id, firstName: text, lastName: text })) }),
    result: z.null(),
  },
  /** Its customers, each with an address of its own, and what each has ordered before. */
  loadCustomers: {
    access: 'write',
    color: 'blue',
    args: z.object({
      customers: z.array(
        z.object({
          customer: id,
          uname: text,
          person,
          address,
          discount,
          orders: z.array(order.extend({ payment })),
        }),
      ),
    }),
    result: z.null(),
  },
  audit: auditOperation,
});
