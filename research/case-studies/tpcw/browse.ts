/** Looking for books: the reads that most of a bookstore's visitors are content with. */
import { prefixOf } from '../composite-keys.ts';
import type { GeneratorsOf, HasOf } from './generators.ts';

/** Books of one page of results. */
const PAGE = 50;
/** Orders that best sellers are counted in. */
const RECENT_ORDERS = 3333;

type Reads = 'getBook' | 'getRelated' | 'doSubjectSearch' | 'doTitleSearch' | 'doAuthorSearch';
type Has = HasOf<'getBook'>;

/** As lists of results have it. */
function listed({ tables }: Has, item: string): { item: string; title: string; author: string } {
  const { about } = tables.items.row(item);
  return {
    item,
    title: about?.title ?? '',
    author: tables.authors.row(about?.author ?? '').name ?? '',
  };
}

export const browseGenerators: GeneratorsOf<Reads | 'getNewProducts' | 'getBestSellers'> = {
  getBook: ({ item }, { tables }) => {
    const { about, shown, newness, stock } = tables.items.row(item);
    if (about === undefined || shown === undefined) return null;
    const authorName = tables.authors.row(about.author).name ?? '';
    const published = (newness ?? '').slice(prefixOf(about.subject).length);
    return { ...about, ...shown, item, authorName, published, stock };
  },
  getRelated: ({ item }, { tables }) =>
    (tables.items.row(item).related ?? []).map((other) => {
      return { item: other, thumbnail: tables.items.row(other).shown?.thumbnail ?? '' };
    }),
  doSubjectSearch: ({ subject }, has) =>
    has.tables.items.by
      .shelf({ prefix: prefixOf(subject), limit: PAGE })
      .map((item) => listed(has, item)),
  doTitleSearch: ({ title }, has) =>
    has.tables.items.by
      .title({ prefix: title.toLowerCase(), limit: PAGE })
      .map((item) => listed(has, item)),
  doAuthorSearch: ({ author }, has) => {
    const { items, authors } = has.tables;
    const found = authors.by.lastName({ prefix: author.toLowerCase(), limit: PAGE });
    const books = found.flatMap((item) => items.by.author({ equals: item, limit: PAGE }));
    return books.slice(0, PAGE).map((item) => listed(has, item));
  },
  getNewProducts: ({ subject }, has) =>
    has.tables.items.by
      .newness({ prefix: prefixOf(subject), limit: PAGE, reverse: true })
      .map((item) => listed(has, item)),
  getBestSellers: ({ subject }, has) => {
    const { orders } = has.tables;
    const sold = new Map<string, number>();
    for (const order of orders.by.placedAt({ limit: RECENT_ORDERS, reverse: true })) {
      for (const line of orders.row(order).lines ?? []) {
        if (line.subject === subject)
          sold.set(line.item, (sold.get(line.item) ?? 0) + line.quantity);
      }
    }
    const most = [...sold].sort(([a, sales], [b, others]) => others - sales || (a < b ? -1 : 1));
    return most.slice(0, PAGE).map(([item]) => listed(has, item));
  },
};
