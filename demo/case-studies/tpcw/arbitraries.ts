/**
 * How `correctables label` draws arguments: a shop of two books and two carts, which both sites share, of quantities that
 * two of them cannot both have. Identifiers that the service makes the search finds by itself.
 */
import type { Arbitraries, Draw } from 'correctables/testing';

const ITEMS = ['1', '2'] as const;
const CARTS = ['a', 'b'] as const;
const CUSTOMERS = ['x', 'y'] as const;

const payment = { type: 'VISA', number: '1', name: 'n', expiry: '2013-01-01' };
const person = { firstName: 'f', lastName: 'l', phone: '1', email: 'e', birthday: '1980-01-01', data: 'd' };

/** Few streets, so that some addresses are known. */
const address = ({ pick }: Draw) => {
  return { street: pick(['s', 't']), city: 'c', state: 'st', zip: '1', country: 'co' };
};

const purchase = ({ pick }: Draw) => {
  return { cart: pick(CARTS), customer: pick(CUSTOMERS), payment, shipType: 'AIR' };
};

export const arbitraries: Arbitraries = {
  loadItems: ({ pick, between }) => ({
    items: [
      {
        item: pick(ITEMS),
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
        stock: between(10, 40),
      },
    ],
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
            order: draw.own,
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
  doCart: ({ pick, between, chance }) => {
    const item = chance(0.4) ? pick(ITEMS) : null;
    const quantities = ITEMS.map((each) => ({ item: each, quantity: chance(0.3) ? 0 : between(1, 30) }));
    return { cart: pick(CARTS), item, quantities };
  },
  createNewCustomer: (draw) => ({ person, address: address(draw) }),
  refreshSession: ({ pick }) => ({ customer: pick(CUSTOMERS) }),
  doBuyConfirm: purchase,
  doBuyConfirmAddr: (draw) => ({ ...purchase(draw), address: address(draw) }),
  adminUpdate: ({ pick, between }) => {
    return { item: pick(ITEMS), costCents: between(1, 3), image: 'i', thumbnail: 't' };
  },
};
