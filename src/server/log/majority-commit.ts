/** Computes how much of the red log is committed from how much of it each site holds. */

import type { Origin } from '../records/origin.ts';

/** An entry that is not delivered and may change the sites: its place, and the site that it takes out. */
export interface LoggedChange {
  readonly position: number;
  readonly closes: Origin | undefined;
}

/** How many entries count. What takes a site out needs a majority of those that remain: others could not agree. */
export function computeCommittedLength(
  voters: readonly Origin[],
  changes: readonly LoggedChange[],
  getLength: (site: Origin) => number,
): number {
  let remaining = voters;
  let length = computeMajorityLength(voters.map(getLength));
  for (const { position, closes } of changes) {
    remaining = remaining.filter((site) => site !== closes);
    const isCommitted = closes !== undefined && computeMajorityLength(remaining.map(getLength)) > position;
    if (isCommitted) length = Math.max(length, position + 1);
  }
  return length;
}

/** So many of its first entries a majority of all sites holds, where each holds so many. */
export function computeMajorityLength(lengths: readonly number[]): number {
  return lengths.toSorted((a, b) => b - a)[Math.floor(lengths.length / 2)] ?? 0;
}
