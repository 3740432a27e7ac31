/**
 * Who confirms the records of a red log that is restored: the voters that `cluster.json` names, or
 * all open sites if all of these were lost once.
 */
import type { Origins } from '../../service/records/origin.ts';
import { getNamedVoters, type RedGeneration, type VotedPartition } from './red-generation.ts';

/** A deployment as a site knows it. */
export interface KnownDeployment {
  readonly file: { readonly partitions: readonly VotedPartition[] };
  readonly red: RedGeneration;
  readonly origins: Origins;
}

/** The voters of a log. */
export interface LogVoters {
  /** Each list of sites that may be its voters, that of the open sites first. */
  readonly voters: readonly (readonly string[])[];
  /**
   * Whether none of the open sites that are not lost is a voter. Without one, the log would never
   * confirm a record again. So all open sites are voters from the next generation on.
   */
  readonly isVotedByAll: boolean;
}

/**
 * @param lists sites that may be members, the open ones first
 * @param known the generations that are known of the sites
 * @param sites the sites that are not lost
 */
export function findLogVoters(
  lists: readonly (readonly string[])[],
  partition: VotedPartition,
  known: readonly Pick<RedGeneration, 'votedByAll'>[],
  sites: readonly string[],
): LogVoters {
  const votedByAll = known.flatMap((red) => red.votedByAll ?? []);
  const named = getNamedVoters({ votedByAll }, partition);
  if (named === undefined) return { voters: lists, isVotedByAll: partition.voters !== undefined };

  const voters = lists.map((list) => list.filter((site) => named.includes(site)));
  const isThere = voters[0]?.some((site) => sites.includes(site)) === true;
  return { voters, isVotedByAll: !isThere };
}

/**
 * Returns why the origin that a site has now must not be closed: a log would have no voter any
 * more, so that it could not confirm the change either.
 */
export function findVoterProblem(
  site: string,
  { file, red, origins }: KnownDeployment,
): string | undefined {
  const open = new Set(
    origins.sites
      .filter((origin) => origins.get(origin).state === 'open')
      .map((origin) => origins.getName(origin)),
  );
  if (!open.has(site)) return undefined;
  const last = file.partitions.find((partition) => {
    const voters = getNamedVoters(red, partition) ?? [];
    const present = voters.filter((voter) => open.has(voter));
    return present.length === 1 && present[0] === site;
  });
  if (last === undefined) return undefined;
  const others = last.voters?.filter((voter) => voter !== site) ?? [];
  return (
    `${site} is the only voter of the red log of ${last.name} that is left: start ${others.join(' or ')} again on an empty directory with --join first. ` +
    `If ${site} is lost, run cluster restore-red --without ${site} --accept-loss ${last.name} first`
  );
}
