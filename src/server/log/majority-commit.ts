/** Computes how much of the red log is committed from how much of it each site holds. */

import type { Origin } from '../service/records/origin.ts';
import type { MemberChange } from './red-log.ts';

/** An undelivered entry that may change the sites. */
export interface LoggedChange extends MemberChange {
  readonly position: number;
}

/**
 * Returns the number of committed entries. An entry that removes a site needs a majority of the
 * remaining ones, because the copy of the removed site is lost with it. Such a majority is enough
 * for all entries before it, too. If no site remains, the voters behind the entry have to confirm
 * it: no other site can.
 */
export function computeCommittedLength(
  voters: readonly Origin[],
  changes: readonly LoggedChange[],
  getLength: (site: Origin) => number,
): number {
  let remaining = voters;
  let length = 0;
  const getMajorityLength = (): number => computeMajorityLength(remaining.map(getLength));
  for (const { position, closes, voters: next = [] } of changes) {
    if (closes.length === 0) continue;
    length = Math.max(length, Math.min(getMajorityLength(), position));
    remaining = remaining.filter((site) => !closes.includes(site));
    if (remaining.length === 0) remaining = next;
  }
  return Math.max(length, getMajorityLength());
}

/** Returns the length that a majority of the sites holds, from the length that each holds. */
export function computeMajorityLength(lengths: readonly number[]): number {
  return lengths.toSorted((a, b) => b - a)[Math.floor(lengths.length / 2)] ?? 0;
}
