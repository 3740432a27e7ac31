/** What the gateways of a site know together, as the script of the lease merges it in Redis. */
import type { SiteView } from '../../src/causal/partition-calls.ts';

/**
 * Keeps of each partition the later heal, and the higher last own stamp since then. All else is of
 * the gateway that has the lease.
 */
export function mergeViews(stored: SiteView, given: SiteView, isLeader: boolean): SiteView {
  const isOfGiven = given.lastSeen.map((seen, partition) => {
    const healed = given.healedAt[partition] ?? 0;
    const storedSeen = stored.lastSeen[partition] ?? 0;
    const storedHealed = stored.healedAt[partition] ?? 0;
    return healed > storedHealed || (healed === storedHealed && seen > storedSeen);
  });
  const merge = (name: 'lastSeen' | 'healedAt' | 'healedTo'): readonly number[] =>
    isOfGiven.map((isGiven, partition) => (isGiven ? given : stored)[name][partition] ?? 0);
  return {
    ...(isLeader ? given : stored),
    lastSeen: merge('lastSeen'),
    healedAt: merge('healedAt'),
    healedTo: merge('healedTo'),
  };
}
