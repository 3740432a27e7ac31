/** Whom what is lacking is asked of, where each may give so much. */

/** So much of one holder. */
export interface Portion<H> {
  readonly from: H;
  readonly amount: number;
}

export type MayGive<H> = (holder: H) => number;

/** Of the richest as much as it may give, of the next one the rest, and so on: of no more of them than have it all. */
export function fromRichest<H>(amount: number, holders: readonly H[], mayGive: MayGive<H>): readonly Portion<H>[] {
  let rest = amount;
  return holders
    .toSorted((a, b) => mayGive(b) - mayGive(a))
    .map((from) => {
      const portion = Math.min(rest, mayGive(from));
      rest -= portion;
      return { from, amount: portion };
    })
    .filter(isSome);
}

/** All of it of each: some of them do not answer. */
export function fromAll<H>(amount: number, holders: readonly H[], mayGive: MayGive<H>): readonly Portion<H>[] {
  return holders.map((from) => ({ from, amount: Math.min(amount, mayGive(from)) })).filter(isSome);
}

export function totalOf(portions: readonly Portion<unknown>[]): number {
  return portions.reduce((total, { amount }) => total + amount, 0);
}

function isSome({ amount }: Portion<unknown>): boolean {
  return amount > 0;
}
