/**
 * The partitions of a deployment: which site leads the red log of each, and which sites confirm its
 * records.
 */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import {
  anyValue,
  distinctNames,
  optional,
  readOptions,
  required,
  type OptionCheck,
  type OptionsOf,
} from '../../correctable/options.ts';
import type { PartitionLayout } from './partitions.ts';

/** A partition of a deployment: a red log of its own for a part of the rows. */
export interface PartitionOptions<N extends string = string> {
  /** The site that orders the red operations on its rows. */
  readonly leader: N;
  /**
   * The sites of which a majority must have a red operation before it is confirmed. Name sites near
   * the leader for a short time, and at least two. Default: all sites
   */
  readonly voters?: readonly N[] | undefined;
}

/** The partitions by name, without `main`. */
export type PartitionsOption<N extends string = string> = Readonly<
  Record<string, PartitionOptions<N>>
>;

const CALL = "{ partitions: { us: { leader: 'virginia' } } }";

const PARTITION_OPTIONS = {
  // `resolvePartitions` checks it, and names the sites to choose from.
  leader: required(anyValue),
  voters: optional(distinctNames("['virginia', 'ohio']")),
} satisfies OptionsOf<PartitionOptions>;

/** Checks the types of the option. `resolvePartitions` checks the names. */
export const partitionsByName: OptionCheck = (value, field) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `must be an object with a leader for each name, as ${CALL}`;
  for (const [name, partition] of Object.entries(value))
    readOptions(
      partition as PartitionOptions,
      { call: CALL, field: `${field}.${name}` },
      PARTITION_OPTIONS,
    );
  return undefined;
};

/**
 * Returns who leads and who confirms, for each partition of the option. They are in the order of
 * their ordinals, from 1 on: `main` is not among them.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for a site that does not exist, a leader that is no
 * voter, and a voter alone among more than two sites
 */
export function resolvePartitions(
  partitions: PartitionsOption | undefined,
  sites: readonly string[],
): readonly Required<PartitionLayout>[] {
  return Object.entries(partitions ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { leader, voters = sites }]) => {
      const partition = { name, leader, voters: sortSites(voters, sites) };
      checkPartition(partition, voters, sites);
      return partition;
    });
}

/** The order in which voters are written has no meaning. */
function sortSites(voters: readonly string[], sites: readonly string[]): readonly string[] {
  return sites.filter((site) => voters.includes(site));
}

function checkPartition(
  { name, leader }: PartitionLayout,
  voters: readonly string[],
  sites: readonly string[],
): void {
  const refuse = (field: string, problem: string): never => {
    throw createInvalidArgumentError(`partitions.${name}.${field}`, problem);
  };
  const all = sites.join(', ');
  if (!sites.includes(leader))
    refuse(
      'leader',
      `must be one of ${all}, got ${leader === undefined ? 'nothing' : JSON.stringify(leader)}`,
    );
  const unknown = voters.find((voter) => !sites.includes(voter));
  if (unknown !== undefined) refuse('voters', `'${unknown}' is not one of ${all}`);
  if (!voters.includes(leader))
    refuse(
      'voters',
      `must have the leader: add ${leader}, or let one of ${voters.join(', ')} lead`,
    );
  if (voters.length < 2 && sites.length > 2)
    refuse(
      'voters',
      `must be at least two of ${all}: with ${leader} alone, its loss takes confirmed operations with it`,
    );
}
