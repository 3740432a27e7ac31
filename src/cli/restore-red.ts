/** `correctables cluster restore-red`: lets the red logs continue at other sites. */
import type { ClusterFile } from '../server/node/cluster/cluster-file.ts';
import type { LogTargets } from '../server/node/red-log/chosen-copies.ts';
import type { RestoredLog } from '../server/node/commands/restore-red-log.ts';
import { findDeployedSites, type DeployedSites } from './deployed-sites.ts';
import { createUsageError, readNames, readText, type RawOptions } from './options.ts';
import { printResult } from './print-result.ts';

/**
 * The timeout of a request. It is long, because a site first ends its operations before it is
 * sealed, and reads its data before it opens.
 */
const RESTORE_TIMEOUT_MS = 60_000;

/** The partition that every deployment has. */
const MAIN = 'main';

/** What an operator asks for: names of sites by the names of the logs. */
interface LogChoices {
  /** The sites that are to lead. */
  readonly leaders: ReadonlyMap<string, string>;
  /** The logs that may lose records. */
  readonly losing: readonly string[];
}

/**
 * Lets the red logs continue, because the site of a leader is lost. All of them are restored at
 * once.
 */
export async function restoreRed(file: ClusterFile, options: RawOptions): Promise<void> {
  const [deployed, { restoreRedLog }] = await Promise.all([
    findDeployedSites(file),
    import('../server/node/commands/restore-red-log.ts'),
  ]);
  const { members: names, voters, closing } = deployed;
  const without: readonly string[] =
    options['without'] === undefined ? [] : readNames(options, 'without');
  const { redLog, partitions } = file;
  const logs = [MAIN, ...partitions.map(({ name }) => name)];
  const choices = {
    leaders: readLeaders(options, logs),
    losing: readLosing(options, logs),
  };
  checkNames(names, without, [...choices.leaders.values()]);
  rejectLiving(deployed, without);

  const isEtcd = redLog.engine === 'etcd';
  const restored = await restoreRedLog({
    request: await createRequest(deployed),
    sites: names.filter((name) => !without.includes(name)),
    isConfirmedByOne: isEtcd,
    // A site that joins counts as soon as all have confirmed it.
    ...chooseTargets(MAIN, [voters, names], choices),
    fileLeader: isEtcd ? undefined : redLog.leader,
    partitions: partitions.map(({ name, leader, voters: namedVoters }) => ({
      // Until its copy of a change, a log counts the votes of a site that the change closes.
      ...chooseTargets(name, [voters, names, [...names, ...closing]], choices),
      name,
      namedVoters,
      fileLeader: leader,
    })),
  });
  await printResult(options, restored, describe(restored, without, file));
}

function chooseTargets(
  log: string,
  voters: LogTargets['voters'],
  { leaders, losing }: LogChoices,
): LogTargets {
  return { voters, leader: leaders.get(log), acceptsLoss: losing.includes(log) };
}

/** Reads `ohio`, which leads the log of `main`, and `us=ohio`, separated by commas. */
function readLeaders(options: RawOptions, logs: readonly string[]): ReadonlyMap<string, string> {
  if (options['leader'] === undefined) return new Map();
  const pairs = readText(options, 'leader')
    .split(',')
    .map((item): [log: string, site: string] => {
      const [first = '', site] = item.trim().split('=');
      return site === undefined ? [MAIN, first] : [first, site];
    });
  for (const [log] of pairs) checkIsLog('leader', log, logs);
  const leaders = new Map(pairs);
  if (leaders.size !== pairs.length) throw createUsageError('leader', 'names two leaders of a log');
  return leaders;
}

/** Returns the logs that `--accept-loss` names. Without a name it is of all logs. */
function readLosing({ acceptLoss }: RawOptions, logs: readonly string[]): readonly string[] {
  if (acceptLoss === true) return logs;
  if (typeof acceptLoss !== 'string') return [];
  const names = acceptLoss.split(',').map((item) => item.trim());
  for (const name of names) checkIsLog('acceptLoss', name, logs);
  return names;
}

function checkIsLog(flag: string, log: string, logs: readonly string[]): void {
  if (!logs.includes(log))
    throw createUsageError(
      flag,
      `names the red log of ${log}. There are those of ${logs.join(', ')}`,
    );
}

