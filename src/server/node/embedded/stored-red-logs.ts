/** What the sites of one process know of their red logs, from what all of them have stored. */
import { computeMajorityLength } from '../../log/majority-commit.ts';
import type { RecoveredState } from '../../log/recovered-state.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { PartitionLayout } from '../../service/partitions.ts';
import type { SitePlan } from '../running-site.ts';

/** The lengths of a site's copies of all red logs, by the ordinals of the partitions. */
export type RedLengths = readonly number[];

export function measureRedLogs({ red, partitions = [] }: RecoveredState): RedLengths {
  return [red, ...partitions].map(({ start, entries }) => start + entries.length);
}

/** Returns the number of entries of a partition's red log that a majority of its voters have. */
export function findCommitted(voters: readonly RedLengths[], partition: number): number {
  return computeMajorityLength(voters.map((lengths) => lengths[partition] ?? 0));
}

/**
 * Returns the red logs beside the main one, in the order of `layouts`.
 *
 * @param lengths by site, in the order of the deployment
 */
export function createRedLogPlans(
  origins: Origins,
  layouts: readonly Required<PartitionLayout>[],
  lengths: readonly RedLengths[],
): NonNullable<SitePlan['redLogs']> {
  return layouts.map(({ leader, voters }, index) => ({
    leader: origins.find(leader) as Origin,
    voters,
    committedEntries: findCommitted(
      lengths.filter((_, site) => voters.includes(origins.names[site] as string)),
      index + 1,
    ),
  }));
}
