/**
 * Computes the round trips for which a red operation waits. Measurements check their delays with
 * it.
 */

/** A red log: the site that leads it, and the sites of which a majority confirms an operation. */
export interface RedLog<S extends string> {
  readonly leader: S;
  readonly voters: readonly S[];
}

/**
 * Returns the minimum time from a site until a red operation is confirmed there, in milliseconds.
 */
export function redTripsMs<S extends string>(
  site: S,
  { leader, voters }: RedLog<S>,
  roundTripMs: (from: S, to: S) => number,
): number {
  const majority = Math.floor(voters.length / 2) + 1;
  // If two sites are a majority, a voter that receives the operation from the leader knows that it
  // is confirmed (RB-L2).
  if (majority === 2 && site !== leader && voters.includes(site)) return roundTripMs(site, leader);
  const fromLeaderMs = voters
    .filter((voter) => voter !== leader)
    .map((voter) => roundTripMs(leader, voter))
    .toSorted((a, b) => a - b);
  // The leader has the operation first, so the nearest other voters complete the majority.
  return (site === leader ? 0 : roundTripMs(site, leader)) + (fromLeaderMs[majority - 2] ?? 0);
}
