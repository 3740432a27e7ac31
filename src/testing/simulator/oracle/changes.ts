/** Changes by place, instead of by vectors: who made them, in which order they stand, and what had seen what. */
import type { Effect } from '../../../server/records/effect.ts';

/** So many operations of each list, by ordinal: of the red order, then blue ones by origin. */
export type Counts = readonly number[];

/** An operation, by its place instead of by vectors. */
export interface ModelOperation {
  /** The list that it stands in: that of its origin, or the first one, which is the red order. */
  readonly list: number;
  /** Its place there, counted from 1. */
  readonly place: number;
  /** What was visible where its generator ran. */
  readonly seen: Counts;
  /** By which the last write wins: the time, then the site. */
  readonly time: number;
  readonly site: number;
}

/** One effect of one operation. */
export interface Change {
  readonly by: ModelOperation;
  /** Among the effects of its operation. */
  readonly index: number;
  readonly effect: Effect;
}

/** The order of last-writer-wins and of logs; effects of one operation in theirs. */
export function byTime(a: Change, b: Change): number {
  const [one, other] = [a.by, b.by];
  return (
    one.time - other.time ||
    one.site - other.site ||
    // Of one site, what is red comes after what is blue.
    other.list - one.list ||
    one.place - other.place ||
    a.index - b.index
  );
}

/** The red order. */
export function byPlace(a: Change, b: Change): number {
  return a.by.place - b.by.place || a.index - b.index;
}

/** Whether the operation of `later` had seen `earlier`, or made it itself before. */
export function hasSeen(later: Change, earlier: Change): boolean {
  if (later.by === earlier.by) return earlier.index < later.index;
  return earlier.by.place <= (later.by.seen[earlier.by.list] ?? 0);
}

/** Numbers before strings; strings by code units. */
export function compare(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
