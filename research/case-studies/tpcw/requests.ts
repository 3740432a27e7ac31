/**
 * What a click in the bookstore does: the fourteen web interactions of TPC-W, each one to four
 * transactions.
 */
import { wholeBetween } from '../../../demo/shared/random.ts';
import type { Request, Seat } from '../case-study.ts';
import { tpcw } from './contract.ts';
import {
  customerOf,
  itemOf,
  newAddress,
  newPayment,
  newPerson,
  newShipping,
  picturesOf,
  sizesAt,
  SUBJECTS,
  unameOf,
} from './data.ts';
import type { mixes } from './mixes.ts';
import { picked, word } from './word-list.ts';

type RequestName = keyof (typeof mixes)['shopping'];

/** Of those who buy, so many are new; and so many want it sent to somewhere else. */
const NEW_CUSTOMERS = 0.2;
const ELSEWHERE = 0.05;
/**
 * How often a look at the cart puts the book in that was looked at last; otherwise it sets
 * quantities.
 */
const PUTS_IN = 0.6;
/** Quantities of those who set some: 0 takes the book out again. */
const QUANTITY_MAX = 3;

/** Lets a customer in. */
export function enter({ store, random, scale }: Seat): Readonly<Record<RequestName, Request>> {
  const { items, customers } = sizesAt(scale);
  const number = wholeBetween(random, 0, customers - 1);
  let customer = { customer: customerOf(number), uname: unameOf(number), discount: 0 };
  let cart: string | undefined;
  let inCart: readonly { readonly item: string }[] = [];
  let seen: string | undefined;

  const anyItem = (): string => itemOf(wholeBetween(random, 0, items - 1));
  const anySubject = (): string => picked(SUBJECTS, random);
  /** One of a list is looked at next. */
  const notice = (found: readonly { readonly item: string }[]): void => {
    seen = found[wholeBetween(random, 0, Math.max(0, found.length - 1))]?.item ?? seen;
  };
  const promotions = async (): Promise<void> =>
    notice(await store.ask(tpcw.getRelated({ item: anyItem() })));
  const search = () => {
    const by = wholeBetween(random, 1, 3);
    if (by === 1) return tpcw.doSubjectSearch({ subject: anySubject() });
    const start = word(random).slice(0, 2);
    return by === 2 ? tpcw.doTitleSearch({ title: start }) : tpcw.doAuthorSearch({ author: start });
  };
  const openCart = async (): Promise<string> => {
    cart ??= (await store.ask(tpcw.createEmptyCart({}))).cart;
    return cart;
  };

  return {
    async home() {
      await store.ask(tpcw.getName({ customer: customer.customer }));
      await promotions();
    },
    async newProducts() {
      notice(await store.ask(tpcw.getNewProducts({ subject: anySubject() })));
    },
    async bestSellers() {
      notice(await store.ask(tpcw.getBestSellers({ subject: anySubject() })));
    },
    async productDetail() {
      seen ??= anyItem();
      await store.ask(tpcw.getBook({ item: seen }));
    },
    searchRequest: promotions,
    async searchResults() {
      notice(await store.ask(search()));
    },
    async shoppingCart() {
      const mine = await openCart();
      const puts = inCart.length === 0 || random() < PUTS_IN;
      const quantities = inCart.map(({ item }) => ({
        item,
        quantity: wholeBetween(random, 0, QUANTITY_MAX),
      }));
      const change = puts ? { item: seen ?? null, quantities: [] } : { item: null, quantities };
      inCart = (await store.ask(tpcw.doCart({ cart: mine, ...change }))).lines;
      await promotions();
    },
    async customerRegistration() {
      await store.ask(tpcw.getUserName({ customer: customer.customer }));
    },
    async buyRequest() {
      const mine = await openCart();
      if (random() < NEW_CUSTOMERS) {
        const signUp = tpcw.createNewCustomer({
          person: newPerson(random),
          address: newAddress(random),
        });
        customer = await store.ask(signUp);
      } else {
        customer = (await store.ask(tpcw.getCustomer({ uname: customer.uname }))) ?? customer;
        await store.ask(tpcw.refreshSession({ customer: customer.customer }));
      }
      inCart = (await store.ask(tpcw.getCart({ cart: mine, discount: customer.discount }))).lines;
    },
    async buyConfirm() {
      const mine = await openCart();
      // A customer on the way to a purchase when the run began has something in the cart.
      if (inCart.length === 0)
        await store.ask(tpcw.doCart({ cart: mine, item: seen ?? null, quantities: [] }));
      const wish = {
        cart: mine,
        customer: customer.customer,
        payment: newPayment(random),
        shipType: newShipping(random),
      };
      const isConcurrentWriters = random() < ELSEWHERE;
      // A purchase that fails leaves its cart to other clients: the next one begins with another
      // cart.
      await (isConcurrentWriters
        ? store.ask(tpcw.doBuyConfirmAddr({ ...wish, address: newAddress(random) }))
        : store.ask(tpcw.doBuyConfirm(wish)));
      cart = undefined;
      inCart = [];
    },
    async orderInquiry() {
      await store.ask(tpcw.getUserName({ customer: customer.customer }));
    },
    async orderDisplay() {
      await store.ask(tpcw.getPassword({ uname: customer.uname }));
      await store.ask(tpcw.getMostRecentOrder({ uname: customer.uname }));
    },
    async adminRequest() {
      await store.ask(tpcw.getBook({ item: anyItem() }));
    },
    async adminConfirm() {
      const index = wholeBetween(random, 0, items - 1);
      await store.ask(tpcw.getBook({ item: itemOf(index) }));
      const costCents = wholeBetween(random, 100, 9999);
      const pictures = picturesOf(index, wholeBetween(random, 1, 9));
      await store.ask(tpcw.adminUpdate({ item: itemOf(index), costCents, ...pictures }));
    },
  };
}
