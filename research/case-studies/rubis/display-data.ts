/** Items, users and bids as pages show them. */
import { prefixOf, orderedText } from '../composite-keys.ts';
import type { Readers } from './generators.ts';
import type { Comment } from './tables.ts';

/** Comments of a user and bids of an item that a page shows at most. */
const SHOWN_MAX = 100;

/** The highest bid for an item: 0 where there is none. */
export function highestOf({ bids }: Readers, item: string): number {
  const [key] = bids.keys({ prefix: prefixOf(item), limit: 1, reverse: true });
  return key === undefined ? 0 : (bids.row(key).about?.bid ?? 0);
}

/** The highest bids for an item, highest first. */
export function bidsOf({ bids }: Readers, item: string) {
  const keys = bids.keys({ prefix: prefixOf(item), limit: SHOWN_MAX, reverse: true });
  return keys.flatMap((key) => bids.row(key).about ?? []);
}

/**
 * What a piece costs now: the lowest of the bids that get something when the highest are served
 * first. 0 where they do not ask for anything.
 */
export function priceOf(tables: Readers, item: string, quantity: number): number {
  const { bids } = tables;
  let left = quantity;
  let price = 0;
  // Each bid is for one piece at least.
  for (const key of bids.keys({ prefix: prefixOf(item), limit: quantity, reverse: true })) {
    const { about } = bids.row(key);
    if (about === undefined || left <= 0) break;
    left -= about.quantity;
    price = about.bid;
  }
  return price;
}

/** An item in a list. */
export function listedItem(tables: Readers, item: string) {
  const { about, bids, endsAt = 0 } = tables.items.row(item);
  const { name = '', initialPrice = 0 } = about ?? {};
  return { item, name, initialPrice, highest: highestOf(tables, item), bids, endsAt };
}

/** An item on its own page. */
export function shownItem(tables: Readers, item: string) {
  const { about, bids, stock, endsAt = 0 } = tables.items.row(item);
  if (about === undefined) return null;
  const price = priceOf(tables, item, about.quantity);
  return {
    ...about,
    item,
    sellerName: nicknameOf(tables, about.seller),
    price,
    bids,
    stock,
    endsAt,
  };
}

export function nicknameOf({ users }: Readers, user: string): string {
  return users.row(user).profile?.nickname ?? '';
}

/** What was said of a user, newest first. */
export function commentsOn(tables: Readers, user: string) {
  const { comments } = tables;
  const keys = comments.keys({ prefix: prefixOf(user), limit: SHOWN_MAX, reverse: true });
  return keys.flatMap((key) => comments.row(key).about ?? []).map((item) => remark(tables, item));
}

function remark(tables: Readers, { from, rating, text, at }: Comment) {
  return { from, fromName: nicknameOf(tables, from), rating, text, at };
}

/** Returns the user with this nickname; undefined if the password is wrong. */
export function userBy(
  { nicknames, users }: Readers,
  nickname: string,
  password: string,
): string | undefined {
  const { user = '' } = nicknames.row(nickname);
  return users.row(user).profile?.password === password ? user : undefined;
}

/** A part of an index from a time on, or before it: one page of what begins with these parts. */
export const fromTime = (parts: readonly string[], ms: number) => {
  return { prefix: prefixOf(...parts), from: prefixOf(...parts) + orderedText(ms) };
};
export const beforeTime = (parts: readonly string[], ms: number) => {
  return { prefix: prefixOf(...parts), before: prefixOf(...parts) + orderedText(ms) };
};
