/** What of the red log is committed, as whoever knows how much of it each site holds can tell. */

/** So many of its first entries a majority of all sites holds, where each holds so many. */
export function computeMajorityLength(lengths: readonly number[]): number {
  return lengths.toSorted((a, b) => b - a)[Math.floor(lengths.length / 2)] ?? 0;
}
