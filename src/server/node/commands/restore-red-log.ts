/**
 * Restores the red logs for an operator: it asks all remaining sites, seals them, and opens each
 * log at its leader.
 */
import { MAIN } from '../../service/partitions.ts';
import {
  chooseCopy,
  createGeneration,
  type CheckedLog,
  type Log,
  type LogTargets,
  type SealedSite,
} from '../red-log/chosen-copies.ts';
import { createLossError, findLosing } from '../red-log/confirmed-records.ts';
import { findLogVoters } from '../red-log/log-voters.ts';
import {
  READ_NAMED,
  mergeNamedEntries,
  type NamedEntries,
  type NamedLog,
} from '../red-log/named-entries.ts';
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  getCopies,
  getLogs,
  parseRedGeneration,
  type ReadReply,
  type RedGeneration,
  type SealReply,
} from '../red-log/red-generation.ts';

/** The red log of a partition beside `main`. */
export interface PartitionTargets extends LogTargets {
  readonly name: string;
  /**
   * The sites of which alone `voters` are, as the cluster file names them. Default: all sites are
   * voters
   */
  readonly namedVoters?: readonly string[] | undefined;
}

/** The sites of a log that is restored, and a function that sends them requests. */
export interface RestoreTargets extends LogTargets {
  /** Sends a request to a site. */
  request(site: string, kind: string, body: unknown): Promise<unknown>;
  /** All sites that are not lost. */
  readonly sites: readonly string[];
  /**
   * Whether one site can confirm a record alone, as with etcd. Default: a majority of the voters
   * confirms it
   */
  readonly isConfirmedByOne?: boolean;
  /** The logs beside that of `main`, by their ordinals. Default: none */
  readonly partitions?: readonly PartitionTargets[];
}

/** How one of the logs goes on. */
interface LogOutcome {
  readonly leader: string;
  /** The number of records with which the new generation begins. */
  readonly length: number;
  /** Sites that may have confirmed more records than these. Such records are lost. */
  readonly losing: readonly string[];
  /**
   * Present if all open sites are its voters now, since those that the cluster file names were all
   * lost.
   */
  readonly isVotedByAll?: true;
}

/** The result of restoring the logs. */
export interface RestoredLog extends LogOutcome {
  readonly generation: number;
  /**
   * Sites that have not confirmed yet that they follow the log. They ask the others until they do.
   */
  readonly late: readonly { readonly site: string; readonly problem: string }[];
  /** The logs beside that of `main`. Present only if there are any. */
  readonly logs?: readonly (LogOutcome & { readonly name: string })[];
}

/**
 * Seals the logs at all sites, and opens each one at its leader. It may be repeated. A minority of
 * the sites may be receiving the state of others meanwhile. Throws an error that names the site if
 * one cannot be reached or sealed, may have confirmed records that no sealed site has, or has more
 * of the log than the new leader.
 */
export async function restoreRedLog(targets: RestoreTargets): Promise<RestoredLog> {
  const { request, sites: all } = targets;
  const known = await Promise.all(all.map((site) => read(site, request)));
  const transferring = all.filter((_, index) => known[index]?.isTransferring);
  const sites = all.filter((site) => !transferring.includes(site));
  const listed = listLogs(targets, known);
  rejectOtherLogs(listed, all, known);
  rejectTransferring(transferring, sites, listed);
  const logs = listed.map((log): CheckedLog => {
    const losing = findLosing(log, sites, transferring);
    if (losing.length > 0 && log.acceptsLoss !== true) throw createLossError(log, sites, losing);
    rejectNonVoter(log, losing);
    return { ...log, losing };
  });
  for (const [index, { problem }] of known.entries())
    if (problem !== undefined)
      throw new Error(
        `${all[index]} cannot be sealed: ${problem}. Nothing was changed. Repeat this once that is fixed`,
      );

  // Each attempt uses a new number, so that no site follows two leaders of one generation.
  const generation = Math.max(...known.map((item) => item.generation)) + 1;
  const sealed = await seal(sites, generation, request);
  rejectOtherCounts(logs, sealed);
  const chosen = logs.map((log) => chooseCopy(log, sealed, all, known));

  const openings = await findOpenings(logs, { sites, request });
  const late = await open(createGeneration(generation, chosen, logs, openings), { sites, request });
  const [main, ...others] = chosen.map(({ site, length }, partition) => ({
    leader: site,
    length,
    losing: logs[partition]?.losing ?? [],
    ...(logs[partition]?.isVotedByAll === true && {
      isVotedByAll: true as const,
    }),
  })) as [LogOutcome, ...LogOutcome[]];
  const names = targets.partitions?.map(({ name }) => name) ?? [];
  return {
    generation,
    ...main,
    late,
    ...(names.length > 0 && {
      logs: names.map((name, index) => ({
        name,
        ...(others[index] as LogOutcome),
      })),
    }),
  };
}

function listLogs(
  targets: RestoreTargets,
  known: readonly ReadReply[],
): readonly Omit<CheckedLog, 'losing'>[] {
  const { voters, leader, fileLeader, acceptsLoss = false, sites } = targets;
  const { partitions = [], isConfirmedByOne } = targets;
  const main = { voters, leader, fileLeader, acceptsLoss, isConfirmedByOne };
  const name = partitions.length === 0 ? undefined : MAIN;
  return [
    { ...main, name, partition: 0, isVotedByAll: false },
    ...partitions.map(({ namedVoters, ...log }, index) => ({
      ...log,
      ...findLogVoters(
        listVoters(log.voters, index + 1, sites, known),
        { name: log.name, voters: namedVoters },
        known,
        sites,
      ),
      partition: index + 1,
      isConfirmedByOne,
    })),
  ];
}

