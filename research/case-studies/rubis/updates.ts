/** The five transactions that change something. */
import type { GeneratorsOf, Readers } from './generators.ts';
import { highestOf } from './display-data.ts';
import type { Bid } from './tables.ts';

const DAY_MS = 24 * 3_600_000;

type Updates = 'registerUser' | 'registerItem' | 'storeBid' | 'storeBuyNow' | 'storeComment';

export const updateGenerators: GeneratorsOf<Updates> = {
  registerUser: (requested, { tables, shadow, uniqueId, now }) => {
    if (tables.nicknames.row(requested.nickname).taken > 0) return { user: null };
    const user = uniqueId();
    return shadow.registerUser({ user, profile: { ...requested, registeredAt: now } }, { user });
  },
  registerItem: ({ user, days, ...asked }, { shadow, uniqueId, now }) => {
    const item = uniqueId();
    const made = {
      item,
      about: { ...asked, seller: user, startsAt: now },
      endsAt: now + days * DAY_MS,
    };
    return asked.buyNow > 0
      ? shadow.registerItemToBuy(made, { item })
      : shadow.registerItem(made, { item });
  },
  storeBid: ({ user, item, quantity, bid, maxBid }, { tables, shadow, uniqueId, now }) => {
    const requested = { user, item, quantity, bid, maxBid };
    if (!isAcceptable(tables, requested, now)) return { bid: null };
    const id = uniqueId();
    const made = { id, bid: { ...requested, at: now } };
    if (tables.items.row(requested.item).bids === 0) return shadow.storeFirstBid(made, { bid: id });
    const isHigher = requested.bid > highestOf(tables, requested.item);
    return isHigher
      ? shadow.storeHigherBid(made, { bid: id })
      : shadow.storeLowerBid(made, { bid: id });
  },
  storeBuyNow: (requested, { tables, shadow, uniqueId, now }) => {
    const { stock, endsAt = 0 } = tables.items.row(requested.item);
    if (endsAt <= now || stock < requested.quantity) return { purchase: null };
    const id = uniqueId();
    const isLast = stock === requested.quantity;
    return shadow.storeBuyNow(
      { id, purchase: { ...requested, at: now }, isLast },
      { purchase: id },
    );
  },
  storeComment: (requested, { tables, shadow, uniqueId, now }) => {
    if (!tables.users.has(requested.user)) return { comment: null };
    const id = uniqueId();
    const made = { id, comment: { ...requested, at: now } };
    if (requested.rating === 0) return shadow.storeNeutralComment(made, { comment: id });
    return shadow.storeComment(made, { comment: id });
  },
};

/** Whether the item is for sale, has so many pieces, and begins with no higher price. */
function isAcceptable({ items }: Readers, requested: Omit<Bid, 'at'>, now: number): boolean {
  const { about, endsAt = 0 } = items.row(requested.item);
  if (about === undefined || endsAt <= now) return false;
  return requested.quantity <= about.quantity && requested.bid >= about.initialPrice;
}
