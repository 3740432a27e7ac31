/** Places in a log that is read. */

/**
 * A place before an entry of a log: the number of its group, and of the entry in that. Only the log that gave it looks
 * inside; for all others one stands before, at, or behind another. A group is delivered as a whole, and checkpoints stand
 * at ends of groups.
 */
export interface Position {
  readonly seq: number;
  readonly index: number;
}

/** Before everything. */
export const BEGINNING: Position = { seq: 0, index: 0 };

/** Below 0 where `a` stands before `b`, 0 where they are one place. */
export function comparePositions(a: Position, b: Position): number {
  return a.seq - b.seq || a.index - b.index;
}
