/**
 * TPC-W's bookstore: what its transactions do, and what two sites do together (RedBlue, OSDI 2012,
 * §7.1, Figure 7).
 */
import { createClient, type Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { createEmbedded, type Embedded } from 'correctables/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tpcw } from '../../../../research/case-studies/tpcw/contract.ts';
import { newAddress, newPayment, newPerson } from '../../../../research/case-studies/tpcw/data.ts';
import { service } from '../../../../research/case-studies/tpcw/service.ts';
import { seeded } from '../../../../demo/shared/random.ts';

const random = seeded(1);
const payment = newPayment(random);
const HOME = newAddress(random);
const AWAY = newAddress(random);

let deployment: Embedded<'ue' | 'uw'>;
let east: Client<RedBlueLevels>;
let west: Client<RedBlueLevels>;

const book = (
  item: string,
  stock: number,
  more: { title?: string; subject?: string; published?: string } = {},
) => {
  const { title = `Book ${item}`, subject = 'ARTS', published = '2001-01-01' } = more;
  return {
    item,
    about: {
      title,
      author: 'a1',
      subject,
      publisher: 'p',
      description: 'd',
      backing: 'AUDIO',
      pages: 99,
      isbn: '1',
      srpCents: 2000,
    },
    published,
    costCents: 1000,
    image: 'i',
    thumbnail: `thumb-${item}`,
    related: [],
    stock,
  };
};

async function openCart(...items: string[]): Promise<string> {
  const { cart } = await east.invoke(tpcw.createEmptyCart({}));
  for (const item of items) await east.invoke(tpcw.doCart({ cart, item, quantities: [] }));
  return cart;
}

const stockOf = async (item: string): Promise<number | undefined> =>
  (await east.invokeStrong(tpcw.getBook({ item })))?.stock;

const wish = (cart: string, customer = 'c1') => ({ cart, customer, payment, shipType: 'AIR' });

beforeEach(async () => {
  deployment = createEmbedded(service, {
    sites: ['ue', 'uw'],
    generators: { determinismCheckRate: 1 },
  });
  east = createClient(deployment.site('ue'));
  west = createClient(deployment.site('uw'));
  await east.invoke(
    tpcw.loadAuthors({ authors: [{ author: 'a1', firstName: 'Ann', lastName: 'Author' }] }),
  );
  const customer = {
    customer: 'c1',
    uname: 'u1',
    person: newPerson(random),
    address: HOME,
    discount: 0.5,
    orders: [],
  };
  await east.invoke(tpcw.loadCustomers({ customers: [customer] }));
});

afterEach(() => deployment.close());

describe('Figure 7', () => {
  test('enough left → the stock goes down, the order is there, the cart is empty, and it took the red order', async () => {
    await east.invoke(tpcw.loadItems({ items: [book('1', 30)] }));
    const cart = await openCart('1');
    await east.invoke(tpcw.doCart({ cart, item: null, quantities: [{ item: '1', quantity: 3 }] }));
    const levels: string[] = [];
    const purchase = east
      .invoke(tpcw.doBuyConfirm(wish(cart)))
      .onFinal((_, view) => levels.push(view.level));
    const bought = await purchase;
    expect(levels).toEqual(['strong']);
    // Half price for three of 10.00, 8.25 % tax, 3.00 for sending and 1.00 each.
    expect(bought).toMatchObject({ totalCents: Math.round(1500 * 1.0825) + 600 });
    expect(await stockOf('1')).toBe(27);
    expect(await east.invoke(tpcw.getCart({ cart, discount: 0 }))).toEqual({
      lines: [],
      subtotalCents: 0,
    });
    expect(await east.invoke(tpcw.getMostRecentOrder({ uname: 'u1' }))).toMatchObject({
      order: bought?.order,
      status: 'pending',
      lines: [{ item: '1', quantity: 3, costCents: 1000 }],
    });
  });

  test('fewer than ten would be left → filled up by the rule of line 9, at one site alone', async () => {
    await east.invoke(tpcw.loadItems({ items: [book('1', 12)] }));
    const cart = await openCart('1');
    await east.invoke(tpcw.doCart({ cart, item: null, quantities: [{ item: '1', quantity: 5 }] }));
    const levels: string[] = [];
    await east.invoke(tpcw.doBuyConfirm(wish(cart))).onFinal((_, view) => levels.push(view.level));
    expect(levels).toEqual(['causal']);
    expect(await stockOf('1')).toBe(12 + (12 - 5 + 21));
  });

  test('more than can be filled up → rolled back: no order, and the cart as it was', async () => {
    await east.invoke(tpcw.loadItems({ items: [book('1', 12)] }));
    const cart = await openCart('1');
    await east.invoke(tpcw.doCart({ cart, item: null, quantities: [{ item: '1', quantity: 33 }] }));
    expect(await east.invoke(tpcw.doBuyConfirm(wish(cart)))).toBeNull();
    expect(await stockOf('1')).toBe(12);
    expect((await east.invoke(tpcw.getCart({ cart, discount: 0 }))).lines).toMatchObject([
      { item: '1', quantity: 33 },
    ]);
    expect(await east.invoke(tpcw.getMostRecentOrder({ uname: 'u1' }))).toBeNull();
  });

  test('two sites want what only one can have → one gets it, the other is filled up for, and no stock below zero', async () => {
    await east.invoke(tpcw.loadItems({ items: [book('1', 30)] }));
    const carts = [await openCart('1'), await openCart('1')] as const;
    for (const cart of carts) {
      await east.invoke(
        tpcw.doCart({ cart, item: null, quantities: [{ item: '1', quantity: 20 }] }),
      );
    }
    while (
      (await west.invoke(tpcw.getCart({ cart: carts[1], discount: 0 }))).lines[0]?.quantity !== 20
    );
    const bought = await Promise.all([
      east.invoke(tpcw.doBuyConfirm(wish(carts[0]))),
      west.invoke(tpcw.doBuyConfirm(wish(carts[1]))),
    ]);
    expect(bought.every((item) => item !== null)).toBe(true);
    expect(await stockOf('1')).toBe(10 + (10 - 20 + 21));
  });
});

describe('carts', () => {
  beforeEach(() => east.invoke(tpcw.loadItems({ items: [book('1', 30), book('2', 30)] })));

  const lines = (value: {
    readonly lines: readonly { item: string; quantity: number }[];
  }): string[] => value.lines.map(({ item, quantity }) => `${quantity} of ${item}`).sort();

  test('a book, the same again, other quantities, one of them none → as asked', async () => {
    const { cart } = await east.invoke(tpcw.createEmptyCart({}));
    const change = async (
      item: string | null,
      ...quantities: { item: string; quantity: number }[]
    ) => lines(await east.invoke(tpcw.doCart({ cart, item, quantities })));
    expect(await change('1')).toEqual(['1 of 1']);
    expect(await change('1')).toEqual(['2 of 1']);
    expect(await change('2')).toEqual(['1 of 2', '2 of 1']);
    expect(await change(null, { item: '1', quantity: 7 })).toEqual(['1 of 2', '7 of 1']);
    expect(await change(null, { item: '1', quantity: 0 }, { item: '2', quantity: 4 })).toEqual([
      '4 of 2',
    ]);
    expect(await change(null)).toEqual(['4 of 2']);
    expect(lines(await east.invoke(tpcw.getCart({ cart, discount: 0 })))).toEqual(['4 of 2']);
  });

  test('an empty one that is looked at, and one that was emptied → get some book', async () => {
    const { cart } = await east.invoke(tpcw.createEmptyCart({}));
    const first = await east.invoke(tpcw.doCart({ cart, item: null, quantities: [] }));
    expect(first.lines).toHaveLength(1);
    const emptied = first.lines.map(({ item }) => ({ item, quantity: 0 }));
    const second = await east.invoke(tpcw.doCart({ cart, item: null, quantities: emptied }));
    expect(second.lines).toHaveLength(1);
    expect(lines(await east.invoke(tpcw.getCart({ cart, discount: 0 })))).toEqual(lines(second));
  });

  test('one that two sites fill at once → has what both put in', async () => {
    const { cart } = await east.invoke(tpcw.createEmptyCart({}));
    while ((await west.invoke(tpcw.getBook({ item: '2' }))) === null);
    await Promise.all([
      east.invoke(tpcw.doCart({ cart, item: '1', quantities: [] })),
      west.invoke(tpcw.doCart({ cart, item: '2', quantities: [] })),
    ]);
    for (const client of [east, west]) {
      while ((await client.invoke(tpcw.getCart({ cart, discount: 0 }))).lines.length < 2);
      expect(lines(await client.invoke(tpcw.getCart({ cart, discount: 0 })))).toEqual([
        '1 of 1',
        '1 of 2',
      ]);
    }
  });
});

describe('customers', () => {
  test('who signs up at two sites at once → two identifiers; each is found by name', async () => {
    const sign = () => tpcw.createNewCustomer({ person: newPerson(random), address: AWAY });
    const [item, two] = await Promise.all([east.invoke(sign()), west.invoke(sign())]);
    expect(item.customer).not.toBe(two.customer);
    expect(await east.invoke(tpcw.getCustomer({ uname: item.uname }))).toMatchObject({
      ...item,
      address: AWAY,
    });
    expect(await east.invoke(tpcw.getUserName({ customer: item.customer }))).toBe(item.uname);
    expect(await east.invoke(tpcw.getPassword({ uname: item.uname }))).toBe(
      item.uname.toLowerCase(),
    );
  });
});

describe('books', () => {
  beforeEach(() =>
    east.invoke(
      tpcw.loadItems({
        items: [
          book('1', 30, { title: 'The Sea', published: '1999-01-01' }),
          book('2', 30, { title: 'An End', published: '2005-01-01' }),
          book('3', 30, { title: 'The See', subject: 'TRAVEL' }),
        ],
      }),
    ),
  );

  const titles = (found: readonly { title: string }[]): string[] => found.map(({ title }) => title);

  test('searches → by title, author and subject; new ones first', async () => {
    expect(titles(await east.invoke(tpcw.doTitleSearch({ title: 'the s' })))).toEqual([
      'The Sea',
      'The See',
    ]);
    expect(await east.invoke(tpcw.doAuthorSearch({ author: 'auth' }))).toHaveLength(3);
    expect(await east.invoke(tpcw.doAuthorSearch({ author: 'unknown' }))).toEqual([]);
    expect(titles(await east.invoke(tpcw.doSubjectSearch({ subject: 'ARTS' })))).toEqual([
      'An End',
      'The Sea',
    ]);
    expect(titles(await east.invoke(tpcw.getNewProducts({ subject: 'ARTS' })))).toEqual([
      'An End',
      'The Sea',
    ]);
    expect(await east.invoke(tpcw.getBook({ item: '3' }))).toMatchObject({
      authorName: 'Ann Author',
      stock: 30,
    });
  });

  test('bought together → best sellers of the subject, and shown beside each other after the next write', async () => {
    const cart = await openCart('1', '2', '2', '3');
    await east.invoke(tpcw.doBuyConfirm(wish(cart)));
    expect(titles(await east.invoke(tpcw.getBestSellers({ subject: 'ARTS' })))).toEqual([
      'An End',
      'The Sea',
    ]);
    expect(await east.invoke(tpcw.getRelated({ item: '1' }))).toEqual([]);
    await east.invoke(
      tpcw.adminUpdate({ item: '1', costCents: 5, image: 'new', thumbnail: 'new' }),
    );
    const related = await east.invoke(tpcw.getRelated({ item: '1' }));
    expect(related.map(({ item }) => item)).toEqual(['2', '3']);
    expect(await east.invoke(tpcw.getBook({ item: '1' }))).toMatchObject({
      costCents: 5,
      image: 'new',
    });
    expect(titles(await east.invoke(tpcw.getNewProducts({ subject: 'ARTS' })))).toEqual([
      'The Sea',
      'An End',
    ]);
  });
});
