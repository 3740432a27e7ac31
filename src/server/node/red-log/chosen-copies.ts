/**
 * Chooses which copies the red logs go on from when they are restored, and who leads them. It has
 * no part in how the sites are asked.
 */
import { isLonger, toEarliest, type LogCopy } from './log-copy.ts';
import type { NamedEntries } from './named-entries.ts';
import { getCopies, getLogs, type ReadReply, type RedGeneration } from './red-generation.ts';

/** A red log that is restored. */
export interface LogTargets {
  /**
   * The sites whose majority confirms records. There are several lists if a change of the members
   * may be pending.
   */
  readonly voters: readonly (readonly string[])[];
  /**
   * The site that is to lead. Default: the one with the longest log; if there are several logs, the
   * present leader if it is sealed
   */
  readonly leader: string | undefined;
  /**
   * The site that leads it by the cluster file. It counts as the present leader if no site knows
   * that, because all are sealed. Needed only if there are several logs.
   */
  readonly fileLeader?: string | undefined;
  /** Whether to continue even if confirmed records may be lost. */
  readonly acceptsLoss?: boolean;
}

/** A log, its ordinal, and its name if there are several. */
export interface Log extends LogTargets {
  readonly partition: number;
  readonly name: string | undefined;
  readonly isConfirmedByOne: boolean | undefined;
}

/** A log that is about to be sealed. */
export interface CheckedLog extends Log {
  /** The sites that may have confirmed what no other site has. */
  readonly losing: readonly string[];
  /** Whether all open sites are its voters in the new generation. */
  readonly isVotedByAll: boolean;
}

export interface SealedSite {
  readonly site: string;
  readonly copies: readonly LogCopy[];
}

export interface ChosenCopy extends LogCopy {
  readonly site: string;
}

/** Returns the copy of a log at each sealed site that may lead it. */
function listCopies(
  { partition, name, voters, losing, isVotedByAll }: CheckedLog,
  sealed: readonly SealedSite[],
): readonly ChosenCopy[] {
  const copies = sealed.flatMap(({ site, copies: { [partition]: copy } }) =>
    copy === undefined ? [] : [{ ...copy, site }],
  );
  // Without a loss, a sealed voter has all that was confirmed. With one, a site without a vote may
  // be the only one that has a confirmed record.
  if (name === undefined || losing.length > 0 || isVotedByAll) return copies;
  return copies.filter(({ site }) => voters[0]?.includes(site));
}

function findLongest(log: CheckedLog, sealed: readonly SealedSite[]): ChosenCopy {
  return listCopies(log, sealed).reduce((a, b) => (isLonger(b, a) ? b : a));
}

/** Throws if a site that is not sealed has more of the log than `longest`. */
function rejectLongerCopies(
  { partition, name }: Log,
  longest: ChosenCopy,
  sites: readonly string[],
  known: readonly ReadReply[],
): void {
  const hasMore = sites.find((_, index) => {
    const own = known[index]?.own;
    const copy = own && getCopies(own)[partition];
    return copy !== undefined && isLonger(copy, longest);
  });
  if (hasMore === undefined) return;
  throw new Error(
    `${hasMore} has more entries of ${formatLog(name)}, and is taking the state of another site: ` +
      `repeat this once it serves, or stop it and leave it out (--without) if what it alone has may be lost`,
  );
}

/**
 * Returns the copy with which the leader of a log begins.
 *
 * @param known the replies of all sites, by their place in `sites`
 * @throws Error if the site that is to lead has less than another one, or if a site that is not
 * sealed has more
 */
export function chooseCopy(
  log: CheckedLog,
  sealed: readonly SealedSite[],
  sites: readonly string[],
  known: readonly ReadReply[],
): ChosenCopy {
  const longest = findLongest(log, sealed);
  rejectLongerCopies(log, longest, sites, known);
  const copies = listCopies(log, sealed);
  const named = copies.find(({ site }) => site === log.leader);
  if (named !== undefined) {
    if (isLonger(longest, named)) throw shorterLeaderError(log, longest, named);
    return named;
  }
  if (log.name === undefined) return longest;

  const present = findPresentLeader(log, known) ?? log.fileLeader;
  const leading = copies.find(({ site }) => site === present);
  return leading === undefined || isLonger(longest, leading) ? longest : leading;
}

/** Returns the leader of a log in the last generation that a site knows. */
function findPresentLeader(
  { partition }: Log,
  known: readonly ReadReply[],
): string | null | undefined {
  const open = known.filter(({ leader }) => leader !== null);
  const [last] = open.toSorted((a, b) => b.generation - a.generation);
  return last && getLogs(last)[partition]?.leader;
}

/** Creates the generation in which each log goes on from its chosen copy. */
export function createGeneration(
  generation: number,
  chosen: readonly ChosenCopy[],
  logs: readonly CheckedLog[],
  openings: readonly (NamedEntries | undefined)[],
): RedGeneration {
  const all = chosen.map((copy, partition) => {
    const opening = openings[partition];
    return {
      leader: copy.site,
      base: toEarliest(copy),
      ...(opening !== undefined && { opening }),
    };
  });
  const [main, ...others] = all as [(typeof all)[0], ...typeof all];
  if (others.length === 0) return { generation, ...main };
  const votedByAll = logs.flatMap(({ name, isVotedByAll }) =>
    isVotedByAll && name !== undefined ? [name] : [],
  );
  return {
    generation,
    ...main,
    logs: others.map((other, index) => ({
      name: logs[index + 1]?.name ?? '',
      ...other,
    })),
    ...(votedByAll.length > 0 && { votedByAll }),
  };
}

function shorterLeaderError({ name }: Log, longest: ChosenCopy, chosen: ChosenCopy): Error {
  const [more, less] = [toEarliest(longest), toEarliest(chosen)];
  const isOfOne = more.copy === less.copy;
  const count = (site: string, { length, copy }: LogCopy): string =>
    `${site} has ${length} entries of ${formatLog(name)}${isOfOne ? '' : ` of generation ${copy}`}`;
  const entries = ` entries of ${formatLog(name)}`;
  return new Error(
    `${count(longest.site, more)}, and ${count(chosen.site, less).replace(entries, '')}: the first must lead, so that none is lost`,
  );
}

/** Names a log. A deployment with one log calls it just the red log. */
function formatLog(name: string | undefined): string {
  return name === undefined ? 'the red log' : `the red log of ${name}`;
}
