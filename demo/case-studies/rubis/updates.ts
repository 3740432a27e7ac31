/** The five transactions that change something. */
import type { GeneratorsOf, Readers } from './generators.ts';
import { highestOf } from './shown.ts';
import type { Bid } from './tables.ts';

const DAY_MS = 24 * 3_600_000;

type Updates = 'registerUser' | 'registerItem' | 'storeBid' | 'storeBuyNow' | 'storeComment';

export const updateGenerators: GeneratorsOf<Updates> = {
  registerUser: (asked, { tables, shadow, uniqueId, now }) => {
    if (tables.nicknames.row(asked.nickname).taken > 0) return { user: null };
    const user = uniqueId();
    return shadow.registerUser({ user, profile: { ...asked, registeredAt: now } }, { user });
  },
  registerItem: ({ user, days, ...asked }, { shadow, uniqueId, now }) => {
    const item = uniqueId();
    const made = { item, about: { ...asked, seller: user, startsAt: now }, endsAt: now + days * DAY_MS };
    return asked.buyNow > 0 ? shadow.registerItemToBuy(made, { item }) : shadow.registerItem(made, { item });
  },
  storeBid: ({ user, item, quantity, bid, maxBid }, { tables, shadow, uniqueId, now }) => {
    const asked = { user, item, quantity, bid, maxBid };
    if (!isAcceptable(tables, asked, now)) return { bid: null };
    const id = uniqueId();
    const made = { id, bid: { ...asked, at: now } };
    if (tables.items.row(asked.item).bids === 0) return shadow.storeFirstBid(made, { bid: id });
    const isHigher = asked.bid > highestOf(tables, asked.item);
    return isHigher ? shadow.storeHigherBid(made, { bid: id }) : shadow.storeLowerBid(made, { bid: id });
  },
  storeBuyNow: (asked, { tables, shadow, uniqueId, now }) => {
    const { stock, endsAt = 0 } = tables.items.row(asked.item);
    if (endsAt <= now || stock < asked.quantity) return { purchase: null };
    const id = uniqueId();
    const isLast = stock === asked.quantity;
    return shadow.storeBuyNow({ id, purchase: { ...asked, at: now }, isLast }, { purchase: id });
  },
  storeComment: (asked, { tables, shadow, uniqueId, now }) => {
    if (!tables.users.has(asked.user)) return { comment: null };
    const id = uniqueId();
    const made = { id, comment: { ...asked, at: now } };
    if (asked.rating === 0) return shadow.storeNeutralComment(made, { comment: id });
    return shadow.storeComment(made, { comment: id });
  },
};

/** Whether the item is for sale, has so many pieces, and begins with no higher price. */
function isAcceptable({ items }: Readers, asked: Omit<Bid, 'at'>, now: number): boolean {
  const { about, endsAt = 0 } = items.row(asked.item);
  if (about === undefined || endsAt <= now) return false;
  return asked.quantity <= about.quantity && asked.bid >= about.initialPrice;
}
