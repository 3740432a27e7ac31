/** Finds the sites of a deployment: those of the cluster file, and those that joined later. */
import type { ClusterAddress, ClusterFile } from '../server/node/cluster/cluster-file.ts';
import type { NodeStatus } from '../server/node/cluster/node-status.ts';

/** Sends a request to the node of a site, with the key of the deployment. */
export type RequestNode = (
  to: string,
  kind: string,
  body: unknown,
  timeoutMs?: number,
) => Promise<unknown>;

export interface SiteReport {
  readonly site: string;
  readonly status: NodeStatus | null;
  readonly error: string | null;
}

export interface DeployedSites {
  /** The reports of each site of the file, then of those that joined later. */
  readonly reports: readonly SiteReport[];
  /** The names of the sites that are members now. If no site answers, those of the file. */
  readonly members: readonly string[];
  /** The members whose confirmation counts for the red log. */
  readonly voters: readonly string[];
  /**
   * Sites that are no members any more, which not all members have confirmed yet. A red log beside
   * that of `main` may still count their votes.
   */
  readonly closing: readonly string[];
  readonly retired: readonly string[];
  readonly request: RequestNode;
}

type Member = NodeStatus['members'][number];

/** The order of the states of an origin. An origin never returns to an earlier state. */
const PROGRESS: Readonly<Record<Member['state'], number>> = {
  joining: 1,
  open: 2,
  closing: 3,
  closed: 4,
};

/**
 * Requests the status of the sites in the file, and of further sites that these name. Throws if the
 * key file is wrong.
 */
export async function findDeployedSites({ keyFile, sites }: ClusterFile): Promise<DeployedSites> {
  const [{ requestOfOperator }, { readKeyFile }, { parseAddress }] = await Promise.all([
    import('../server/node/commands/operator-request.ts'),
    import('../server/node/cluster/key-file.ts'),
    import('../server/node/cluster/cluster-file.ts'),
  ]);
  const keys = readKeyFile(keyFile);
  const addresses = new Map<string, ClusterAddress>(
    [...sites].map(([name, { cluster }]) => [name, cluster]),
  );
  const request: RequestNode = async (to, kind, body, timeoutMs) => {
    const address = addresses.get(to);
    if (address === undefined)
      throw new Error(`the cluster file has no address of ${to}: add it to sites`);
    return requestOfOperator({ address, to, keys }, kind, body, timeoutMs);
  };
  const reports: SiteReport[] = [];
  let names = [...sites.keys()];
  while (names.length > 0) {
    reports.push(...(await Promise.all(names.map((site) => report(site, request)))));
    const joined = findLatest(reports).filter(
      (origin) => isMember(origin) && reports.every(({ site }) => site !== origin.site),
    );
    for (const { site, address } of joined)
      if (address !== undefined) addresses.set(site, parseAddress(site, address.cluster));
    names = joined.map(({ site }) => site);
  }
  const known = findLatest(reports);
  const members =
    known.length === 0 ? [...sites.keys()] : known.filter(isMember).map(({ site }) => site);
  const open = known.filter(({ state }) => state === 'open').map(({ site }) => site);
  const closing = known
    .filter(({ site, state }) => state === 'closing' && !members.includes(site))
    .map(({ site }) => site);
  const retired = known.map(({ site }) => site).filter((site) => !members.includes(site));
  return {
    reports,
    members,
    voters: known.length === 0 ? members : open,
    closing,
    retired,
    request,
  };
}

async function report(site: string, request: RequestNode): Promise<SiteReport> {
  try {
    return { site, status: (await request(site, 'status', null)) as NodeStatus, error: null };
  } catch (error) {
    return { site, status: null, error: (error as Error).message };
  }
}

function isMember({ state }: Member): boolean {
  return state === 'open' || state === 'joining';
}

/** Returns the origins as reported by the site that has seen the most changes of them. */
function findLatest(reports: readonly SiteReport[]): Member[] {
  const tables = reports.map(({ status }) => status?.members ?? []);
  const countChanges = (table: readonly Member[]): number =>
    table.reduce((sum, { state }) => sum + PROGRESS[state], 0);
  return [...tables.reduce((a, b) => (countChanges(b) > countChanges(a) ? b : a))];
}
