/**
 * How fast one site sells while others do: what it may have sold unknown to them is bounded by it, and so is how many
 * customers it serves at once.
 */
import type { Pace } from 'correctables/operations';

export const PACE: Pace = { window: 10, turnMs: 40 };
