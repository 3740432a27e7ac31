/**
 * Restores the red log for an operator: it asks all remaining sites, seals
 * them, and opens the log at its new leader.
 */
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  parseRedGeneration,
  type LogCopy,
  type ReadReply,
  type RedGeneration,
  type SealReply,
} from './red-generation.ts';

/**
 * The sites of a log that is restored, and a function that sends them requests.
 */
export interface RestoreTargets {
  /** Sends a request to a site. */
  request(site: string, kind: string, body: unknown): Promise<unknown>;
  /** All sites that are not lost. */
  readonly sites: readonly string[];
  /**
   * The sites whose majority confirms records. There are several lists if a
   * change of the members may be pending.
   */
  readonly voters: readonly (readonly string[])[];
  /**
   * Whether one site can confirm a record alone, as with etcd. Default: a
   * majority of the voters confirms it
   */
  readonly isConfirmedByOne?: boolean;
  /** The site that is to lead. Default: the one with the longest log */
  readonly leader: string | undefined;
  /** Whether to continue even if confirmed records may be lost. */
  readonly acceptsLoss?: boolean;
}

/** The result of restoring the log. */
export interface RestoredLog {
  readonly generation: number;
  readonly leader: string;
  /** The number of records with which the new generation begins. */
  readonly length: number;
  /**
   * Sites that may have confirmed more records than these. Such records are
   * lost.
   */
  readonly losing: readonly string[];
  /**
   * Sites that have not confirmed yet that they follow the log. They ask the
   * others until they do.
   */
  readonly late: readonly { readonly site: string; readonly problem: string }[];
}

type SiteCopy = LogCopy & { readonly site: string };

/**
 * Seals the log at all sites, and opens it at its new leader. It may be
 * repeated. A minority of the sites may be receiving the state of others
 * meanwhile. Throws an error that names the site if one cannot be reached or
 * sealed, may have confirmed records that no sealed site has, or has more of
 * the log than the new leader.
 */
export async function restoreRedLog(
  targets: RestoreTargets,
): Promise<RestoredLog> {
  const { request, sites: all, leader } = targets;
  const known = await Promise.all(all.map((site) => read(site, request)));
  const transferring = all.filter((_, index) => known[index]?.isTransferring);
  const sites = all.filter((site) => !transferring.includes(site));
  rejectTransferring(transferring, sites, leader);
  const losing = findLosing(targets, sites, transferring);
  if (losing.length > 0 && targets.acceptsLoss !== true)
    throw lossError(targets, sites, losing);
  for (const [index, { problem }] of known.entries())
    if (problem !== undefined)
      throw new Error(
        `${all[index]} cannot be sealed: ${problem}. Nothing was changed. Repeat this once that is fixed`,
      );

  // Each attempt uses a new number, so that no site follows two leaders of one
  // generation.
  const generation = Math.max(...known.map((item) => item.generation)) + 1;
  const sealed = await seal(sites, generation, request);
  const longest = sealed.reduce((a, b) => (isLonger(b, a) ? b : a));
  const hasMore = all.find((_, index) =>
    isLonger(known[index]?.own ?? longest, longest),
  );
  if (hasMore !== undefined)
    throw new Error(
      `${hasMore} has more entries of the red log, and is taking the state of another site: ` +
        `repeat this once it serves, or stop it and leave it out (--without) if what it alone has may be lost`,
    );
  const chosen = sealed.find(({ site }) => site === leader) ?? longest;
  if (isLonger(longest, chosen)) throw shorterLeaderError(longest, chosen);

  const { copy, length } = chosen;
  const opened = { generation, leader: chosen.site, base: { copy, length } };
  await request(chosen.site, OPEN_RED, opened);
  const others = sites.filter((site) => site !== chosen.site);
  const outcomes = await Promise.allSettled(
    others.map((site) => request(site, OPEN_RED, opened)),
  );
  const late = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected'
      ? [
          {
            site: others[index] as string,
            problem: (outcome.reason as Error).message,
          },
        ]
      : [],
  );
  return { generation, leader: chosen.site, length, losing, late };
}

