/**
 * The auctions' data: as many users and items as the paper has (RedBlue, OSDI 2012, §8.3.1), times
 * a scale, and otherwise what RUBiS's own generator draws.
 */
import type { Operation } from 'correctables';
import { wholeBetween, type Random } from '../../../demo/shared/random.ts';
import { scaled } from '../case-study.ts';
import { rubisStudy } from './contract.ts';
import type { Load } from './load.ts';

const USERS = 1_000_000;
const ITEMS = 33_000;
const OLD_ITEMS = 500_000;
export const CATEGORIES = 20;
export const REGIONS = 62;

/** Of a hundred items: there is one piece of these, a reserve price for these. */
const UNIQUE = 80;
const RESERVED = 40;
/** One of so many can be had at once. */
export const TO_BUY_EVERY = 10;
export const PIECES_MAX = 10;
export const PRICE_MAX = 5_000_00;
const BIDS_MAX = 20;
/**
 * RUBiS has up to 7168 letters on an item and 2048 in a comment, which fill its disks: here memory
 * holds everything.
 */
const DESCRIPTION_MAX = 512;
const COMMENT_MAX = 128;
/** Of a user; on the average that is as much as one on each old item. */
const COMMENTS_MAX = 1;
/** What a comment may say of a user, in points. */
export const RATINGS = [-5, -3, 0, 3, 5] as const;

const DAY_MS = 24 * 3_600_000;
/** An item is for sale so long. */
export const DAYS_MAX = 7;
const OLD_DAYS_MAX = 300;

/** Few enough for one message. */
const BATCH = { users: 200, items: 25 } as const;

/** How many there are at a scale. */
export const sizesAt = (scale: number) => {
  return {
    users: scaled(USERS, scale),
    items: scaled(ITEMS, scale),
    oldItems: scaled(OLD_ITEMS, scale),
  };
};

export const userOf = (user: number): string => `u${user}`;
export const itemOf = (item: number): string => `i${item}`;
export const oldItemOf = (item: number): string => `o${item}`;
export const categoryOf = (category: number): string => `c${category}`;
export const regionOf = (region: number): string => `r${region}`;

/** How a user of the data logs in. */
export const loginOf = (user: number) => ({ nickname: `user${user}`, password: `password${user}` });

/** One of the numbers below `count`. */
const below = (random: Random, count: number): number => wholeBetween(random, 0, count - 1);
export const anyCategory = (random: Random): string => categoryOf(below(random, CATEGORIES));
export const anyRegion = (random: Random): string => regionOf(below(random, REGIONS));

const WORDS =
  'old rare nice used large small blue red round brass oak silk paper glass lamp chair clock watch book map coin ';

/** Some words, up to so many letters. */
export function textOf(random: Random, maxLetters: number): string {
  const length = wholeBetween(random, 1, maxLetters);
  const from = below(random, WORDS.length);
  return WORDS.repeat(Math.ceil((from + length) / WORDS.length))
    .slice(from, from + length)
    .trim();
}

const NOTHING: Load = { categories: [], regions: [], users: [], items: [] };

/** Loads all of it, in batches. */
export function* populate(scale: number, random: Random): Iterable<Operation> {
  const { users, items, oldItems } = sizesAt(scale);
  const now = Date.now();
  const named = (id: string, description: string) => ({
    id,
    name: `${description} ${id.slice(1)}`,
  });
  const categories = Array.from({ length: CATEGORIES }, (_, n) => named(categoryOf(n), 'category'));
  const regions = Array.from({ length: REGIONS }, (_, n) => named(regionOf(n), 'region'));
  yield rubisStudy.load({ ...NOTHING, categories, regions });

  for (const batch of batches(users, BATCH.users)) {
    yield rubisStudy.load({
      ...NOTHING,
      users: batch.map((n) => loadedUser(n, { now, users, oldItems, random })),
    });
  }
  for (const batch of batches(items, BATCH.items)) {
    const forSale = batch.map((n) => {
      const endsAt = now + wholeBetween(random, DAY_MS, DAYS_MAX * DAY_MS);
      return loadedItem(itemOf(n), n % TO_BUY_EVERY === 0, { endsAt, users, random });
    });
    yield rubisStudy.load({ ...NOTHING, items: forSale });
  }
  for (const batch of batches(oldItems, BATCH.items)) {
    const old = batch.map((n) => {
      const endsAt = now - wholeBetween(random, 0, OLD_DAYS_MAX * DAY_MS);
      return loadedItem(oldItemOf(n), n % TO_BUY_EVERY === 0, { endsAt, users, random });
    });
    yield rubisStudy.load({ ...NOTHING, items: old });
  }
}

