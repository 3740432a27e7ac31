/**
 * `correctables cluster`: creates a deployment of several processes, and shows the state of its
 * sites.
 */
import type { ActivateReply } from '../server/node/cluster/activate.ts';
import type { ChangeReply } from '../server/node/cluster/become-member.ts';
import type { NodeStatus } from '../server/node/cluster/node-status.ts';
import type { ClusterFile } from '../server/node/cluster/cluster-file.ts';
import type { Command } from './command.ts';
import { findDeployedSites, type DeployedSites, type SiteReport } from './deployed-sites.ts';
import { createUsageError, readText, type RawOptions } from './options.ts';
import { printResult } from './print-result.ts';
import { printLines } from './print.ts';
import { restoreRed } from './restore-red.ts';

type Action = readonly [
  what: string,
  run: (file: ClusterFile, options: RawOptions) => Promise<void>,
];

const ACTIONS: Readonly<Record<string, Action>> = {
  init: ['Create the key file that the cluster file names, once', createDeployment],
  status: ['Print where each site stands, and the alarms of the last hour', showStatus],
  retire: [
    'Take the site of --site out of the deployment. What only that site had is lost',
    retireSite,
  ],
  'restore-red': [
    'Let another site lead the red log, if its leader is lost: see --without and --leader',
    restoreRed,
  ],
  activate: ['Bring the version that all sites run into force, after an upgrade', activateVersion],
};
const CLUSTER_HINT =
  ': name the cluster file, which lists the sites of the deployment, as in --cluster cluster.json. docs/operate/deploy-on-three-machines.md shows one';
const ACTION_NAMES = Object.keys(ACTIONS).join(', ');

export const CLUSTER: Command = {
  name: 'cluster',
  summary: `Manage a deployment whose sites are processes: ${ACTION_NAMES}`,
  argument: { typed: '<action>', names: `action (${ACTION_NAMES})` },
  actions: Object.entries(ACTIONS).map(([name, [what]]) => [name, what] as const),
  flags: [
    { typed: '--cluster <file>', text: 'Use this cluster.json, the same file as at the sites' },
    { typed: '--site <name>', text: 'Retire this site: it is lost or switched off for good' },
    {
      typed: '--leader <site>',
      text: 'Restore the red log at this site (default: the one that has most of it). us=ohio is of the partition us',
    },
    {
      typed: '--without <sites>',
      text: 'Restore the red log without these sites, which are lost; separated by commas',
    },
    {
      typed: '--accept-loss [logs]',
      text: 'Restore the red log although red writes that the lost sites confirmed may be lost. With names: those of these partitions',
    },
    { typed: '--json', text: 'Print the result as one JSON line' },
  ],
  example: 'correctables cluster init --cluster cluster.json',
  run: runAction,
};

async function runAction(options: RawOptions, action: string | undefined): Promise<void> {
  const [, run] = (action !== undefined && Object.hasOwn(ACTIONS, action) && ACTIONS[action]) || [];
  if (run === undefined)
    throw createUsageError('<action>', `must be one of ${ACTION_NAMES}, got "${action ?? ''}"`);
  const path = readText(options, 'cluster', CLUSTER_HINT);
  const { readClusterFile } = await import('../server/node/cluster/cluster-file.ts');
  await run(readClusterFile(path), options);
}

async function createDeployment(
  { path, sites, keyFile }: ClusterFile,
  options: RawOptions,
): Promise<void> {
  const { createKeyFile, readKeyFile } = await import('../server/node/cluster/key-file.ts');
  const created = createKeyFile(keyFile);
  const { deployment } = created ?? readKeyFile(keyFile);
  if (options['json'] === true)
    return printLines([JSON.stringify({ deployment, keyFile, isCreated: created !== undefined })]);
  const [site] = sites.keys();
  await printLines([
    created === undefined
      ? `${keyFile} exists, so nothing was changed. It is the key of the deployment ${deployment}.`
      : `Created the deployment ${deployment} with the key file ${keyFile}.`,
    `Copy ${path} and ${keyFile} to the machine of each site, and keep the key file secret.`,
    `Then start each site, for example: correctables serve --service shop.js --cluster cluster.json --site ${site} --data DIR`,
  ]);
}

async function showStatus(file: ClusterFile, options: RawOptions): Promise<void> {
  const deployed = await findDeployedSites(file);
  const { reports, retired } = deployed;
  if (reports.some(({ site, status }) => !retired.includes(site) && status?.state !== 'serving'))
    process.exitCode = 1;
  const lines =
    options['json'] === true ? [JSON.stringify({ sites: reports })] : await formatReports(deployed);
  await printLines(lines);
}

