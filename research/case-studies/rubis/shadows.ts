/**
 * The shadow operations of RUBiS: one for each way through a transaction that changes something
 * (RedBlue, OSDI 2012, §7). Two are red, since two sites could be wrong together: a nickname for a
 * user, and a piece of what can be had at once.
 */
import { blue, red, type EffectTables } from 'correctables/server';
import { joined, orderedText } from '../composite-keys.ts';
import { bidKey, commentKey } from './keys.ts';
import type { About, Bid, Comment, Profile, Purchase, tables } from './tables.ts';

export interface NewUser {
  readonly user: string;
  readonly profile: Profile;
}

export interface NewItem {
  readonly item: string;
  readonly about: About;
  readonly endsAt: number;
}

export interface NewBid {
  readonly id: string;
  readonly bid: Bid;
}

export interface NewComment {
  readonly id: string;
  readonly comment: Comment;
}

export interface NewPurchase {
  readonly id: string;
  readonly purchase: Purchase;
  /** Whether it was the last piece: then the item is not for sale any more. */
  readonly isLast: boolean;
}

type On = EffectTables<typeof tables>;

/** The effects that transactions and the loading of data have in common. */
export const effectsOn = ({ users, nicknames, items, bids, comments }: On) => ({
  newUser: ({ user, profile }: NewUser) => [
    users.row(user).made.add(1),
    users.row(user).profile.write(profile),
    nicknames.row(profile.nickname).taken.add(1),
    nicknames.row(profile.nickname).user.write(user),
  ],
  newItem: ({ item, about, endsAt }: NewItem) => [
    items.row(item).made.add(1),
    items.row(item).about.write(about),
    items.row(item).endsAt.write(endsAt),
    items.row(item).shelf.write(joined(about.category, orderedText(endsAt))),
    items.row(item).regionalShelf.write(joined(about.region, about.category, orderedText(endsAt))),
    items.row(item).sale.write(joined(about.seller, orderedText(endsAt))),
  ],
  newBid: ({ id, bid }: NewBid) => {
    const row = bids.row(bidKey(bid.item, bid, id));
    const bidder = joined(bid.user, orderedText(bid.at));
    return [
      row.made.add(1),
      row.about.write(bid),
      row.bidder.write(bidder),
      items.row(bid.item).bids.add(1),
    ];
  },
  newComment: (made: NewComment) => {
    const row = comments.row(commentKey(made));
    return [row.made.add(1), row.about.write(made.comment)];
  },
});

export const shadowOperations = (on: On) => {
  const { users, items, purchases } = on;
  const { newUser, newItem, newBid, newComment } = effectsOn(on);
  return {
    registerUser: red(newUser),

    // An item to bid for, or one that can be had at once as well.
    registerItem: blue(newItem),
    registerItemToBuy: blue((a: NewItem) => [
      ...newItem(a),
      items.row(a.item).stock.add(a.about.quantity),
    ]),

    // The first bid for an item; one above all others; one that was above the others when its form
    // was made. No bid is greater for having come later: what the highest is they say themselves,
    // by their keys.
    storeFirstBid: blue(newBid),
    storeHigherBid: blue(newBid),
    storeLowerBid: blue(newBid),

    storeBuyNow: red(({ id, purchase, isLast }: NewPurchase) => {
      const [row, item] = [purchases.row(id), items.row(purchase.item)];
      return [
        row.made.add(1),
        row.about.write(purchase),
        row.buyer.write(joined(purchase.user, orderedText(purchase.at))),
        item.stock.add(-purchase.quantity),
        item.bought.add(purchase.quantity),
        ...(isLast ? [item.endsAt.write(purchase.at)] : []),
      ];
    }),

    // A comment that changes a rating, or leaves it.
    storeComment: blue((a: NewComment) => [
      ...newComment(a),
      users.row(a.comment.user).rating.add(a.comment.rating),
    ]),
    storeNeutralComment: blue(newComment),
  };
};
