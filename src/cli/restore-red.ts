/** `correctables cluster restore-red`: lets the red log continue at another site. */
import type { ClusterFile } from '../server/cluster/cluster-file.ts';
import type { RestoredLog } from '../server/cluster/red-log/restore-red-log.ts';
import { findDeployedSites, type DeployedSites } from './deployed-sites.ts';
import { createUsageError, readNames, type RawOptions } from './options.ts';
import { printResult } from './print-result.ts';

/**
 * The timeout of a request. It is long, because a site first ends its operations before it is
 * sealed, and reads its data before it opens.
 */
const RESTORE_TIMEOUT_MS = 60_000;

/** Lets the red log continue at another site, because the site of its leader is lost. */
export async function restoreRed(file: ClusterFile, options: RawOptions): Promise<void> {
  const [deployed, { restoreRedLog }] = await Promise.all([
    findDeployedSites(file),
    import('../server/cluster/red-log/restore-red-log.ts'),
  ]);
  const { members: names, voters } = deployed;
  const read = (flag: string): readonly string[] =>
    options[flag] === undefined ? [] : readNames(options, flag);
  const [without, [leader]] = [read('without'), read('leader')];
  checkNames(names, without, leader);
  rejectLiving(deployed, without);

  const isEtcd = file.redLog.engine === 'etcd';
  const restored = await restoreRedLog({
    request: await createRequest(deployed),
    sites: names.filter((name) => !without.includes(name)),
    // A site that joins counts as soon as all have confirmed it.
    voters: [voters, names],
    isConfirmedByOne: isEtcd,
    leader,
    acceptsLoss: options['acceptLoss'] === true,
  });
  await printResult(options, restored, describe(restored, without, isEtcd));
}

function checkNames(
  names: readonly string[],
  without: readonly string[],
  leader: string | undefined,
): void {
  const unknown = [...without, ...(leader === undefined ? [] : [leader])].find(
    (name) => !names.includes(name),
  );
  if (unknown !== undefined)
    throw createUsageError(
      'cluster',
      `is of a deployment without a site ${unknown}. Its sites: ${names.join(', ')}`,
    );
  if (leader !== undefined && without.includes(leader))
    throw createUsageError('leader', `is ${leader}, which --without takes for lost`);
}

/**
 * Refuses to restore without a site that is still running. It would continue in the old generation,
 * and confirm operations that the other sites do not receive.
 */
function rejectLiving({ reports }: DeployedSites, without: readonly string[]): void {
  for (const name of without) {
    const witnesses = reports
      .filter(({ site, status }) => {
        if (site === name) return status !== null;
        const link = status?.links.find(({ peer }) => peer === name);
        return link?.isConnected === true;
      })
      .map(({ site }) => site);
    const [witness] = witnesses;
    if (witness === undefined) continue;
    const evidence = witnesses.includes(name) ? 'it answers' : `${witness} is connected to it`;
    throw new Error(
      `--without ${name}: the site is not lost: ${evidence}. It would go on confirming red writes that the others do not get. ` +
        `Nothing was changed. Stop its process first, or leave it out of --without.`,
    );
  }
}

async function createRequest({
  request,
}: DeployedSites): Promise<(to: string, kind: string, body: unknown) => Promise<unknown>> {
  const { NotReachedError } = await import('../server/cluster/operator-request.ts');
  return async (to, kind, body) => {
    try {
      return await request(to, kind, body, RESTORE_TIMEOUT_MS);
    } catch (cause) {
      const { message } = cause as Error;
      const problem =
        cause instanceof NotReachedError
          ? `${to} cannot be reached (${message}). Start it, or give --without ${to} if it is lost: then what only it had is lost.`
          : `${to} did not do its part (${message}). Repeat this command: each step of it can be repeated.`;
      throw new Error(problem, { cause });
    }
  };
}

function describe(
  { generation, leader, length, losing, late }: RestoredLog,
  without: readonly string[],
  isEtcd: boolean,
): string {
  const parts = [
    isEtcd
      ? `The red log goes on from the copy of ${leader}, generation ${generation}.`
      : `${leader} leads the red log now, generation ${generation}. Write redLog.leader "${leader}" into the cluster file of each site.`,
  ];
  if (losing.length > 0)
    parts.push(
      `It begins with ${length} records. All that ${losing.join(', ')} confirmed beyond these is lost; how many that are, only they know. ` +
        `If one of them comes back, it writes what it has beyond that to dropped-red-records-${generation}.json in its data directory, with the alarm red-records-dropped.`,
    );
  for (const { site, problem } of late)
    parts.push(`${site} has not confirmed it, and follows by itself once it can: ${problem}`);
  if (without.length > 0)
    parts.push(`If ${without.join(', ')} will not come back, run cluster retire.`);
  return parts.join(' ');
}
