/**
 * How `correctables label` draws arguments: a shop of two books and two carts, which both sites
 * share, of quantities that two of them cannot both have. Identifiers that the service makes the
 * search finds by itself.
 */
import type { Arbitraries, DrawContext } from 'correctables/testing';

const ITEMS = ['1', '2'] as const;
const CARTS = ['a', 'a', 'b'] as const;
/** Of a stock of 22 one can have 12 and leave ten, two cannot. */
const STOCKS = [21, 22, 23] as const;
const QUANTITIES = [0, 0, 1, 12] as const;
const CUSTOMERS = ['x', 'y'] as const;

const payment = { type: 'VISA', number: '1', name: 'n', expiry: '2013-01-01' };
const person = {
  firstName: 'f',
  lastName: 'l',
  phone: '1',
  email: 'e',
  birthday: '1980-01-01',
  data: 'd',
};

/** Few streets, so that some addresses are known. */
const address = ({ pick }: DrawContext) => {
  return { street: pick(['s', 't']), city: 'c', state: 'st', zip: '1', country: 'co' };
};

const purchase = ({ pick }: DrawContext) => {
  return { cart: pick(CARTS), customer: pick(CUSTOMERS), payment, shipType: 'AIR' };
};

export const arbitraries: Arbitraries = {
  loadItems: ({ pick }) => ({
    items: ITEMS.map((item) => ({
      item,
      about: {
        title: pick(['an end', 'the sea']),
        author: 'w',
        subject: 'ARTS',
        publisher: 'p',
        description: 'd',
        backing: 'AUDIO',
        pages: 20,
        isbn: '1',
        srpCents: 100,
      },
      published: '2011-04-01',
      costCents: 100,
      image: 'i',
      thumbnail: 't',
      related: [],
      stock: pick(STOCKS),
    })),
  }),
  loadCustomers: (draw) => ({
    customers: [
      {
        customer: draw.pick(CUSTOMERS),
        uname: 'u',
        person,
        address: address(draw),
        discount: 0,
        orders: [
          {
            order: draw.unique,
            placedAt: 1,
            status: 'shipped',
            totalCents: 200,
            shipType: 'AIR',
            payment,
            lines: ITEMS.map((item) => ({ item, subject: 'ARTS', quantity: 1, costCents: 100 })),
          },
        ],
      },
    ],
  }),
  doCart: ({ pick, chance }) => {
    const item = chance(0.2) ? pick(ITEMS) : null;
    const quantities = ITEMS.map((entry) => ({ item: entry, quantity: pick(QUANTITIES) }));
    return { cart: pick(CARTS), item, quantities: chance(0.1) ? [] : quantities };
  },
  createNewCustomer: (draw) => ({ person, address: address(draw) }),
  refreshSession: ({ pick }) => ({ customer: pick(CUSTOMERS) }),
  doBuyConfirm: purchase,
  doBuyConfirmAddr: (draw) => ({ ...purchase(draw), address: address(draw) }),
  adminUpdate: ({ pick, between }) => {
    return { item: pick(ITEMS), costCents: between(1, 3), image: 'i', thumbnail: 't' };
  },
};
