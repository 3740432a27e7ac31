/** Which tombstones and expired values may be dropped (R18). */
import type { Stamp } from './stamps.ts';

/** Keys that one call looks at, so that no call is slow. */
const MAX_KEYS = 20;

/**
 * Returns some keys that are due. The keys that it looks at move to the end, so that the next call
 * looks at others.
 */
export function findRemovableKeys(removable: Map<string, Stamp>, now: Stamp): readonly string[] {
  const next: (readonly [key: string, dueAt: Stamp])[] = [];
  for (const entry of removable) {
    if (next.length === MAX_KEYS) break;
    next.push(entry);
  }
  for (const [key, dueAt] of next) {
    removable.delete(key);
    removable.set(key, dueAt);
  }
  return next.filter(([, dueAt]) => dueAt <= now).map(([key]) => key);
}
