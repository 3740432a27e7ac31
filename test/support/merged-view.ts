/** What the gateways of a site know together, as the script of the lease merges it in Redis. */
import type { SiteView } from '../../src/causal/partition-calls.ts';

/**
 * Keeps of each partition the later heal, and the higher last own stamp since then. All else is of
 * the gateway that has the lease.
 */
export function mergeViews(stored: SiteView, given: SiteView, isLeader: boolean): SiteView {
  const merged = given.lastSeen.map((seen, partition) => {
    const healed = given.healedAt[partition] ?? 0;
    const storedSeen = stored.lastSeen[partition] ?? 0;
    const storedHealed = stored.healedAt[partition] ?? 0;
    const isNewer = healed > storedHealed || (healed === storedHealed && seen > storedSeen);
    return isNewer ? { seen, healed } : { seen: storedSeen, healed: storedHealed };
  });
  const lastSeen = merged.map(({ seen }) => seen);
  const healedAt = merged.map(({ healed }) => healed);
  return { ...(isLeader ? given : stored), lastSeen, healedAt };
}
