/**
 * Computes how many updates of other writers a preliminary view may lack at most. This bound is
 * behind safe thresholds (Correctables, OSDI 2016, §4.3). docs/spec/thresholds.md derives it and
 * lists its assumptions.
 */

/** The limits of one writer. It announces them to the others, and `ThrottleSlots` enforces them. */
export interface Throttle {
  /** Maximum of updates in flight. Each uses one slot. */
  readonly maxInFlight: number;
  /** How soon a slot may be used again after it was taken, in milliseconds. */
  readonly minSlotIntervalMs: number;
}

/** The concurrent writers at other sites, as the site of a preliminary view knows them. */
export interface ConcurrentWriters {
  /**
   * How long it may take to order the update, counted from the state that the view was made of.
   * This is likely, never certain.
   */
  readonly commitLatencyMs: number;
  /** The limits of all other writers whose updates may be ordered first. */
  readonly throttles: readonly Throttle[];
}

/**
 * Returns the largest number of updates of others that may be ordered before the view's own and are
 * missing in it.
 */
export function computeMaxConcurrentWrites({
  commitLatencyMs,
  throttles,
}: ConcurrentWriters): number {
  let sum = 0;
  for (const { maxInFlight, minSlotIntervalMs } of throttles)
    sum += maxInFlight * (1 + countSlotReuses(commitLatencyMs, minSlotIntervalMs));
  return sum;
}

/**
 * Returns how often one slot may be taken within `withinMs`, if it may be taken once in `turnMs`.
 * Returns `Infinity` if `turnMs` is 0.
 */
function countSlotReuses(withinMs: number, turnMs: number): number {
  return turnMs > 0 ? Math.ceil(withinMs / turnMs) : Infinity;
}
