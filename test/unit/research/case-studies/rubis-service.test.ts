/**
 * The auctions of RUBiS: what its transactions do, and what two sites do together (RedBlue, OSDI
 * 2012, §7.2).
 */
import { expect, test } from 'vitest';
import { rubis, rubisStudy } from '../../../../research/case-studies/rubis/contract.ts';
import { service } from '../../../../research/case-studies/rubis/service.ts';
import { study } from '../../../../research/case-studies/rubis/study.ts';
import { getFinal, twoSites, until, type TwoSites } from './two-sites.ts';

const person = (nickname: string) => {
  return {
    nickname,
    password: `of ${nickname}`,
    firstName: 'First',
    lastName: 'Last',
    email: 'e',
    region: 'r1',
  };
};

const thing = (
  user: string,
  more: { quantity?: number; buyNow?: number; category?: string; days?: number } = {},
) => {
  const { quantity = 1, buyNow = 0, category = 'c1', days = 7 } = more;
  const prices = { initialPrice: 10_00, reservePrice: 0, buyNow };
  return {
    user,
    name: 'a lamp',
    description: 'of brass',
    category,
    region: 'r1',
    quantity,
    ...prices,
    days,
  };
};

async function register({ east }: TwoSites, nickname: string): Promise<string> {
  return (await east.invoke(rubis.registerUser(person(nickname)))).user ?? '';
}

async function offer({ east }: TwoSites, ...asked: Parameters<typeof thing>): Promise<string> {
  return (await east.invoke(rubis.registerItem(thing(...asked)))).item;
}

const bidOf = (
  user: string,
  item: string,
  bid: number,
  more: { quantity?: number; minBid?: number } = {},
) => {
  const { quantity = 1, minBid = 0 } = more;
  return rubis.storeBid({ user, item, quantity, bid, maxBid: bid, minBid });
};

const loginOf = (nickname: string) => ({ nickname, password: `of ${nickname}` });

test('a free nickname → registered in the red order; one that is taken → null', async () => {
  await using sites = twoSites(service);
  const { value, level } = await getFinal(sites.east, rubis.registerUser(person('ann')));
  expect(level).toBe('strong');
  const user = value.user ?? '';
  expect(await sites.west.invoke(rubis.registerUser(person('ann')))).toEqual({ user: null });
  expect(await sites.east.invoke(rubis.viewUserInfo({ user }))).toMatchObject({
    nickname: 'ann',
    rating: 0,
  });
  expect(await sites.east.invoke(rubis.viewUserInfo({ user }))).not.toHaveProperty('password');
  expect(await sites.east.invoke(rubis.viewUserInfo({ user: 'unknown' }))).toBeNull();
});

test('an item → found by category and region until it ends, sooner ends first', async () => {
  await using sites = twoSites(service);
  const late = await offer(sites, 'ann', { days: 5 });
  const soon = await offer(sites, 'ann', { days: 2 });
  const elsewhere = await offer(sites, 'ann', { category: 'c2' });
  const items = (found: readonly { readonly item: string }[]) => found.map(({ item }) => item);
  const first = { page: 0, size: 20 };
  const { east } = sites;
  expect(
    items(await east.invoke(rubis.searchItemsByCategory({ category: 'c1', ...first }))),
  ).toEqual([soon, late]);
  expect(
    items(await east.invoke(rubis.searchItemsByCategory({ category: 'c1', page: 1, size: 1 }))),
  ).toEqual([late]);
  const where = { category: 'c2', region: 'r1' };
  expect(items(await east.invoke(rubis.searchItemsByRegion({ ...where, ...first })))).toEqual([
    elsewhere,
  ]);
  expect(
    await east.invoke(rubis.searchItemsByRegion({ ...where, region: 'r2', ...first })),
  ).toEqual([]);
  expect(await east.invoke(rubis.viewItem({ item: soon }))).toMatchObject({
    price: 0,
    bids: 0,
    stock: 0,
  });
  expect(await east.invoke(rubis.viewItem({ item: 'none' }))).toBeNull();
});

