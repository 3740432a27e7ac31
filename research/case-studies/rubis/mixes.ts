/**
 * How often each of RUBiS's twenty-six requests is asked for: the states of its user emulator but
 * the home page, which is no request to the auctions.
 *
 * Where a request reaches the database, its share is the one that RUBiS has published of a run of
 * its own with 1500 clients; a form is asked for as often as what it leads to.
 */
import type { Mix } from '../case-study.ts';

/** Of the bidding mix: reads, and forms. */
const READS = {
  register: 1.07,
  browse: 13.04,
  browseCategories: 7.65,
  searchItemsInCategory: 15.94,
  browseRegions: 5.39,
  browseCategoriesInRegion: 5.39,
  searchItemsInRegion: 6.34,
  viewItem: 14.17,
  viewUserInfo: 2.48,
  viewBidHistory: 1.54,
  buyNowAuth: 1.16,
  buyNow: 1.16,
  putBidAuth: 5.4,
  putBid: 5.4,
  putCommentAuth: 0.46,
  putComment: 0.46,
  sell: 0.53,
  selectCategoryToSellItem: 0.53,
  sellItemForm: 0.53,
  aboutMeAuth: 1.71,
  aboutMe: 1.71,
} as const;

/** Updates that may be red. */
const RED = { registerUser: 1.07, storeBuyNow: 1.1 } as const;
const BLUE = { storeBid: 3.74, registerItem: 0.53, storeComment: 0.45 } as const;

/**
 * So many of a hundred requests are updates, as RUBiS says of its bidding mix, and the paper has
 * measured (Table 4).
 */
const UPDATES = 15;

/**
 * Those that reach the database change it less often than that in the published run, 6.9 times in a
 * hundred. Here the blue ones come more often to make up for it: the red ones are as many as
 * published, and with them the paper's share of red.
 */
const bidding = {
  ...scaledTo(100 - UPDATES, READS),
  ...RED,
  ...scaledTo(UPDATES - sumOf(RED), BLUE),
};

const NOTHING = { ...scaledTo(0, READS), ...scaledTo(0, RED), ...scaledTo(0, BLUE) };

export const mixes = {
  bidding,
  /** No user logs in. */
  browsing: {
    ...NOTHING,
    browse: 7.65,
    browseCategories: 4.44,
    searchItemsInCategory: 27.77,
    browseRegions: 3.21,
    browseCategoriesInRegion: 3.21,
    searchItemsInRegion: 8.26,
    viewItem: 22.95,
    viewUserInfo: 4.41,
    viewBidHistory: 2.38,
  },
} satisfies Readonly<Record<string, Mix>>;

function sumOf(mix: Mix): number {
  return Object.values(mix).reduce((sum, weight) => sum + weight, 0);
}

/** The same weights against each other, which come to `sum` together. */
function scaledTo<K extends string>(
  sum: number,
  mix: Readonly<Record<K, number>>,
): Readonly<Record<K, number>> {
  const factor = sum / sumOf(mix);
  const entries = (Object.entries(mix) as [K, number][]).map(
    ([name, weight]) => [name, weight * factor] as const,
  );
  return Object.fromEntries(entries) as Record<K, number>;
}
