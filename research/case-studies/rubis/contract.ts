/**
 * The auctions of RUBiS as its web servers ask for them: the sixteen transactions that RedBlue
 * (OSDI 2012, §7.2) counts, eleven reads and five updates. Money is in cents, times are in
 * milliseconds since the epoch.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';
import { auditOperation } from '../audit.ts';

/** Without control characters: they stand between the parts of keys. */
const id = z
  .string()
  .max(100)
  .regex(/^\P{Cc}+$/u);
const text = z.string().max(8192);
const nickname = z.string().min(1).max(50);
const cents = z.int().min(0);
const pieces = z.int().min(1).max(10);
const at = z.number();

/** Of a user, what does not change. */
export const profile = z.object({
  nickname,
  password: text,
  firstName: text,
  lastName: text,
  email: text,
  region: id,
  registeredAt: at,
});

/** Of an item, what does not change. */
export const about = z.object({
  name: text,
  description: text,
  seller: id,
  category: id,
  region: id,
  quantity: pieces,
  initialPrice: cents,
  /** Below it the seller need not sell: 0 for none. */
  reservePrice: cents,
  /** For this it can be had at once: 0 where it cannot. */
  buyNow: cents,
  startsAt: at,
});

/** A user offers `bid` for each of `quantity` pieces, and would go up to `maxBid`. */
export const bid = z.object({
  user: id,
  item: id,
  quantity: pieces,
  bid: cents,
  maxBid: cents,
  at,
});
export const comment = z.object({
  from: id,
  user: id,
  item: id,
  rating: z.int().min(-5).max(5),
  text,
  at,
});
export const purchase = z.object({ user: id, item: id, quantity: pieces, at });

const named = z.object({ id, name: text });
/** An item as lists have it. */
const listed = z.object({
  item: id,
  name: text,
  initialPrice: cents,
  highest: cents,
  bids: z.int(),
  endsAt: at,
});
/** An item as its own page has it. */
const shown = about.extend({
  item: id,
  sellerName: text,
  /** The price of all that the bids request; 0 without bids. */
  price: cents,
  bids: z.int(),
  /** Pieces that can be had at once. */
  stock: z.int(),
  endsAt: at,
});
const remark = comment
  .pick({ from: true, rating: true, text: true, at: true })
  .extend({ fromName: text });
const page = z.object({ page: z.int().min(0).max(100), size: z.int().min(1).max(50) });
const credentials = z.object({ nickname, password: text });
const form = credentials.extend({ item: id });

const read = 'read';
const update = 'write';

/** The transactions. What needs a login is `null` without one; so is what is not there. */
const transactions = {
  browseCategories: { access: read, args: z.object({}), result: z.array(named) },
  browseRegions: { access: read, args: z.object({}), result: z.array(named) },
  searchItemsByCategory: {
    access: read,
    args: page.extend({ category: id }),
    result: z.array(listed),
  },
  searchItemsByRegion: {
    access: read,
    args: page.extend({ category: id, region: id }),
    result: z.array(listed),
  },
  viewItem: { access: read, args: z.object({ item: id }), result: shown.nullable() },
  viewUserInfo: {
    access: read,
    args: z.object({ user: id }),
    result: profile
      .omit({ password: true })
      .extend({ rating: z.int(), comments: z.array(remark) })
      .nullable(),
  },
  viewBidHistory: {
    access: read,
    args: z.object({ item: id }),
    result: z.object({ name: text, bids: z.array(bid.extend({ nickname: text })) }).nullable(),
  },
  /** The forms of those who have said who they are. */
  buyNow: { access: read, args: form, result: shown.extend({ user: id }).nullable() },
  putBid: {
    access: read,
    args: form,
    result: shown.extend({ user: id, minBid: cents }).nullable(),
  },
  putComment: {
    access: read,
    args: form.extend({ about: id }),
    result: z.object({ user: id, itemName: text, nickname: text }).nullable(),
  },
  aboutMe: {
    access: read,
    args: credentials,
    result: z
      .object({
        user: id,
        rating: z.int(),
        comments: z.array(remark),
        bidsOn: z.array(listed),
        won: z.array(listed),
        bought: z.array(listed),
        selling: z.array(listed),
        sold: z.array(listed),
      })
      .nullable(),
  },

  /** No `user` if the nickname is taken already. */
  registerUser: {
    access: update,
    args: profile.omit({ registeredAt: true }),
    result: z.object({ user: id.nullable() }),
  },
  registerItem: {
    access: update,
    color: 'blue',
    args: about
      .omit({ seller: true, startsAt: true })
      .extend({ user: id, days: z.int().min(1).max(30) }),
    result: z.object({ item: id }),
  },
  /**
   * No `bid` where the item is not for sale any more, has not so many pieces, or begins with a
   * higher price. A lower bid than the highest by now is kept: its form was older.
   */
  storeBid: {
    access: update,
    color: 'blue',
    args: bid
      .omit({ at: true })
      .extend({ minBid: cents })
      .refine(
        (requested) => requested.minBid <= requested.bid && requested.bid <= requested.maxBid,
        'a bid from minBid to maxBid',
      ),
    result: z.object({ bid: id.nullable() }),
  },
  /** No `purchase` where there are not so many left. */
  storeBuyNow: {
    access: update,
    args: purchase.omit({ at: true }),
    result: z.object({ purchase: id.nullable() }),
  },
  /** What `from` says of `user`; no `comment` where there is no such user. */
  storeComment: {
    access: update,
    color: 'blue',
    args: comment.omit({ at: true }),
    result: z.object({ comment: id.nullable() }),
  },
} as const;

export const rubis = defineContract('rubis', transactions);

/** The same beside what fills the database, and looks at all of it. */
export const rubisStudy = defineContract('rubis', {
  ...transactions,
  /** What is there already stays as it is. Users come with what was said of them. */
  load: {
    access: update,
    args: z.object({
      categories: z.array(named),
      regions: z.array(named),
      users: z.array(z.object({ user: id, profile, comments: z.array(z.object({ id, comment })) })),
      items: z.array(
        z.object({ item: id, about, endsAt: at, bids: z.array(z.object({ id, bid })) }),
      ),
    }),
    result: z.null(),
  },
  audit: auditOperation,
});
