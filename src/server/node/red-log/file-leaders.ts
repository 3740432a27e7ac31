/**
 * Compares the leaders in `cluster.json` with those of the red logs. The file counts when a
 * deployment is created. After that only `restore-red` changes a leader, so a file with another one
 * has a mistake. But after a restore the file may be newer than the directory of a site that was
 * away. So the other sites are asked before a start is refused.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import { clusterFileError, show } from '../cluster/cluster-file-errors.ts';
import type { ClusterFile } from '../cluster/cluster-file.ts';
import type { PeerRequests } from '../links/cluster-links.ts';
import { READ_RED, getLogs, parseRedGeneration, type RedGeneration } from './red-generation.ts';

/** A field of the file that does not name the leader of its log. */
interface OtherLeader {
  readonly field: string;
  readonly fileLeader: string;
  readonly leader: string;
}

const RETRY_MS = 250;
/**
 * How often a majority is asked again before the start is refused. Meanwhile other sites with the
 * same file ask this one, so that their starts end too.
 */
const MAJORITY_ROUNDS = 4;

/**
 * Returns the first field of the file with another leader than the generation. Once the logs were
 * restored, the leaders in the file do not count.
 */
function findOtherLeader(
  red: RedGeneration,
  { redLog, partitions }: ClusterFile,
): OtherLeader | undefined {
  if (redLog.engine !== 'built-in' || red.generation > 0) return undefined;

  const fileLeaders = [
    { field: 'redLog.leader', fileLeader: redLog.leader },
    ...partitions.map(({ name, leader }) => ({
      field: `partitions.${name}.leader`,
      fileLeader: leader,
    })),
  ];
  const logs = getLogs(red);
  return fileLeaders
    .map((item, index) => ({
      ...item,
      leader: logs[index]?.leader ?? item.fileLeader,
    }))
    .find(({ fileLeader, leader }) => fileLeader !== leader);
}

function otherLeaderError(
  { field, fileLeader, leader }: OtherLeader,
  owner: string,
): CorrectableError {
  const problem = `${field} is ${show(fileLeader)}, and ${owner} has ${show(leader)}`;
  return clusterFileError(
    `cluster.json: ${problem}. Nothing was changed. Write ${show(leader)} into the file. Only cluster restore-red changes the leader of a log.`,
  );
}

/**
 * Throws `INVALID_ARGUMENT` if the file of a site that joins has another leader than the
 * deployment.
 *
 * @param red the generation that the members follow, if one has answered
 */
export function rejectJoinWithOtherLeader(red: RedGeneration | undefined, file: ClusterFile): void {
  const other = red && findOtherLeader(red, file);
  if (other !== undefined) throw otherLeaderError(other, 'the deployment');
}

export interface LeaderComparison {
  readonly file: ClusterFile;
  readonly dataDir: string;
  /** The generation that the directory follows. */
  readonly red: RedGeneration;
  readonly links: PeerRequests;
  readonly signal: AbortSignal;
  /** Called while too few sites have answered. */
  onWaiting(message: string): void;
}

/**
 * Resolves if the leaders in the file are those of the directory, or once another site has restored
 * the logs. Rejects with `INVALID_ARGUMENT` once a majority of the sites has not: then the logs
 * were not restored.
 */
export async function rejectOtherLeaders({
  file,
  dataDir,
  red,
  links,
  signal,
  onWaiting,
}: LeaderComparison): Promise<void> {
  const other = findOtherLeader(red, file);
  if (other === undefined) return;

  const { field, fileLeader, leader } = other;
  const unrestored = new Set<string>();
  for (let rounds = 0; rounds < MAJORITY_ROUNDS;) {
    signal.throwIfAborted();
    const found = await Promise.all(
      links.peers.map(async (peer) => [peer, await readGeneration(links, peer)] as const),
    );
    if (found.some(([, generation = 0]) => generation > 0)) return;
    for (const [peer, generation] of found) if (generation !== undefined) unrestored.add(peer);

    if (unrestored.size + 1 > file.sites.size / 2) rounds += 1;
    else
      onWaiting(
        `waiting for more sites: ${field} of cluster.json is ${show(fileLeader)}, and the data has ${show(leader)}`,
      );
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  throw otherLeaderError(other, `the data in ${dataDir}`);
}

/** Returns the generation of a peer; `undefined` if it does not answer. */
async function readGeneration(links: PeerRequests, peer: string): Promise<number | undefined> {
  try {
    const reply = await links.request(peer, READ_RED, null);
    return parseRedGeneration(reply).generation;
  } catch {
    return undefined;
  }
}
