/**
 * Computes how much of the red log is committed from how much of it each site
 * holds.
 */

import type { Origin } from '../records/origin.ts';

/**
 * An entry that is not delivered and may change the sites: its place, and the
 * site that it takes out.
 */
export interface LoggedChange {
  readonly position: number;
  readonly closes: Origin | undefined;
}

/**
 * How many entries count. An entry that takes a site out needs a majority of
 * those that remain: the copy of the site that leaves is gone with it. Such a
 * majority is enough for all that stands before, too.
 */
export function computeCommittedLength(
  voters: readonly Origin[],
  changes: readonly LoggedChange[],
  getLength: (site: Origin) => number,
): number {
  let remaining = voters;
  let length = 0;
  const getMajorityLength = (): number =>
    computeMajorityLength(remaining.map(getLength));
  for (const { position, closes } of changes) {
    if (closes === undefined) continue;
    length = Math.max(length, Math.min(getMajorityLength(), position));
    remaining = remaining.filter((site) => site !== closes);
  }
  return Math.max(length, getMajorityLength());
}

/**
 * So many of its first entries a majority of all sites holds, where each holds
 * so many.
 */
export function computeMajorityLength(lengths: readonly number[]): number {
  return lengths.toSorted((a, b) => b - a)[Math.floor(lengths.length / 2)] ?? 0;
}