/**
 * Adds the voters without the sites that have no vote in their own copy yet: the others may have
 * confirmed what these lack.
 */
function listVoters(
  lists: LogTargets['voters'],
  partition: number,
  sites: readonly string[],
  known: readonly ReadReply[],
): LogTargets['voters'] {
  const hasVote = (site: string): boolean =>
    known[sites.indexOf(site)]?.withoutVote?.includes(partition) !== true;
  const [open = []] = lists;
  return open.every(hasVote) ? lists : [...lists, open.filter(hasVote)];
}

/**
 * Without a loss, a voter leads: it has all that was confirmed. With one, a site without a vote may
 * be the only one that has a confirmed record.
 */
function rejectNonVoter(
  { name, leader, voters: [list = []] }: Log,
  losing: readonly string[],
): void {
  if (name === undefined || leader === undefined || losing.length > 0) return;
  if (!list.includes(leader))
    throw new Error(
      `${leader} cannot lead the red log of ${name}: name one of its voters ${list.join(', ')}. Nothing was changed`,
    );
}

async function read(site: string, request: RestoreTargets['request']): Promise<ReadReply> {
  const reply = await request(site, READ_RED, { isCopyAsked: true });
  const red = parseRedGeneration(reply);
  const { isTransferring = false, own, problem, withoutVote = [] } = reply as ReadReply;
  return { ...red, isTransferring, own, problem, withoutVote };
}

/**
 * Throws if a site knows other logs than the cluster file of the operator: they would have no
 * leader in the new generation.
 */
function rejectOtherLogs(
  logs: readonly Log[],
  sites: readonly string[],
  known: readonly ReadReply[],
): void {
  const expected = logs.map(({ name = MAIN }) => name).join(', ');
  for (const [index, { leader, logs: others = [] }] of known.entries()) {
    const found = [MAIN, ...others.map(({ name }) => name)].join(', ');
    if (leader !== null && found !== expected)
      throw new Error(
        `${sites[index]} has the partitions ${found}, and the cluster file has ${expected}. Nothing was changed. Use the cluster file of the sites`,
      );
  }
}

/** The same for sites that were sealed before, and do not know the names. */
function rejectOtherCounts(logs: readonly Log[], sealed: readonly SealedSite[]): void {
  const other = sealed.find(({ copies }) => copies.length !== logs.length);
  if (other !== undefined)
    throw new Error(
      `${other.site} has ${other.copies.length} red logs, and the cluster file has ${logs.length}. No log was opened. Repeat this with the cluster file of the sites`,
    );
}

function rejectTransferring(
  transferring: readonly string[],
  sites: readonly string[],
  logs: readonly Log[],
): void {
  const isMinority = transferring.length < sites.length;
  const mustLead = logs.some(({ leader }) => leader !== undefined && transferring.includes(leader));
  if (isMinority && !mustLead) return;
  throw new Error(
    `${transferring[0]} is taking the state of another site: wait until it serves. Nothing was changed`,
  );
}

/**
 * Seals all sites, even if one fails: a sealed site runs again once the restoration is repeated.
 */
async function seal(
  sites: readonly string[],
  generation: number,
  request: RestoreTargets['request'],
): Promise<SealedSite[]> {
  const outcomes = await Promise.allSettled(
    sites.map(async (site) => {
      const body = { generation, leader: null } satisfies RedGeneration;
      const reply = (await request(site, SEAL_RED, body)) as SealReply;
      return { site, copies: getCopies(reply) };
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined)
    return outcomes.flatMap((outcome) => ('value' in outcome ? outcome.value : []));
  const sealed = sites.filter((_, index) => outcomes[index]?.status === 'fulfilled');
  const state =
    sealed.length === 0
      ? ''
      : ` Sealed, and without reads and writes until this is repeated: ${sealed.join(', ')}.`;
  throw new Error(`${(failed.reason as Error).message}${state}`);
}

/** Returns what each log begins with that may lose records, from what all sealed sites have. */
async function findOpenings(
  logs: readonly CheckedLog[],
  { sites, request }: Pick<RestoreTargets, 'sites' | 'request'>,
): Promise<readonly (NamedEntries | undefined)[]> {
  const openings: (NamedEntries | undefined)[] = [];
  for (const { partition, losing } of logs) {
    if (losing.length === 0) continue;
    const body: NamedLog = { partition };
    const replies = await Promise.all(sites.map((site) => request(site, READ_NAMED, body)));
    openings[partition] = mergeNamedEntries(replies as NamedEntries[]);
  }
  return openings;
}

/**
 * Opens the generation at the leaders first. Returns the other sites that have not confirmed it.
 */
async function open(
  opened: RedGeneration,
  { sites, request }: Pick<RestoreTargets, 'sites' | 'request'>,
): Promise<RestoredLog['late']> {
  const leaders = new Set(getLogs(opened).map(({ leader }) => leader));
  for (const leader of leaders) await request(leader as string, OPEN_RED, opened);

  const others = sites.filter((site) => !leaders.has(site));
  const outcomes = await Promise.allSettled(others.map((site) => request(site, OPEN_RED, opened)));
  return outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected'
      ? [
          {
            site: others[index] as string,
            problem: (outcome.reason as Error).message,
          },
        ]
      : [],
  );
}
