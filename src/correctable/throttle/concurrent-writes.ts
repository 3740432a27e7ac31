/**
 * How many updates of others a preliminary view cannot know of, at most: the bound behind safe thresholds (Correctables,
 * OSDI 2016, §4.3). Where it comes from, and what it takes for granted, stands in docs/spec/thresholds.md.
 */

/** How fast one place takes: what it promises to the others, and keeps to by `Places`. */
export interface Throttle {
  /** Most updates in flight at once. Each has one of so many places. */
  readonly maxInFlight: number;
  /** How soon a place may be taken again after it was taken, in milliseconds. */
  readonly minSlotIntervalMs: number;
}

/** What a preliminary view of an update knows about those who update elsewhere. */
export interface ConcurrentWriters {
  /** How long the update may take to be ordered, from the state that the view was made of: likely, never certain. */
  readonly commitLatencyMs: number;
  /** Everybody else who may come first. */
  readonly throttles: readonly Throttle[];
}

/** The most updates of others that may be ordered before the view's own without being in it. */
export function computeMaxConcurrentWrites({ commitLatencyMs, throttles }: ConcurrentWriters): number {
  let sum = 0;
  for (const { maxInFlight, minSlotIntervalMs } of throttles)
    sum += maxInFlight * (1 + countSlotReuses(commitLatencyMs, minSlotIntervalMs));
  return sum;
}

/** Whoever does not say how soon a place is taken again may take it any number of times. */
function countSlotReuses(withinMs: number, turnMs: number): number {
  return turnMs > 0 ? Math.ceil(withinMs / turnMs) : Infinity;
}
