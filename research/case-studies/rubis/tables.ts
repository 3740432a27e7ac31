/**
 * What the auctions remember. What never changes of a row stands in one field, since a field costs
 * memory at every site. An item whose end has passed is an old item: RUBiS has a table of its own
 * for these.
 */
import {
  counter,
  register,
  table,
  type Invariants,
  type SnapshotInvariants,
} from 'correctables/server';
import type { z } from 'zod';
import { ofAllRows, type Bonds } from '../cross-table-invariants.ts';
import { prefixOf } from '../composite-keys.ts';
import type { about, bid, comment, profile, purchase } from './contract.ts';

export type Profile = z.infer<typeof profile>;
export type About = z.infer<typeof about>;
export type Bid = z.infer<typeof bid>;
export type Comment = z.infer<typeof comment>;
export type Purchase = z.infer<typeof purchase>;

export const tables = {
  categories: table({ name: register<string>() }),
  regions: table({ name: register<string>() }),
  users: table({
    /** How often the identifier was handed out; so below. */
    made: counter(),
    profile: register<Profile>(),
    rating: counter(),
  }),
  /** By nickname. */
  nicknames: table({ taken: counter(), user: register<string>() }),
  items: table(
    {
      made: counter(),
      about: register<About>(),
      /** Pieces that can be had at once, and those that were. */
      stock: counter(),
      bought: counter(),
      bids: counter(),
      endsAt: register<number>(),
      /** Category and end; region, category and end; seller and end. */
      shelf: register<string>(),
      regionalShelf: register<string>(),
      sale: register<string>(),
    },
    { indexes: ['shelf', 'regionalShelf', 'sale'] },
  ),
  /** By `bidKey`. */
  bids: table(
    { made: counter(), about: register<Bid>(), bidder: register<string>() },
    { indexes: ['bidder'] },
  ),
  /** By the user that they are about, time and identifier. */
  comments: table({ made: counter(), about: register<Comment>() }),
  purchases: table(
    { made: counter(), about: register<Purchase>(), buyer: register<string>() },
    { indexes: ['buyer'] },
  ),
};

const UNIQUE = 'its identifier was handed out once';
const handedOutOnce = ({ made }: { readonly made: number }): boolean => made <= 1;

/**
 * The three invariants of the paper (§7.2): identifiers, nicknames, and the stock, of which nothing
 * gets lost either.
 */
export const invariants: Invariants<typeof tables> = {
  users: { [UNIQUE]: handedOutOnce },
  nicknames: { 'a nickname has one user': ({ taken }) => taken <= 1 },
  items: {
    [UNIQUE]: handedOutOnce,
    'the stock is never negative': ({ stock }) => stock >= 0,
    'what was bought is missing from the stock': ({ about, stock, bought }) =>
      stock + bought === (about === undefined || about.buyNow === 0 ? 0 : about.quantity),
  },
  bids: { [UNIQUE]: handedOutOnce },
  comments: { [UNIQUE]: handedOutOnce },
  purchases: { [UNIQUE]: handedOutOnce },
};

/** What rows of several tables say of each other. */
export const bonds: Bonds<typeof tables> = {
  items: {
    'an item counts its bids': (item, { items, bids }) =>
      items.row(item).bids === bids.keys({ prefix: prefixOf(item) }).length,
  },
  users: {
    'a rating is the sum of the comments': (user, { users, comments }) => {
      const value = comments
        .keys({ prefix: prefixOf(user) })
        .map((key) => comments.row(key).about?.rating ?? 0);
      return users.row(user).rating === value.reduce((sum, rating) => sum + rating, 0);
    },
    'who has a nickname is found by it': (user, { users, nicknames }) =>
      nicknames.row(users.row(user).profile?.nickname ?? '').user === user,
  },
};

/**
 * The same, and what no row shows by itself. All rows are looked at: for states as small as those
 * of tests.
 */
export const snapshotInvariants: SnapshotInvariants<typeof tables> = {
  ...ofAllRows(bonds),
  'what was bought is on a purchase': ({ items, purchases }) => {
    const counts = new Map<string, number>();
    for (const key of purchases.keys()) {
      const { item = '', quantity = 0 } = purchases.row(key).about ?? {};
      counts.set(item, (counts.get(item) ?? 0) + quantity);
    }
    return items.keys().every((item) => items.row(item).bought === (counts.get(item) ?? 0));
  },
};
