/**
 * How many updates of others a preliminary view cannot know of, at most: the bound behind safe thresholds (Correctables,
 * OSDI 2016, §4.3). Where it comes from, and what it takes for granted, stands in docs/spec/thresholds.md.
 */

/** How fast one place takes: what it promises to the others, and keeps to by `Places`. */
export interface Pace {
  /** Most updates under way at once. Each has one of so many places. */
  readonly window: number;
  /** How soon a place may be taken again after it was taken, in milliseconds. */
  readonly turnMs: number;
}

/** What a preliminary view of an update knows about those who update elsewhere. */
export interface Elsewhere {
  /** How long the update may take to be ordered, from the state that the view was made of: likely, never certain. */
  readonly withinMs: number;
  /** Everybody else who may come first. */
  readonly others: readonly Pace[];
}

/** The most updates of others that may be ordered before the view's own without being in it. */
export function unseenMax({ withinMs, others }: Elsewhere): number {
  let sum = 0;
  for (const { window, turnMs } of others) sum += window * (1 + turnsIn(withinMs, turnMs));
  return sum;
}

/** Whoever does not say how soon a place is taken again may take it any number of times. */
function turnsIn(withinMs: number, turnMs: number): number {
  return turnMs > 0 ? Math.ceil(withinMs / turnMs) : Infinity;
}
