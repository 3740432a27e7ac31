/** Changing a book's price and pictures, and which other books are shown beside it. */
import { joined } from '../composite-keys.ts';
import type { GeneratorsOf, HasOf } from './generators.ts';

/** Orders that are looked through for what else the buyers of a book bought. */
const RECENT_ORDERS = 10_000;
const RELATED = 5;

/** What else those bought who bought this one: the five most sold. */
function boughtToo({ orders }: HasOf<'adminUpdate'>['tables'], item: string): readonly string[] {
  const recent = orders.by.placedAt({ limit: RECENT_ORDERS, reverse: true }).map((order) => {
    const { placed, lines = [] } = orders.row(order);
    return { customer: placed?.customer, lines };
  });
  const buyers = new Set(
    recent.filter(({ lines }) => lines.some((line) => line.item === item)).map((of) => of.customer),
  );
  const sold = new Map<string, number>();
  for (const { customer, lines } of recent) {
    if (!buyers.has(customer)) continue;
    for (const { item: other, quantity } of lines) {
      if (other !== item) sold.set(other, (sold.get(other) ?? 0) + quantity);
    }
  }
  const most = [...sold].sort(([a, sales], [b, others]) => others - sales || (a < b ? -1 : 1));
  return most.slice(0, RELATED).map(([other]) => other);
}

export const adminGenerators: GeneratorsOf<'adminUpdate'> = {
  adminUpdate: ({ item, costCents, image, thumbnail }, { tables, shadow, now }) => {
    const { about } = tables.items.row(item);
    if (about === undefined) return null;
    const published = new Date(now).toISOString().slice(0, 'yyyy-mm-dd'.length);
    const update = {
      item,
      shown: { costCents, image, thumbnail },
      newness: joined(about.subject, published),
    };
    const related = boughtToo(tables, item);
    if (related.length === 0) return shadow.adminUpdate(update, null);
    return shadow.adminUpdateRelated({ ...update, related }, null);
  },
};
