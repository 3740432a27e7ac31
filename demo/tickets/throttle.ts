/**
 * How fast one site sells while others do: what it may have sold unknown to them is bounded by it, and so is how many
 * customers it serves at once.
 */
import type { Throttle } from 'correctables/operations';

export const THROTTLE: Throttle = { maxInFlight: 10, minSlotIntervalMs: 40 };
