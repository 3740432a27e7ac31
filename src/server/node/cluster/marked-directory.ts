/**
 * Rebuilds no directory that other sites still need. A directory may have been marked as forked by
 * mistake, and then have operations that its site has answered and no other site has. So before
 * such a directory is moved away, the others are asked how much they have. If they lack something,
 * the mark is removed instead: the site starts on the directory, and the other sites check it again
 * as they check any start (CLU-I3 to CLU-I7). If they accept it, they get what they lack. If they
 * refuse it again, only an operator may give its operations up.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { isRecord } from '../../../correctable/validate.ts';
import { collectTail } from '../../log/recovered-state.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { BlueOperation } from '../../service/records/records.ts';
import type { DataDirectory } from '../storage/directory/data-directory.ts';
import { recoverClosed } from '../storage/directory/open-storage.ts';
import type { NodeDirectoryOptions } from './node-directory.ts';
import { readNodeIdentity, writeNodeIdentity, type DirectoryOwner } from './node-file.ts';

export interface MarkedDirectoryOptions extends DirectoryOwner {
  readonly dataDir: string;
  /** The deployment, as it opens the directory. */
  readonly stored: NodeDirectoryOptions['deployment'];
  /** The other sites of the cluster file. */
  readonly peers: readonly string[];
  /** Asks a peer for its status. */
  request(peer: string): Promise<unknown>;
  /** Called with what it waits for, or with what it has decided. */
  onProgress(message: string): void;
}

/** What the other sites know of the site of the directory. */
interface KnownSite {
  /** Returns how many blue operations of an origin they have at most. */
  getCount(origin: Origin): number;
  /** Whether it leads a red log: then it cannot be rebuilt. */
  readonly isLeader: boolean;
  /** Whether it was closed. Then its operations were saved to a file. */
  readonly isClosed: boolean;
}

const [RETRY_AFTER_MS, MAX_WAIT_MS] = [500, 5000];

/**
 * Removes the mark of a forked directory if other sites lack what it has.
 *
 * @throws CorrectableError `UNAVAILABLE` if they have refused it since
 */
export async function recheckMarkedDirectory(
  directory: DataDirectory,
  options: MarkedDirectoryOptions,
): Promise<void> {
  const { files, manifest } = directory;
  const { site, dataDir, onProgress } = options;
  const identity = readNodeIdentity(files, dataDir, options);
  if (identity?.forked === undefined || identity.origin === null) return;
  if (manifest === undefined || files.list('sites').length === 0) return;

  const origin = identity.origin as Origin;
  const operations = await readOperations(directory, options.stored);
  const known = await askOthers(origin, options);
  const own = operations.filter((operation) => operation.site === origin);
  const recheckedAt = Math.max(0, ...own.map(({ sequence }) => sequence));
  const removeMark = (has: string): void => {
    const { forked, ...unmarked } = identity;
    writeNodeIdentity(files, { ...unmarked, recheckedAt });
    onProgress(
      `${dataDir} was marked (${forked}). ${has}: the site starts on it, and the other sites check it again`,
    );
  };
  if (known === undefined) return removeMark('No other site serves');
  const lacking = operations.filter(
    (operation) => operation.sequence > known.getCount(operation.site),
  );
  const mustKeep = lacking.length > 0 || known.isLeader;
  if (known.isClosed || !mustKeep) return;

  const has = `It has ${describe(lacking, known)}`;
  if (identity.recheckedAt !== recheckedAt) return removeMark(has);
  const advice = known.isLeader
    ? `First run: correctables cluster restore-red --without ${site}`
    : `To give it up, move ${dataDir} to another place, and start ${site} on an empty directory with --rebuild`;
  const message = `rebuild: ${dataDir} is marked again, since the other sites have refused it (${identity.forked}). ${has}. Nothing was changed. ${advice}.`;
  throw new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'rebuild',
  });
}

/** Reads what other sites may lack. A damaged directory has none to hand over. */
async function readOperations(
  directory: DataDirectory,
  deployment: MarkedDirectoryOptions['stored'],
): Promise<readonly BlueOperation[]> {
  try {
    const { stored } = await recoverClosed(directory, deployment);
    return collectTail(stored);
  } catch (error) {
    if (isCorrectableError(error, 'UNAVAILABLE')) return [];
    throw error;
  }
}

/**
 * Asks until at least one site that serves has answered. Returns `undefined` if none has for
 * `MAX_WAIT_MS`: all others may be marked, too.
 */
async function askOthers(
  origin: Origin,
  { peers, request, site, onProgress }: MarkedDirectoryOptions,
): Promise<KnownSite | undefined> {
  const untilMs = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const replies = await Promise.all(peers.map((peer) => request(peer).catch(() => undefined)));
    const known = replies.flatMap((reply) => readKnown(reply, origin, site));
    if (known.length > 0)
      return {
        getCount: (of) => Math.max(...known.map((item) => item.getCount(of))),
        isLeader: known.some(({ isLeader }) => isLeader),
        isClosed: known.some(({ isClosed }) => isClosed),
      };
    if (performance.now() >= untilMs) return undefined;
    onProgress(
      `waiting for one of ${peers.join(', ')}, to compare what the directory of ${site} has`,
    );
    await pause(RETRY_AFTER_MS);
  }
}

/** Reads the status of a site. One that does not serve knows nothing. */
function readKnown(status: unknown, origin: Origin, site: string): KnownSite[] {
  if (!isRecord(status) || !isRecord(status['progress'])) return [];
  const { streams } = status['progress'];
  if (!Array.isArray(streams)) return [];
  const { members, redLeader, redLogs } = status;
  const isClosed = (of: Origin): boolean => {
    const member = toRecords(members).find((item) => item['origin'] === of);
    return isRecord(member?.['final']);
  };
  const leaders = [redLeader, ...toRecords(redLogs).map(({ leader }) => leader)];
  return [
    {
      // Nothing is taken of a closed origin beyond its end.
      getCount: (of) => (isClosed(of) ? Infinity : Number((streams as unknown[])[of] ?? 0)),
      isLeader: leaders.includes(site),
      isClosed: isClosed(origin),
    },
  ];
}

function toRecords(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Names what only the directory has. */
function describe(lacking: readonly BlueOperation[], { isLeader }: KnownSite): string {
  const [first, last] = [lacking.at(0), lacking.at(-1)];
  const parts = isLeader ? ['the red log that the site leads'] : [];
  if (first !== undefined && last !== undefined)
    parts.unshift(
      `${lacking.length} operations that no other site has (${first.id} to ${last.id})`,
    );
  return parts.join(' and ');
}
