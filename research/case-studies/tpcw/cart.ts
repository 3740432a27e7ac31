/**
 * Shopping carts. A cart may be used by several customers, and from several sites, at once
 * (RedBlue, OSDI 2012, §7.1).
 */
import type { GeneratorsOf, HasOf } from './generators.ts';
import { linePrefix } from './tables.ts';

interface Line {
  readonly item: string;
  readonly quantity: number;
}

/** What is in a cart, as the site knows it. */
export function linesOf({ cartLines }: HasOf<'getCart'>['tables'], cart: string): readonly Line[] {
  const prefix = linePrefix(cart);
  return cartLines.keys({ prefix }).map((key) => {
    return { item: key.slice(prefix.length), quantity: cartLines.row(key).quantity ?? 0 };
  });
}

/** The lines with titles and prices, and what they cost together after the discount. */
function priced({ items }: HasOf<'getCart'>['tables'], lines: readonly Line[], discount: number) {
  const found = lines.map(({ item, quantity }) => {
    const { about, shown } = items.row(item);
    return { item, title: about?.title ?? '', costCents: shown?.costCents ?? 0, quantity };
  });
  return { lines: found, subtotalCents: discounted(found, discount) };
}

/** What these cost, in whole cents. */
export function discounted(
  lines: readonly { readonly quantity: number; readonly costCents: number }[],
  discount: number,
): number {
  const full = lines.reduce((sum, { quantity, costCents }) => sum + quantity * costCents, 0);
  return Math.round(full * (1 - discount));
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Some book, the same when the generator runs again; `undefined` of an empty store. */
function bookByChance({ tables, random }: HasOf<'doCart'>): string | undefined {
  const letter = (): string => LETTERS.charAt(Math.floor(random() * LETTERS.length));
  const { title } = tables.items.by;
  return title({ from: letter() + letter(), limit: 1 })[0] ?? title({ limit: 1 })[0];
}

export const cartGenerators: GeneratorsOf<'createEmptyCart' | 'doCart' | 'getCart'> = {
  createEmptyCart: (_, { shadow, uniqueId, now }) => {
    const cart = uniqueId();
    return shadow.createEmptyCart({ cart, at: now }, { cart });
  },
  doCart: ({ cart, item, quantities }, has) => {
    const { tables, shadow, now: at } = has;
    const before = linesOf(tables, cart);
    const lines = new Map(before.map((line) => [line.item, line.quantity]));
    const change = (items: readonly string[]) => {
      const set = items.map((entry) => ({ item: entry, quantity: lines.get(entry) ?? 0 }));
      return { cart, at, lines: set };
    };
    const reply = () =>
      priced(
        tables,
        [...lines].map(([item, quantity]) => ({ item, quantity })),
        0,
      );

    if (item !== null && tables.items.has(item)) {
      const already = lines.get(item);
      lines.set(item, (already ?? 0) + 1);
      const put = already === undefined ? shadow.doCartAdd : shadow.doCartAgain;
      return put(change([item]), reply());
    }
    // Lines that another client has removed meanwhile come back. Items that the store does not have
    // are left out.
    const known = quantities.filter(
      (entry) => lines.has(entry.item) || (entry.quantity > 0 && tables.items.has(entry.item)),
    );
    for (const element of known) lines.set(element.item, element.quantity);
    const gone = [...lines].filter(([, quantity]) => quantity === 0).map(([entry]) => entry);
    for (const each of gone) lines.delete(each);
    const set = known.map((entry) => entry.item).filter((entry) => lines.has(entry));
    if (lines.size === 0) {
      const random = bookByChance(has);
      if (random === undefined) return shadow.doCartTouch({ cart, at }, reply());
      lines.set(random, 1);
      if (gone.length === 0) return shadow.doCartRandom(change([random]), reply());
      return shadow.doCartRefill(
        { ...change([random]), gone: gone.filter((entry) => entry !== random) },
        reply(),
      );
    }
    if (gone.length > 0) return shadow.doCartRemove({ ...change(set), gone }, reply());
    if (set.length > 0) return shadow.doCartQuantities(change(set), reply());
    return shadow.doCartTouch({ cart, at }, reply());
  },
  getCart: ({ cart, discount }, { tables }) => priced(tables, linesOf(tables, cart), discount),
};
