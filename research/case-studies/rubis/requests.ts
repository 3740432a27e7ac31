/**
 * What a click at the auctions does: the twenty-six requests of RUBiS, each of one transaction at
 * most.
 */
import { wholeBetween } from '../../../demo/shared/random.ts';
import type { Request, Seat } from '../case-study.ts';
import { rubisStudy as rubis } from './contract.ts';
import {
  anyCategory,
  anyRegion,
  DAYS_MAX,
  itemOf,
  loginOf,
  newComment,
  newItem,
  oldItemOf,
  sizesAt,
  TO_BUY_EVERY,
  userOf,
} from './data.ts';
import type { mixes } from './mixes.ts';

type RequestName = keyof (typeof mixes)['bidding'];

const PAGE_SIZE = 20;
/** Pages that a user looks through, from the first on. */
const PAGES_MAX = 3;
/** Of those who look at one item, so many look at an old one. */
const OLD = 0.25;
/** How much more a bid offers than it has to. */
const BID_MORE_MAX = 10_00;
const STEP = 1_00;

/** What a user knows of an item that is for sale. */
interface Seen {
  readonly item: string;
  readonly seller: string;
  readonly minBid: number;
  readonly quantity: number;
}

/** A form, or a page that is the same for everybody, comes from no store. */
const nothing: Request = () => Promise.resolve();

/** Lets a visitor in, who is one of the registered users. */
export function enter({
  store,
  random,
  scale,
  user: subscriber,
}: Seat): Readonly<Record<RequestName, Request>> {
  const { users, items, oldItems } = sizesAt(scale);
  const below = (count: number): number => wholeBetween(random, 0, count - 1);
  const number = below(users);
  let login = loginOf(number);
  let me = userOf(number);
  let seen: Seen | undefined;
  /** An item that a list has shown. */
  let noticed: string | undefined;
  let registered = 0;

  const anyItem = (): string => itemOf(below(items));
  const itemToBuy = (): string => itemOf(below(Math.ceil(items / TO_BUY_EVERY)) * TO_BUY_EVERY);
  const page = () => ({ page: below(PAGES_MAX), size: PAGE_SIZE });
  const notice = (found: readonly { readonly item: string }[]): void => {
    noticed = found[below(Math.max(1, found.length))]?.item ?? noticed;
  };
  const look = async (item: string): Promise<void> => {
    const shown = await store.ask(rubis.viewItem({ item }));
    if (shown === null) return;
    const { seller, quantity, price, initialPrice } = shown;
    seen = { item, seller, quantity, minBid: price === 0 ? initialPrice : price + STEP };
  };
  const browseCategories = async (): Promise<void> => {
    await store.ask(rubis.browseCategories({}));
  };

  return {
    register: nothing,
    async registerUser() {
      registered += 1;
      const wish = {
        nickname: `new-${subscriber}-${registered}-${below(1_000_000)}`,
        password: 'secret',
      };
      const names = {
        firstName: 'New',
        lastName: `User ${subscriber}`,
        email: 'new@rubis.example',
      };
      const { user } = await store.ask(
        rubis.registerUser({ ...wish, ...names, region: anyRegion(random) }),
      );
      if (user === null) return;
      me = user;
      login = wish;
    },
    browse: nothing,
    browseCategories,
    async searchItemsInCategory() {
      notice(
        await store.ask(rubis.searchItemsByCategory({ category: anyCategory(random), ...page() })),
      );
    },
    async browseRegions() {
      await store.ask(rubis.browseRegions({}));
    },
    browseCategoriesInRegion: browseCategories,
    async searchItemsInRegion() {
      const where = { category: anyCategory(random), region: anyRegion(random) };
      notice(await store.ask(rubis.searchItemsByRegion({ ...where, ...page() })));
    },
    async viewItem() {
      if (random() < OLD) await store.ask(rubis.viewItem({ item: oldItemOf(below(oldItems)) }));
      else await look(noticed ?? anyItem());
    },
    async viewUserInfo() {
      await store.ask(rubis.viewUserInfo({ user: seen?.seller ?? userOf(below(users)) }));
    },
    async viewBidHistory() {
      await store.ask(rubis.viewBidHistory({ item: seen?.item ?? anyItem() }));
    },
    buyNowAuth: nothing,
    async buyNow() {
      await store.ask(rubis.buyNow({ ...login, item: itemToBuy() }));
    },
    async storeBuyNow() {
      await store.ask(rubis.storeBuyNow({ user: me, item: itemToBuy(), quantity: 1 }));
    },
    putBidAuth: nothing,
    async putBid() {
      const item = noticed ?? anyItem();
      const form = await store.ask(rubis.putBid({ ...login, item }));
      if (form !== null)
        seen = { item, seller: form.seller, quantity: form.quantity, minBid: form.minBid };
    },
    async storeBid() {
      // A user bids only for an item that was shown.
      if (seen === undefined) await look(anyItem());
      if (seen === undefined) return;
      const { item, minBid, quantity } = seen;
      const bid = minBid + wholeBetween(random, 0, BID_MORE_MAX);
      const wish = {
        user: me,
        item,
        quantity: wholeBetween(random, 1, quantity),
        bid,
        maxBid: bid + STEP,
        minBid,
      };
      await store.ask(rubis.storeBid(wish));
    },
    putCommentAuth: nothing,
    async putComment() {
      const about = seen?.seller ?? userOf(below(users));
      await store.ask(rubis.putComment({ ...login, item: seen?.item ?? anyItem(), about }));
    },
    async storeComment() {
      const user = seen?.seller ?? userOf(below(users));
      const item = seen?.item ?? anyItem();
      await store.ask(rubis.storeComment({ from: me, user, item, ...newComment(random) }));
    },
    sell: nothing,
    selectCategoryToSellItem: browseCategories,
    sellItemForm: nothing,
    async registerItem() {
      const offer = newItem(random, below(TO_BUY_EVERY) === 0);
      const { item } = await store.ask(
        rubis.registerItem({ ...offer, user: me, days: wholeBetween(random, 1, DAYS_MAX) }),
      );
      noticed = item;
    },
    aboutMeAuth: nothing,
    async aboutMe() {
      await store.ask(rubis.aboutMe(login));
    },
  };
}