function* batches(count: number, size: number): Iterable<readonly number[]> {
  for (let from = 0; from < count; from += size) {
    yield Array.from({ length: Math.min(size, count - from) }, (_, n) => from + n);
  }
}

interface Society {
  readonly now: number;
  readonly users: number;
  readonly oldItems: number;
  readonly random: Random;
}

function loadedUser(n: number, society: Society): Load['users'][number] {
  const { now, random } = society;
  const { nickname, password } = loginOf(n);
  const names = {
    firstName: `Great${n}`,
    lastName: `User${n}`,
    email: `${nickname}@rubis.example`,
  };
  const registeredAt = now - wholeBetween(random, 0, 2 * OLD_DAYS_MAX * DAY_MS);
  const profile = { nickname, password, ...names, region: anyRegion(random), registeredAt };
  const comments = Array.from({ length: wholeBetween(random, 0, COMMENTS_MAX) }, (_, k) => {
    return { id: `x${n}.${k}`, comment: loadedComment(userOf(n), society) };
  });
  return { user: userOf(n), profile, comments };
}

function loadedComment(user: string, { now, users, oldItems, random }: Society) {
  const item = oldItemOf(below(random, oldItems));
  const at = now - wholeBetween(random, 0, OLD_DAYS_MAX * DAY_MS);
  return { from: userOf(below(random, users)), user, item, ...newComment(random), at };
}

interface Circumstances {
  readonly endsAt: number;
  readonly users: number;
  readonly random: Random;
}

function loadedItem(
  item: string,
  isToBuy: boolean,
  { endsAt, users, random }: Circumstances,
): Load['items'][number] {
  const startsAt = endsAt - DAYS_MAX * DAY_MS;
  const about = { ...newItem(random, isToBuy), seller: userOf(below(random, users)), startsAt };
  let price = about.initialPrice;
  const count = wholeBetween(random, 0, BIDS_MAX);
  const now = Math.min(endsAt, Date.now());
  const bids = Array.from({ length: count }, (_, n) => {
    price += wholeBetween(random, 1, 10) * 1_00;
    const quantity = wholeBetween(random, 1, about.quantity);
    const at = startsAt + Math.floor(((now - startsAt) * (n + 1)) / (count + 1));
    const bid = {
      user: userOf(below(random, users)),
      item,
      quantity,
      bid: price,
      maxBid: price + 10_00,
      at,
    };
    return { id: `b${n}`, bid };
  });
  return { item, about, endsAt, bids };
}

/** An item that a user may want to sell. */
export function newItem(random: Random, isToBuy: boolean) {
  const initialPrice = wholeBetween(random, 1_00, PRICE_MAX);
  const dearer = (): number => initialPrice + wholeBetween(random, 1_00, 1_000_00);
  return {
    name: textOf(random, 30),
    description: textOf(random, DESCRIPTION_MAX),
    category: anyCategory(random),
    region: anyRegion(random),
    quantity: random() * 100 < UNIQUE ? 1 : wholeBetween(random, 2, PIECES_MAX),
    initialPrice,
    reservePrice: random() * 100 < RESERVED ? dearer() : 0,
    buyNow: isToBuy ? dearer() : 0,
  };
}

/** A comment of one user on another. */
export function newComment(random: Random) {
  return { rating: RATINGS[below(random, RATINGS.length)] ?? 0, text: textOf(random, COMMENT_MAX) };
}