async function read(
  site: string,
  request: RestoreTargets['request'],
): Promise<ReadReply> {
  const reply = await request(site, READ_RED, { isCopyAsked: true });
  const red = parseRedGeneration(reply);
  const { isTransferring = false, own, problem } = reply as ReadReply;
  return { ...red, isTransferring, own, problem };
}

function rejectTransferring(
  transferring: readonly string[],
  sites: readonly string[],
  leader: string | undefined,
): void {
  const isMinority = transferring.length < sites.length;
  if (isMinority && !(leader !== undefined && transferring.includes(leader)))
    return;
  throw new Error(
    `${transferring[0]} is taking the state of another site: wait until it serves. Nothing was changed`,
  );
}

/**
 * Returns the sites that may have confirmed a record which no sealed site has:
 * together they are a majority of the voters.
 */
function findLosing(
  { voters, isConfirmedByOne = false }: RestoreTargets,
  sealed: readonly string[],
  transferring: readonly string[],
): readonly string[] {
  // A site that receives a state may finish at any time, and then confirm
  // records of the old leader.
  const known = isConfirmedByOne ? [...sealed, ...transferring] : sealed;
  for (const list of voters) {
    const others = list.filter((site) => !known.includes(site));
    const confirming = isConfirmedByOne ? 1 : Math.floor(list.length / 2) + 1;
    if (others.length >= confirming) return others;
  }
  return [];
}

function lossError(
  { voters, isConfirmedByOne = false }: RestoreTargets,
  sealed: readonly string[],
  losing: readonly string[],
): Error {
  const [list = []] = voters;
  const confirming = isConfirmedByOne ? 1 : Math.floor(list.length / 2) + 1;
  const missing = Math.max(1, losing.length - confirming + 1);
  const [names, rest] = [losing.join(', '), sealed.join(', ')];
  const cause = isConfirmedByOne
    ? 'a record is confirmed once one site has it'
    : `a record is confirmed once ${confirming} of the ${list.length} voters of the red log have it`;
  return new Error(
    `confirmed red records may be lost: ${cause}, so ${names} can have confirmed what ${rest} ${sealed.length === 1 ? 'lacks' : 'lack'}. ` +
      `Nothing was changed. Start ${missing === losing.length ? names : `${missing} of ${names}`}, and do not name what runs in --without. ` +
      `If that cannot be done, repeat this with --accept-loss: all that they confirmed beyond the records of ${rest} is lost then`,
  );
}

/**
 * Seals all sites, even if one fails: a sealed site runs again once the
 * restoration is repeated.
 */
async function seal(
  sites: readonly string[],
  generation: number,
  request: RestoreTargets['request'],
): Promise<SiteCopy[]> {
  const outcomes = await Promise.allSettled(
    sites.map(async (site) => {
      const { length, copy } = (await request(site, SEAL_RED, {
        generation,
        leader: null,
      } satisfies RedGeneration)) as SealReply;
      return { site, length, copy };
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined)
    return outcomes.flatMap((outcome) =>
      'value' in outcome ? outcome.value : [],
    );
  const sealed = sites.filter(
    (_, index) => outcomes[index]?.status === 'fulfilled',
  );
  const state =
    sealed.length === 0
      ? ''
      : ` Sealed, and without reads and writes until this is repeated: ${sealed.join(', ')}.`;
  throw new Error(`${(failed.reason as Error).message}${state}`);
}

/**
 * Returns whether the copy `a` has more of the log. A later generation has
 * more, however many records the earlier one has: its records were taken over,
 * or were not confirmed.
 */
function isLonger(a: LogCopy, b: LogCopy): boolean {
  return a.copy > b.copy || (a.copy === b.copy && a.length > b.length);
}

function shorterLeaderError(longest: SiteCopy, chosen: SiteCopy): Error {
  const count = ({ site, length, copy }: SiteCopy): string =>
    `${site} has ${length} entries of the red log${longest.copy === chosen.copy ? '' : ` of generation ${copy}`}`;
  return new Error(
    `${count(longest)}, and ${count(chosen).replace(' entries of the red log', '')}: the first must lead, so that none is lost`,
  );
}