async function retireSite(file: ClusterFile, options: RawOptions): Promise<void> {
  const name = readText(options, 'site');
  const [deployed, { CHANGE }] = await Promise.all([
    findDeployedSites(file),
    import('../server/node/cluster/become-member.ts'),
  ]);
  const { members, retired, reports } = deployed;
  if (retired.includes(name))
    return printResult(
      options,
      { retired: name },
      `${name} was retired before. Nothing was changed.`,
    );
  if (!members.includes(name))
    throw createUsageError('site', `must be one of ${members.join(', ')}, got "${name}"`);
  const led = listRedLogs(reports).find(({ leader }) => leader === name);
  if (led !== undefined) {
    const command = `correctables cluster restore-red --cluster ${file.path} --without ${name}`;
    throw new Error(
      `--site ${name}: this site leads ${led.text}. First stop it, and run: ${command}`,
    );
  }
  const { problem, isUnknown } = await requestFirst<ChangeReply>('retire', deployed, {
    kind: CHANGE,
    body: { name, directory: null },
    without: name,
  });
  if (isUnknown === true) throw unknownOutcomeError('retire', problem);
  if (problem !== undefined)
    throw new Error(`--site ${name}: the site was not retired: ${problem}.`);
  const text = `Retired ${name}. Remove it from the cluster file of each site. Its clients use other sites.`;
  await printResult(options, { retired: name }, text);
}

async function activateVersion(file: ClusterFile, options: RawOptions): Promise<void> {
  const [deployed, { ACTIVATE, formatVersion }] = await Promise.all([
    findDeployedSites(file),
    import('../server/node/cluster/activate.ts'),
  ]);
  const reply = await requestFirst<ActivateReply>('activate', deployed, {
    kind: ACTIVATE,
    body: null,
  });
  const { version, isNew, problem, isUnknown } = reply;
  if (isUnknown === true) throw unknownOutcomeError('activate', problem);
  if (version === undefined)
    throw new Error(`cluster activate: nothing was activated: ${problem}.`);
  const name = formatVersion(version);
  const text =
    isNew === true ? `In force at all sites from now on: ${name}.` : `Already in force: ${name}.`;
  await printResult(options, { version, isNew }, text);
}

/**
 * Sends a request to the sites, one after the other, until one of them accepts it. If a site has
 * accepted the request and does not reply, it may still execute it, so no other site is asked.
 */
async function requestFirst<R>(
  action: string,
  { request, members }: DeployedSites,
  {
    kind,
    body,
    without,
  }: { readonly kind: string; readonly body: unknown; readonly without?: string },
): Promise<R> {
  const [{ CHANGE_TIMEOUT_MS }, { NoReplyError }] = await Promise.all([
    import('../server/node/cluster/become-member.ts'),
    import('../server/node/commands/operator-request.ts'),
  ]);
  const problems: string[] = [];
  for (const site of members.filter((item) => item !== without)) {
    try {
      return (await request(site, kind, body, CHANGE_TIMEOUT_MS)) as R;
    } catch (error) {
      const problem = `${site}: ${(error as Error).message}`;
      if (error instanceof NoReplyError) throw unknownOutcomeError(action, problem);
      problems.push(problem);
    }
  }
  throw new Error(
    `cluster ${action}: no site took it. Nothing was changed. ${problems.join('. ')}`,
  );
}

function unknownOutcomeError(action: string, problem: string | undefined): Error {
  return new Error(
    `cluster ${action}: the outcome is not known: ${problem}. It may still be carried out once the red log goes on. ` +
      'Look with cluster status. To repeat the command does no harm.',
  );
}

interface LedLog {
  readonly leader: string | null;
  /** What the log is called in a sentence. */
  readonly text: string;
}

/**
 * Returns the report of the newest generation of the red log. A site that was disconnected may
 * report an earlier generation.
 */
function findNewest(reports: readonly SiteReport[]): NodeStatus | undefined {
  const known = reports.flatMap(({ status }) => status ?? []);
  return known.toSorted((a, b) => b.redGeneration - a.redGeneration)[0];
}

/** Returns the red logs of the deployment, that of `main` first. */
function listRedLogs(reports: readonly SiteReport[]): readonly LedLog[] {
  const newest = findNewest(reports);
  if (newest === undefined) return [];
  const { redLeader, redLogs } = newest;
  return (
    redLogs?.map(({ name, leader }) => ({ leader, text: `the red log of ${name}` })) ?? [
      { leader: redLeader, text: 'the red log' },
    ]
  );
}

/** Formats who leads each red log, if there are several. */
function formatRedLogs(reports: readonly SiteReport[]): readonly string[] {
  const { redLogs = [], redGeneration = 0 } = findNewest(reports) ?? {};
  return redLogs.map(({ name, leader }) => {
    const state = leader === null ? 'sealed' : `led by ${leader}`;
    return `red log of ${name}: ${state}, generation ${redGeneration}`;
  });
}

/**
 * Formats the logs of which sites of one generation know different leaders. Such a site orders
 * records for itself, so red operations wait at it.
 */
function formatDisagreements(reports: readonly SiteReport[]): readonly string[] {
  const generation = findNewest(reports)?.redGeneration;
  const known = reports.filter(({ status }) => status?.redGeneration === generation);
  return listRedLogs(reports).flatMap(({ text }, index) => {
    const sitesByLeader = new Map<string, string[]>();
    for (const { site, status } of known) {
      const leader = (status?.redLogs?.[index] ?? { leader: status?.redLeader }).leader;
      if (leader) sitesByLeader.set(leader, [...(sitesByLeader.get(leader) ?? []), site]);
    }
    if (sitesByLeader.size < 2) return [];
    const views = [...sitesByLeader].map(([leader, sites]) => `${leader} at ${sites.join(', ')}`);
    return [
      `The sites differ in who leads ${text}: ${views.join('; ')}. Start all sites with the same cluster.json.`,
    ];
  });
}