test('bids → blue; the highest is the price, one on an older form is kept, one below its form is not', async () => {
  await using sites = twoSites(service);
  const { east } = sites;
  const ann = await register(sites, 'ann');
  const item = await offer(sites, 'zoe');
  const { value, level } = await getFinal(east, bidOf(ann, item, 10_00));
  expect(level).toBe('causal');
  expect(value.bid).not.toBeNull();
  expect((await east.invoke(bidOf('bob', item, 12_00))).bid).not.toBeNull();
  expect((await east.invoke(bidOf('cid', item, 11_00))).bid).not.toBeNull();
  const belowForm = east.invoke(bidOf('dan', item, 12_00, { minBid: 13_00 }));
  await expect(belowForm).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect((await east.invoke(bidOf('dan', item, 9_00))).bid).toBeNull();
  expect((await east.invoke(bidOf('dan', item, 20_00, { quantity: 2 }))).bid).toBeNull();
  expect((await east.invoke(bidOf('dan', 'none', 20_00))).bid).toBeNull();
  expect(await east.invoke(rubis.viewItem({ item }))).toMatchObject({ price: 12_00, bids: 3 });
  const history = await east.invoke(rubis.viewBidHistory({ item }));
  expect(history?.bids.map(({ bid }) => bid).toSorted()).toEqual([10_00, 11_00, 12_00]);
  expect(history?.bids.map(({ nickname }) => nickname)).toContain('ann');
  expect(await east.invoke(rubis.viewBidHistory({ item: 'none' }))).toBeNull();
  expect(await east.invoke(rubis.putBid({ ...loginOf('ann'), item }))).toMatchObject({
    user: ann,
    minBid: 13_00,
  });
  expect(await east.invoke(rubis.putBid({ ...loginOf('bob'), item }))).toBeNull();
});

test('bought at once → red; the last piece ends the sale; what is not there is not sold', async () => {
  await using sites = twoSites(service);
  const { east } = sites;
  const item = await offer(sites, 'zoe', { quantity: 2, buyNow: 50_00 });
  const buy = (quantity: number) => rubis.storeBuyNow({ user: 'ann', item, quantity });
  expect(await east.invoke(buy(3))).toEqual({ purchase: null });
  const { value, level } = await getFinal(east, buy(1));
  expect(level).toBe('strong');
  expect(value.purchase).not.toBeNull();
  expect(await east.invoke(rubis.viewItem({ item }))).toMatchObject({ stock: 1 });
  await east.invoke(buy(1));
  expect(await east.invoke(buy(1))).toEqual({ purchase: null });
  expect((await east.invoke(bidOf('bob', item, 60_00))).bid).toBeNull();
  expect(
    await east.invoke(rubis.searchItemsByCategory({ category: 'c1', page: 0, size: 20 })),
  ).toEqual([]);
  const auctioned = await offer(sites, 'zoe');
  expect(
    await east.invoke(rubis.storeBuyNow({ user: 'ann', item: auctioned, quantity: 1 })),
  ).toEqual({
    purchase: null,
  });
});

test('comments → the rating is their sum, whichever site they come from; an unknown user has none', async () => {
  await using sites = twoSites(service);
  const { east, west } = sites;
  const ann = await register(sites, 'ann');
  await west.invokeStrong(rubis.viewUserInfo({ user: ann }));
  const about = (rating: number) =>
    rubis.storeComment({ from: 'bob', user: ann, item: 'lamp', rating, text: `${rating}` });
  await Promise.all([east.invoke(about(5)), west.invoke(about(-3)), east.invoke(about(0))]);
  for (const client of [east, west]) {
    const found = await until(
      client,
      rubis.viewUserInfo({ user: ann }),
      (user) => user?.comments.length === 3,
    );
    expect(found?.rating).toBe(2);
  }
  const aboutUnknown = rubis.storeComment({
    from: ann,
    user: 'unknown',
    item: 'lamp',
    rating: 5,
    text: '',
  });
  expect(await east.invoke(aboutUnknown)).toEqual({ comment: null });
  expect(sites.alarms).toEqual([]);
});

test('a sale that has ended → its history begins with the latest bid, and who has bid most has won', async () => {
  await using sites = twoSites(study.service);
  const { east } = sites;
  const dayAgo = Date.now() - 24 * 3_600_000;
  const about = {
    name: 'a',
    description: '',
    seller: 'u',
    category: 'c',
    region: 'r',
    startsAt: 0,
    quantity: 1,
  };
  const prices = { initialPrice: 1, reservePrice: 0, buyNow: 0 };
  const offers = [
    ['ann', 30, 1000],
    ['bob', 20, 3000],
    ['cid', 10, 2000],
  ] as const;
  const bids = offers.map(([user, bid, at]) => {
    return { id: user, bid: { user, item: 'lamp', quantity: 1, bid, maxBid: bid, at } };
  });
  const users = offers.map(([user]) => ({
    user,
    profile: { ...person(user), registeredAt: 0 },
    comments: [],
  }));
  const items = [{ item: 'lamp', about: { ...about, ...prices }, endsAt: dayAgo, bids }];
  await east.invoke(rubisStudy.load({ categories: [], regions: [], users, items }));
  const history = await east.invoke(rubisStudy.viewBidHistory({ item: 'lamp' }));
  expect(history?.bids.map(({ nickname }) => nickname)).toEqual(['bob', 'cid', 'ann']);
  const wonBy = async (user: string) =>
    (await east.invoke(rubisStudy.aboutMe(loginOf(user))))?.won.length;
  expect([await wonBy('ann'), await wonBy('bob')]).toEqual([1, 0]);
});