function checkNames(
  names: readonly string[],
  without: readonly string[],
  leaders: readonly string[],
): void {
  const unknown = [...without, ...leaders].find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw createUsageError(
      'cluster',
      `is of a deployment without a site ${unknown}. Its sites: ${names.join(', ')}`,
    );
  const lost = leaders.find((leader) => without.includes(leader));
  if (lost !== undefined)
    throw createUsageError('leader', `is ${lost}, which --without takes for lost`);
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
  const { NotReachedError } = await import('../server/node/commands/operator-request.ts');
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

function describe(restored: RestoredLog, without: readonly string[], file: ClusterFile): string {
  const { redLog } = file;
  const isEtcd = redLog.engine === 'etcd';
  const { generation, leader, losing, late, logs } = restored;
  const parts =
    logs === undefined
      ? [
          isEtcd
            ? `The red log goes on from the copy of ${leader}, generation ${generation}.`
            : `${leader} leads the red log now, generation ${generation}.${adviseFields(listMainField(redLog, leader))}`,
          ...describeLoss(restored, 'It'),
        ]
      : describeLogs(restored, file);
  if (losing.length > 0 || logs?.some((log) => log.losing.length > 0) === true)
    parts.push(
      `If one of them comes back, it writes what it has beyond that to dropped-red-records-${generation}.json in its data directory, with the alarm red-records-dropped.`,
    );
  for (const { site, problem } of late)
    parts.push(`${site} has not confirmed it, and follows by itself once it can: ${problem}`);
  if (without.length > 0)
    parts.push(`If ${without.join(', ')} will not come back, run cluster retire.`);
  return parts.join(' ');
}

/** Describes who leads each log, and what each one may lose. */
function describeLogs(restored: RestoredLog, file: ClusterFile): string[] {
  const { redLog, partitions } = file;
  const others = restored.logs ?? [];
  const logs = [{ ...restored, name: MAIN }, ...others];
  const leaders = logs.map(({ name, leader }) => `${leader} leads the red log of ${name}`);
  const losses = logs.flatMap((log) => [
    ...describeLoss(log, `That of ${log.name}`),
    ...describeVoters(log, partitions),
  ]);
  if (redLog.engine === 'etcd') {
    const copies = logs.map(({ name, leader }, index) =>
      index === 0
        ? `The red log of ${name} goes on from the copy of ${leader}`
        : `that of ${name} from the copy of ${leader}`,
    );
    return [`${copies.join(', ')}, generation ${restored.generation}.`, ...losses];
  }
  // After a loss, a site that is no voter may lead. The cluster file takes only voters.
  const inFile = others.filter(
    ({ leader }, index) =>
      partitions[index]?.leader !== leader && partitions[index]?.voters?.includes(leader) !== false,
  );
  const fields = [
    ...listMainField(redLog, restored.leader),
    ...inFile.map(({ name, leader }) => `partitions.${name}.leader "${leader}"`),
  ];
  return [
    `${leaders.join(', ')} now, generation ${restored.generation}.${adviseFields(fields)}`,
    ...losses,
  ];
}

function listMainField(redLog: ClusterFile['redLog'], leader: string): string[] {
  const isChanged = redLog.engine !== 'etcd' && redLog.leader !== leader;
  return isChanged ? [`redLog.leader "${leader}"`] : [];
}

/** Returns what to write into the cluster files, if a leader differs from that of the file. */
function adviseFields(fields: readonly string[]): string {
  return fields.length === 0
    ? ''
    : ` Write ${fields.join(', ')} into the cluster file of each site.`;
}

/** Describes that the cluster file does not name the voters of a log any more. */
function describeVoters(
  { name, isVotedByAll }: Pick<RestoredLog, 'isVotedByAll'> & { readonly name: string },
  partitions: ClusterFile['partitions'],
): string[] {
  if (isVotedByAll !== true) return [];
  const { voters = [] } = partitions.find((partition) => partition.name === name) ?? {};
  return [
    `Its voters ${voters.join(', ')} were all lost, so all open sites are voters of ${name} from now on. The cluster file stays as it is.`,
  ];
}

function describeLoss(
  { length, losing }: Pick<RestoredLog, 'length' | 'losing'>,
  subject: string,
): string[] {
  if (losing.length === 0) return [];
  return [
    `${subject} begins with ${length} records. All that ${losing.join(', ')} confirmed beyond these is lost; how many that are, only they know.`,
  ];
}
