/** What is read for those who have said who they are: forms, and their own page. */
import { prefixOf } from '../composite-keys.ts';
import type { GeneratorsOf, Readers } from './generators.ts';
import {
  beforeTime,
  commentsOn,
  fromTime,
  highestOf,
  listedItem,
  nicknameOf,
  shownItem,
  userBy,
} from './display-data.ts';

/** By so much a bid has to be higher than what is paid now. */
const STEP = 1_00;
/** How far one's own page looks back. */
const RECENT_MS = 30 * 24 * 3_600_000;
/** Bids, sales and purchases of its own that it looks at, at most. */
const OWN_MAX = 100;

export const formGenerators: GeneratorsOf<'buyNow' | 'putBid' | 'putComment' | 'aboutMe'> = {
  buyNow: ({ nickname, password, item }, { tables }) => {
    const user = userBy(tables, nickname, password);
    const shown = shownItem(tables, item);
    return user === undefined || shown === null ? null : { ...shown, user };
  },
  putBid: ({ nickname, password, item }, { tables }) => {
    const user = userBy(tables, nickname, password);
    const shown = shownItem(tables, item);
    if (user === undefined || shown === null) return null;
    return { ...shown, user, minBid: shown.price === 0 ? shown.initialPrice : shown.price + STEP };
  },
  putComment: ({ nickname, password, item, about }, { tables }) => {
    const user = userBy(tables, nickname, password);
    const itemName = tables.items.row(item).about?.name;
    if (user === undefined || itemName === undefined) return null;
    return { user, itemName, nickname: nicknameOf(tables, about) };
  },
  aboutMe: ({ nickname, password }, { tables, now }) => {
    const user = userBy(tables, nickname, password);
    if (user === undefined) return null;
    const { items } = tables;
    const listed = (keys: readonly string[]) => keys.map((item) => listedItem(tables, item));
    const bidsOn = itemsBidFor(tables, user);
    const open = ({ endsAt }: { readonly endsAt: number }): boolean => endsAt > now;
    const recent = ({ endsAt }: { readonly endsAt: number }): boolean =>
      endsAt <= now && endsAt > now - RECENT_MS;
    const selling = listed(items.by.sale({ ...fromTime([user], now), limit: OWN_MAX }));
    const ended = listed(
      items.by.sale({ ...beforeTime([user], now), limit: OWN_MAX, reverse: true }),
    );
    return {
      user,
      rating: tables.users.row(user).rating,
      comments: commentsOn(tables, user),
      bidsOn: listed([...bidsOn.keys()]).filter(open),
      won: listed(
        [...bidsOn].flatMap(([item, own]) => (own === highestOf(tables, item) ? item : [])),
      ).filter(recent),
      bought: listed(boughtBy(tables, user)),
      selling: selling.filter(open),
      sold: [...ended, ...selling].filter(recent),
    };
  },
};

/** The items for which a user has bid, with the user's highest bid. */
function itemsBidFor({ bids }: Readers, user: string): ReadonlyMap<string, number> {
  const own = new Map<string, number>();
  for (const key of bids.by.bidder({ prefix: prefixOf(user), limit: OWN_MAX, reverse: true })) {
    const { item, bid } = bids.row(key).about ?? { item: '', bid: 0 };
    own.set(item, Math.max(own.get(item) ?? 0, bid));
  }
  return own;
}

function boughtBy({ purchases }: Readers, user: string): readonly string[] {
  const keys = purchases.by.buyer({ prefix: prefixOf(user), limit: OWN_MAX, reverse: true });
  return keys.flatMap((key) => purchases.row(key).about?.item ?? []);
}
