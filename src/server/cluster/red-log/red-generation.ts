/**
 * The generation of the red log. If the site of its leader is lost, an operator restores it at the
 * site that has most of it: first all sites left are *sealed*, so that none gets further, then it
 * goes on under the next generation.
 */
import { isRecord } from '../../../correctable/validate.ts';

export const SEAL_RED = 'red.seal';
export const OPEN_RED = 'red.open';
export const READ_RED = 'red.read';

/** What a node follows. */
export interface RedGeneration {
  /** 0 when the deployment is created. */
  readonly generation: number;
  /** The site that leads the log; `null` while the log is sealed. */
  readonly leader: string | null;
  /** What its leader began with; none of the first generation. */
  readonly base?: LogCopy;
}

/** A copy of the log on a disk. */
export interface LogCopy {
  /**
   * The generation whose log it is a copy of. Of two copies of one generation, the shorter one is a
   * beginning of the other.
   */
  readonly copy: number;
  readonly length: number;
}

export interface StoredGeneration extends RedGeneration {
  /** The generation of the copy on the disk, if that is not the one that is followed. */
  readonly copy?: number | undefined;
}

/** The reply of a site that is asked what it follows. */
export interface ReadReply extends RedGeneration {
  /** Whether it takes the state of another site: then it cannot be sealed. */
  readonly isTransferring?: boolean;
  /** Its copy of the log, if it takes a state and was asked for that. */
  readonly own?: LogCopy | undefined;
}

/** The reply of a sealed site: with its copy of the log. */
export interface SealReply extends RedGeneration, LogCopy {}

export function getCopyGeneration({ generation, leader, copy }: StoredGeneration): number {
  return copy ?? (leader === null ? generation - 1 : generation);
}

/** Whether a copy is a beginning of the log of a generation. */
export function isPrefix({ copy, length }: LogCopy, { base }: RedGeneration): boolean {
  return base !== undefined && copy === base.copy && length <= base.length;
}

/** @throws Error if it is none */
export function parseRedGeneration(value: unknown): RedGeneration {
  const { generation, leader, base } = isRecord(value) ? value : {};
  const isLeader = leader === null || typeof leader === 'string';
  const { copy = 0, length = 0 } = isRecord(base) ? base : {};
  if (
    [generation, copy, length].every(
      (item) => Number.isSafeInteger(item) && (item as number) >= 0,
    ) &&
    isLeader
  )
    return value as unknown as RedGeneration;
  throw new Error('a generation of the red log must have a number and a leader');
}

/** Whether a node that follows `own` must follow `other` from now on. */
export function isSuperseded(own: RedGeneration, other: RedGeneration): boolean {
  if (other.leader === null) return false;
  return (
    other.generation > own.generation ||
    (other.generation === own.generation && own.leader === null)
  );
}

/** What happens to the sites of a log that is restored. */
export interface RestoreTargets {
  /** Sends a request to a site. */
  request(site: string, kind: string, body: unknown): Promise<unknown>;
  /** All sites that are not lost. */
  readonly sites: readonly string[];
  /** The site that is to lead; the one with the longest log unless given. */
  readonly leader: string | undefined;
}

/**
 * Seals the log at all sites, and opens it at its new leader. May be repeated. A minority may be
 * taking the state of others. Throws an error with the site that cannot be reached, or that has
 * more of the log than the new leader.
 */
export async function restoreRedLog({
  request,
  sites: all,
  leader,
}: RestoreTargets): Promise<RedGeneration> {
  const read = async (site: string): Promise<ReadReply> => {
    const reply = await request(site, READ_RED, { isCopyAsked: true });
    const red = parseRedGeneration(reply);
    const { isTransferring = false, own } = reply as ReadReply;
    return { ...red, isTransferring, own };
  };
  const known = await Promise.all(all.map(read));
  const transferring = all.filter((_, place) => known[place]?.isTransferring);
  const sites = all.filter((site) => !transferring.includes(site));
  const isRefused =
    2 * sites.length <= all.length || (leader !== undefined && transferring.includes(leader));
  if (isRefused)
    throw new Error(
      `${transferring[0]} is taking the state of another site: wait until it serves. Nothing was changed`,
    );
  // Each attempt has a number of its own, so that no site follows two leaders of one generation.
  const generation = Math.max(...known.map((item) => item.generation)) + 1;
  const sealed = await Promise.all(
    sites.map(async (site) => {
      const { length, copy } = (await request(site, SEAL_RED, {
        generation,
        leader: null,
      })) as SealReply;
      return { site, length, copy };
    }),
  );
  // What a site has of an earlier generation was confirmed, or does not count, however much it is.
  const isLonger = (a: LogCopy, b: LogCopy): boolean =>
    a.copy > b.copy || (a.copy === b.copy && a.length > b.length);
  const longest = sealed.reduce((a, b) => (isLonger(b, a) ? b : a));
  const hasMore = all.find((_, place) => isLonger(known[place]?.own ?? longest, longest));
  if (hasMore !== undefined)
    throw new Error(
      `${hasMore} has more entries of the red log, and is taking the state of another site: ` +
        `repeat this once it serves, or leave it out (--without) if what it alone has may be lost`,
    );
  const chosen = sealed.find(({ site }) => site === leader) ?? longest;
  if (isLonger(longest, chosen)) {
    const count = ({ site, length, copy }: (typeof sealed)[number]): string =>
      `${site} has ${length} entries of the red log${longest.copy === chosen.copy ? '' : ` of generation ${copy}`}`;
    throw new Error(
      `${count(longest)}, and ${count(chosen).replace(' entries of the red log', '')}: the first must lead, so that none is lost`,
    );
  }
  const { copy, length } = chosen;
  const opened = { generation, leader: chosen.site, base: { copy, length } };
  await request(chosen.site, OPEN_RED, opened);
  for (const site of sites) if (site !== chosen.site) await request(site, OPEN_RED, opened);
  return { generation, leader: chosen.site };
}