async function formatReports(deployed: DeployedSites): Promise<string[]> {
  const { isSameName } = await import('../server/node/cluster/activate.ts');
  const { reports } = deployed;
  const redLeader = findNewest(reports)?.redLeader ?? '';
  const rows = reports.map((report) => formatRow(report, redLeader, deployed));
  const table = [['site', 'state', 'red', 'lag', 'kept', 'links down'], ...rows];
  const pad = (text: string, at: number): string =>
    text.padEnd(Math.max(...table.map((row) => row[at]!.length)));
  const lines = table.map((row) => row.map(pad).join('  ').trimEnd());
  lines.push(...formatRedLogs(reports), ...formatDisagreements(reports));
  const isActive = reports.every(
    ({ status }) => status === null || isSameName(status.version, status.version.inForce),
  );
  if (!isActive)
    lines.push(
      'Some sites run a newer version than the one in force. Once all do, run cluster activate.',
    );
  const alarms = reports.flatMap(({ site, status }) =>
    (status?.alarms ?? []).map((alarm) => ({ ...alarm, site })),
  );
  for (const { atMs, site, kind, message } of alarms.toSorted((a, b) => a.atMs - b.atMs))
    lines.push(`${new Date(atMs).toISOString()}  ${site}  ${kind}: ${message}`);
  for (const { site, status } of reports) {
    if (status?.problem !== undefined) lines.push(`${site}: ${status.problem}`);
    const waiting = status?.redLogs?.map(({ problem }) => problem) ?? [status?.redProblem];
    for (const problem of waiting)
      if (problem !== undefined)
        lines.push(`${site}: red writes and strong reads wait for ${problem}`);
    if (status?.redLog.engine === 'etcd') lines.push(`${site}: ${formatEtcd(status.redLog)}`);
  }
  return lines;
}

function formatRow(
  { site, status, error }: SiteReport,
  redLeader: string,
  { reports, members, retired }: DeployedSites,
): string[] {
  const name = site === redLeader ? `${site} (red leader)` : site;
  if (retired.includes(site)) return [name, 'retired', '', '', '', ''];
  if (status === null) return [name, 'unreachable', '', '', '', error ?? ''];
  const { progress, links } = status;
  const down = links
    .filter(({ peer, isConnected }) => !isConnected && members.includes(peer))
    .map(({ peer }) => peer);
  if (progress === undefined)
    return [name, formatState(status), '', '', '', down.join(' ') || 'none'];
  return [
    name,
    status.state,
    formatRed(status),
    formatLag(status, reports),
    String(progress.backlog),
    down.join(' ') || 'none',
  ];
}

/** Formats how many records of each red log were delivered. */
function formatRed({ progress, redLogs = [] }: NodeStatus): string {
  const counts = progress?.reds;
  if (counts === undefined) return String(progress?.red);
  return redLogs.map(({ name }, index) => `${name} ${counts[index]}`).join(', ');
}

/** Formats whether the node of a site reaches etcd, and how much space etcd has left. */
function formatEtcd({
  endpoint,
  isConnected,
  problem,
  usedBytes,
  quotaBytes,
}: NodeStatus['redLog']): string {
  if (isConnected !== true)
    return `etcd cannot be reached${problem === undefined ? '' : `: ${problem}`}`;
  if (usedBytes === undefined || quotaBytes === undefined) return `etcd at ${endpoint}`;
  return `etcd at ${endpoint} uses ${Math.ceil(usedBytes / 1e6)} of ${Math.floor(quotaBytes / 1e6)} MB`;
}

/**
 * Formats the state of a site. During a transfer of state from another site, the text contains its
 * progress.
 */
function formatState({ state, transfer }: NodeStatus): string {
  if (transfer === undefined) return state;
  const { donor, bytes, expectedBytes } = transfer;
  const total = expectedBytes === undefined ? '' : ` of about ${(expectedBytes / 1e6).toFixed(1)}`;
  return `${state}: ${(bytes / 1e6).toFixed(1)}${total} MB from ${donor}`;
}

/**
 * Formats how many operations of each other site this site lacks. Sites that have not replied are
 * left out.
 */
function formatLag(
  { site, members, progress }: NodeStatus,
  reports: readonly SiteReport[],
): string {
  const lags = new Map<string, number>();
  for (const { site: name, origin, state } of members) {
    const own = reports.find((report) => report.site === name)?.status?.progress?.streams[origin];
    if (name === site || own === undefined || state === 'closed') continue;
    // Add the lags of equal names: a site that is being rebuilt has two origins.
    lags.set(name, (lags.get(name) ?? 0) + Math.max(0, own - (progress?.streams[origin] ?? 0)));
  }
  return [...lags].flat().join(' ') || '-';
}
