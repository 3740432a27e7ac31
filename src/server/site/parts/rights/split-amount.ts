/** Divides an amount of rights over the sites that are asked for it. */

export interface Portion<H> {
  readonly from: H;
  readonly amount: number;
}

export type MaxGrant<H> = (holder: H) => number;

/**
 * Requests as much as it may give from the richest site, the rest from the next one, and so on. So
 * the request goes to as few sites as possible.
 */
export function splitByRichest<H>(
  amount: number,
  holders: readonly H[],
  mayGive: MaxGrant<H>,
): readonly Portion<H>[] {
  let remaining = amount;
  return holders
    .toSorted((a, b) => mayGive(b) - mayGive(a))
    .map((from) => {
      const portion = Math.min(remaining, mayGive(from));
      remaining -= portion;
      return { from, amount: portion };
    })
    .filter(isNonEmpty);
}

/** Requests the whole amount from each site, because some of them may not answer. */
export function splitByAll<H>(
  amount: number,
  holders: readonly H[],
  mayGive: MaxGrant<H>,
): readonly Portion<H>[] {
  return holders
    .map((from) => ({ from, amount: Math.min(amount, mayGive(from)) }))
    .filter(isNonEmpty);
}

export function sumPortions(portions: readonly Portion<unknown>[]): number {
  return portions.reduce((total, { amount }) => total + amount, 0);
}

function isNonEmpty({ amount }: Portion<unknown>): boolean {
  return amount > 0;
}
