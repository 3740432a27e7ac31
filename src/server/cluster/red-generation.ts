/**
 * The generation of the built-in red log. If the site of its leader is lost, an operator restores the log at the site that
 * has most of it (`correctables cluster restore-red`). First all sites that are left are *sealed*: they follow the old
 * leader no more, so that none of them can get further. Then the log goes on at its new leader, under the next generation.
 * A node that was away takes the state of another site before it goes on, since its own end of the log may not count.
 */
import { isRecord } from '../../correctable/validate.ts';

/** The kinds of requests. */
export const SEAL_RED = 'red.seal';
export const OPEN_RED = 'red.open';
export const READ_RED = 'red.read';

/** What a node follows. */
export interface RedGeneration {
  /** 0 when the deployment is created. */
  readonly generation: number;
  /** The site that leads the log; `null` while the log is sealed. */
  readonly leader: string | null;
}

/** The reply of a sealed site. */
export interface SealReply extends RedGeneration {
  /** Entries of the log that the site has on its disk. */
  readonly length: number;
}

/** @throws Error if it is none */
export function parseRedGeneration(value: unknown): RedGeneration {
  const { generation, leader } = isRecord(value) ? value : {};
  const isLeader = leader === null || typeof leader === 'string';
  if (Number.isSafeInteger(generation) && (generation as number) >= 0 && isLeader)
    return value as unknown as RedGeneration;
  throw new Error('a generation of the red log must have a number and a leader');
}

/** Whether a node that follows `own` must follow `other` from now on. */
export function isSuperseded(own: RedGeneration, other: RedGeneration): boolean {
  if (other.leader === null) return false;
  return other.generation > own.generation || (other.generation === own.generation && own.leader === null);
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
 * Seals the log at all sites, and opens it at its new leader. To repeat it after a failure does no harm.
 *
 * @throws Error with the site that cannot be reached, or the one that has more of the log than the leader that was asked for
 */
export async function restoreRedLog({ request, sites, leader }: RestoreTargets): Promise<RedGeneration> {
  const read = async (site: string): Promise<RedGeneration> => parseRedGeneration(await request(site, READ_RED, null));
  const known = await Promise.all(sites.map(read));
  const newest = Math.max(...known.map(({ generation }) => generation));
  // One that was sealed and not opened goes on with the same number.
  const isOpen = known.some((item) => item.generation === newest && item.leader !== null);
  const generation = isOpen ? newest + 1 : newest;
  const sealed = await Promise.all(
    sites.map(async (site) => {
      const { length } = (await request(site, SEAL_RED, { generation, leader: null })) as SealReply;
      return { site, length };
    }),
  );
  const longest = sealed.reduce((a, b) => (b.length > a.length ? b : a));
  const chosen = sealed.find(({ site }) => site === leader) ?? longest;
  if (chosen.length < longest.length) {
    const more = `${longest.site} has ${longest.length} entries of the red log, and ${chosen.site} has ${chosen.length}`;
    throw new Error(`${more}: it must lead, so that none is lost`);
  }
  const opened = { generation, leader: chosen.site };
  await request(chosen.site, OPEN_RED, opened);
  for (const site of sites) if (site !== chosen.site) await request(site, OPEN_RED, opened);
  return opened;
}
