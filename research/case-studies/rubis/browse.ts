/** Looking at what is for sale, and at who sells it. */
import type { GeneratorsOf, Readers } from './generators.ts';
import { bidsOf, commentsOn, fromTime, listedItem, nicknameOf, shownItem } from './display-data.ts';

interface Page {
  readonly page: number;
  readonly size: number;
}

/**
 * One page of the items that these keys name, without those that were sold out before their end: it
 * may be shorter.
 */
function pageOf(tables: Readers, keys: readonly string[], { page, size }: Page, now: number) {
  const shown = keys.slice(page * size).map((item) => listedItem(tables, item));
  return shown.filter(({ endsAt }) => endsAt > now);
}

/** Rows up to the end of the page. */
const limitOf = ({ page, size }: Page): number => (page + 1) * size;

type Browsing =
  | 'browseCategories'
  | 'browseRegions'
  | 'searchItemsByCategory'
  | 'searchItemsByRegion'
  | 'viewItem'
  | 'viewUserInfo'
  | 'viewBidHistory';

export const browseGenerators: GeneratorsOf<Browsing> = {
  browseCategories: (_, { tables: { categories } }) =>
    categories.keys().map((id) => ({ id, name: categories.row(id).name ?? '' })),
  browseRegions: (_, { tables: { regions } }) =>
    regions.keys().map((id) => ({ id, name: regions.row(id).name ?? '' })),
  searchItemsByCategory: ({ category, ...page }, { tables, now }) => {
    const keys = tables.items.by.shelf({ ...fromTime([category], now), limit: limitOf(page) });
    return pageOf(tables, keys, page, now);
  },
  searchItemsByRegion: ({ category, region, ...page }, { tables, now }) => {
    const keys = tables.items.by.regionalShelf({
      ...fromTime([region, category], now),
      limit: limitOf(page),
    });
    return pageOf(tables, keys, page, now);
  },
  viewItem: ({ item }, { tables }) => shownItem(tables, item),
  viewUserInfo: ({ user }, { tables }) => {
    const { profile, rating } = tables.users.row(user);
    if (profile === undefined) return null;
    const { password: _, ...known } = profile;
    return { ...known, rating, comments: commentsOn(tables, user) };
  },
  viewBidHistory: ({ item }, { tables }) => {
    const { about } = tables.items.row(item);
    if (about === undefined) return null;
    const history = bidsOf(tables, item).toSorted((a, b) => b.at - a.at);
    return {
      name: about.name,
      bids: history.map((entry) => ({ ...entry, nickname: nicknameOf(tables, entry.user) })),
    };
  },
};
