/** Merges ordered entries with a change of them. */
import { compareEntries, type Entry } from '../records/read-range.ts';

/** Entries that were added to others, and entries of those that were removed, both in order. */
export interface EntryChanges {
  readonly added: Iterable<Entry>;
  readonly removed: Iterable<Entry>;
}

/** Yields the entries of `below` after the changes. All are in order, or all in reverse. */
export function* mergeEntries(
  below: Iterable<Entry>,
  changes: EntryChanges,
  reverse = false,
): Generator<Entry, void, undefined> {
  const sign = reverse ? -1 : 1;
  const added = changes.added[Symbol.iterator]();
  const removed = changes.removed[Symbol.iterator]();
  let nextAdded = added.next();
  let nextRemoved = removed.next();
  for (const entry of below) {
    while (nextAdded.done !== true && sign * compareEntries(nextAdded.value, entry) < 0) {
      yield nextAdded.value;
      nextAdded = added.next();
    }
    if (nextRemoved.done !== true && compareEntries(nextRemoved.value, entry) === 0)
      nextRemoved = removed.next();
    else yield entry;
  }
  for (; nextAdded.done !== true; nextAdded = added.next()) yield nextAdded.value;
}
