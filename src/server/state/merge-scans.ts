/** Two ordered scans as one: what lies below, without what is replaced, and what replaces it. */
import { compareEntries } from '../records/key-range.ts';
import type { Entry } from '../records/key-range.ts';

/** How to merge. */
export interface MergeOptions {
  /** Whether an entry of the lower scan does not count. */
  readonly isReplaced: (entry: Entry) => boolean;
  readonly reverse: boolean;
}

/** The entries of both, in order. */
export function* mergeScans(
  below: Iterable<Entry>,
  above: Iterable<Entry>,
  { isReplaced, reverse }: MergeOptions,
): Generator<Entry, void, undefined> {
  const own = above[Symbol.iterator]();
  let next = own.next();
  const isFirst = (a: Entry, b: Entry): boolean => (reverse ? compareEntries(a, b) > 0 : compareEntries(a, b) < 0);
  for (const entry of below) {
    if (isReplaced(entry)) continue;
    for (; next.done !== true && isFirst(next.value, entry); next = own.next()) yield next.value;
    yield entry;
  }
  for (; next.done !== true; next = own.next()) yield next.value;
}
