/**
 * The bookstore's data: TPC-W's parameters as the paper has them (RedBlue, OSDI 2012, §8.3.1),
 * times a scale.
 */
import type { Operation } from 'correctables';
import { distinctBelow, wholeBetween, type Random } from '../../../demo/shared/random.ts';
import { scaled } from '../case-study.ts';
import { tpcw } from './contract.ts';
import { phrase, picked, word } from './word-list.ts';

/** 50 emulated browsers, each with 2880 customers, and 10,000 items. */
const ITEMS = 10_000;
const CUSTOMERS = 50 * 2880;
/** A quarter of the number of items. */
const ITEMS_AN_AUTHOR = 4;
/** Of ten customers, so many have ordered before. */
const ORDERS_IN_TEN = 9;
const LINES_MAX = 5;
const RELATED = 5;
/** What a book may have in stock at first. */
const STOCK = { min: 10, max: 30 } as const;

/** Few enough for one message. */
const BATCH = 50;
/** 1 April 2011: all data is from before. */
const OPENED_AT = 1_301_616_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export const SUBJECTS = [
  'ARTS',
  'BIOGRAPHIES',
  'BUSINESS',
  'CHILDREN',
  'COMPUTERS',
  'COOKING',
  'HEALTH',
  'HISTORY',
  'HOME',
  'HUMOR',
  'LITERATURE',
  'MYSTERY',
  'NON-FICTION',
  'PARENTING',
  'POLITICS',
  'REFERENCE',
  'RELIGION',
  'ROMANCE',
  'SELF-HELP',
  'SCIENCE-NATURE',
  'SCIENCE-FICTION',
  'SPORTS',
  'YOUTH',
  'TRAVEL',
] as const;
const BACKINGS = ['HARDBACK', 'PAPERBACK', 'USED', 'AUDIO', 'LIMITED-EDITION'] as const;
const CARDS = ['VISA', 'MASTERCARD', 'DISCOVER', 'AMEX', 'DINERS'] as const;
const SHIPPINGS = ['AIR', 'UPS', 'FEDEX', 'SHIP', 'COURIER', 'MAIL'] as const;
const COUNTRIES = [
  'United States',
  'United Kingdom',
  'Canada',
  'Germany',
  'France',
  'Japan',
  'Brazil',
  'India',
] as const;

/** How many there are at a scale. */
export interface Sizes {
  readonly items: number;
  readonly authors: number;
  readonly customers: number;
}

export function sizesAt(scale: number): Sizes {
  const items = scaled(ITEMS, scale);
  return {
    items,
    authors: Math.ceil(items / ITEMS_AN_AUTHOR),
    customers: scaled(CUSTOMERS, scale),
  };
}

/** Names by number. */
export const itemOf = (index: number): string => `i${index}`;
export const customerOf = (index: number): string => `c${index}`;
export const unameOf = (index: number): string => `u${index}`;
const authorOf = (index: number): string => `a${index}`;

/** What fills the tables. */
export function* populate(scale: number, random: Random): Iterable<Operation> {
  const sizes = sizesAt(scale);
  for (const items of batches(sizes.items)) {
    yield tpcw.loadItems({ items: items.map((index) => item(index, sizes, random)) });
  }
  for (const authors of batches(sizes.authors)) {
    yield tpcw.loadAuthors({ authors: authors.map((index) => author(index, random)) });
  }
  for (const customers of batches(sizes.customers)) {
    yield tpcw.loadCustomers({
      customers: customers.map((index) => customer(index, sizes, random)),
    });
  }
}

function* batches(count: number): Iterable<number[]> {
  for (let from = 0; from < count; from += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - from) }, (_, n) => from + n);
  }
}

function item(index: number, { items, authors }: Sizes, random: Random) {
  const costCents = wholeBetween(random, 100, 9999);
  return {
    item: itemOf(index),
    about: {
      title: phrase(random, wholeBetween(random, 2, 4)),
      author: authorOf(wholeBetween(random, 0, authors - 1)),
      subject: picked(SUBJECTS, random),
      publisher: phrase(random, 2),
      description: phrase(random, wholeBetween(random, 15, 50)),
      backing: picked(BACKINGS, random),
      pages: wholeBetween(random, 20, 9999),
      isbn: String(wholeBetween(random, 1e12, 1e13 - 1)),
      srpCents: Math.round(costCents * (1 + random())),
    },
    published: dateOf(wholeBetween(random, 1, 30_000)),
    costCents,
    ...picturesOf(index),
    related: distinctBelow(random, items, RELATED).map(itemOf),
    stock: wholeBetween(random, STOCK.min, STOCK.max),
  };
}

/** Addresses of a book's pictures; `edition` tells those of one time from those of another. */
export function picturesOf(
  index: number,
  edition = 0,
): { readonly image: string; readonly thumbnail: string } {
  const name = `${index % 100}/${index}-${edition}.gif`;
  return { image: `img/image_${name}`, thumbnail: `img/thumb_${name}` };
}

function author(index: number, random: Random) {
  return {
    author: authorOf(index),
    firstName: capital(word(random)),
    lastName: capital(word(random)),
  };
}

function customer(index: number, { items }: Sizes, random: Random) {
  const orders = random() * 10 < ORDERS_IN_TEN ? [pastOrder(index, items, random)] : [];
  return {
    customer: customerOf(index),
    uname: unameOf(index),
    person: newPerson(random),
    address: newAddress(random),
    discount: wholeBetween(random, 0, 50) / 100,
    orders,
  };
}

function pastOrder(index: number, items: number, random: Random) {
  const lines = distinctBelow(random, items, wholeBetween(random, 1, LINES_MAX)).map((entry) => ({
    item: itemOf(entry),
    subject: picked(SUBJECTS, random),
    quantity: wholeBetween(random, 1, 10),
    costCents: wholeBetween(random, 100, 9999),
  }));
  return {
    order: `o${index}`,
    placedAt: OPENED_AT - wholeBetween(random, 1, 60) * DAY_MS,
    status: 'shipped',
    totalCents: lines.reduce((sum, { quantity, costCents }) => sum + quantity * costCents, 0),
    shipType: picked(SHIPPINGS, random),
    payment: newPayment(random),
    lines,
  };
}

/** The details of a new customer. */
export function newPerson(random: Random) {
  const [firstName, lastName] = [capital(word(random)), capital(word(random))];
  return {
    firstName,
    lastName,
    phone: String(wholeBetween(random, 1e9, 1e10 - 1)),
    email: `${firstName.toLowerCase()}@example.org`,
    birthday: dateOf(wholeBetween(random, 1, 30_000)),
    data: phrase(random, 15),
  };
}

export function newAddress(random: Random) {
  return {
    street: `${wholeBetween(random, 1, 999)} ${capital(word(random))} Street`,
    city: capital(word(random)),
    state: word(random).slice(0, 2).toUpperCase(),
    zip: String(wholeBetween(random, 10_000, 99_999)),
    country: picked(COUNTRIES, random),
  };
}

export function newPayment(random: Random) {
  return {
    type: picked(CARDS, random),
    number: String(wholeBetween(random, 1e15, 9e15)),
    name: `${capital(word(random))} ${capital(word(random))}`,
    expiry: dateOf(-wholeBetween(random, 1, 700)),
  };
}

export const newShipping = (random: Random): string => picked(SHIPPINGS, random);

/** A day, so many before April 2011. */
function dateOf(daysBefore: number): string {
  return new Date(OPENED_AT - daysBefore * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
