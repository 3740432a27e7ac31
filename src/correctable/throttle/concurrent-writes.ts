/**
 * How many updates of others a preliminary view cannot know of, at most: the
 * bound behind safe thresholds (Correctables, OSDI 2016, §4.3). Where it comes
 * from, and what it takes for granted, stands in docs/spec/thresholds.md.
 */

/**
 * How fast one writer updates: it announces these limits to the others, and
 * `ThrottleSlots` enforces them.
 */
export interface Throttle {
  /** Maximum of updates in flight. Each uses one of so many slots. */
  readonly maxInFlight: number;
  /** How soon a slot may be used again after it was taken, in milliseconds. */
  readonly minSlotIntervalMs: number;
}

/**
 * The concurrent writers elsewhere, as a preliminary view of an update knows
 * them.
 */
export interface ConcurrentWriters {
  /**
   * How long it may take to order the update, from the state that the view was
   * made of: likely, never certain.
   */
  readonly commitLatencyMs: number;
  /** The limits of all other writers that may come first. */
  readonly throttles: readonly Throttle[];
}

/**
 * The most updates of others that may be ordered before the view's own without
 * being in it.
 */
export function computeMaxConcurrentWrites({
  commitLatencyMs,
  throttles,
}: ConcurrentWriters): number {
  let sum = 0;
  for (const { maxInFlight, minSlotIntervalMs } of throttles)
    sum +=
      maxInFlight * (1 + countSlotReuses(commitLatencyMs, minSlotIntervalMs));
  return sum;
}

/**
 * Counts how often a place may be taken within a time. Without `turnMs`, any
 * number of times.
 */
function countSlotReuses(withinMs: number, turnMs: number): number {
  return turnMs > 0 ? Math.ceil(withinMs / turnMs) : Infinity;
}
