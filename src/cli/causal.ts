/** `correctables causal`: prepares and checks the Redis of a causal store. */
import type { DeploymentReport, SiteReport } from '../bindings/causal-redis/check-deployment.ts';
import { systemClock } from '../correctable/clock.ts';
import type { Command } from './command.ts';
import { integer } from '../correctable/options.ts';
import { createUsageError, readNumber, readText, type RawOptions } from './options.ts';
import { printLines } from './print.ts';
import { printResult } from './print-result.ts';

const ACTIONS: Readonly<
  Record<string, readonly [what: string, run: (options: RawOptions) => Promise<void>]>
> = {
  prepare: ['Write the deployment record of --site, once for each site', prepareSite],
  check: [
    'Check what the Redis of each site keeps, its rights, and how far the sites are apart',
    check,
  ],
};
const ACTION_NAMES = Object.keys(ACTIONS).join(', ');
const MAX_PARTITIONS = 16_384;
const REDIS_HINT = ', as in --redis dublin=10.0.0.1:6379,oregon=10.1.0.1:6379';

export const CAUSAL: Command = {
  name: 'causal',
  summary: `Prepare and check the Redis of a causal store: ${ACTION_NAMES}`,
  argument: { typed: '<action>', names: `action (${ACTION_NAMES})` },
  actions: Object.entries(ACTIONS).map(([name, [what]]) => [name, what] as const),
  flags: [
    { typed: '--name <name>', text: 'The name of the deployment' },
    {
      typed: '--redis <pairs>',
      text: 'A node of the Redis of each site, as dublin=10.0.0.1:6379,oregon=10.1.0.1:6379',
    },
    { typed: '--site <name>', text: 'prepare: the site whose Redis gets the record' },
    {
      typed: '--partitions <n>',
      text: 'prepare: into how many parts keys are divided (default: 256, or as at the other sites)',
    },
    { typed: '--user <name>', text: 'Sign in to Redis as this user (default: the default user)' },
    { typed: '--password-file <path>', text: 'The file with the password of Redis' },
    { typed: '--tls', text: 'Connect to Redis by TLS' },
    { typed: '--json', text: 'Print the result as one JSON line' },
  ],
  example:
    'correctables causal prepare --name shop --site dublin --redis dublin=10.0.0.1:6379,oregon=10.1.0.1:6379',
  run: runAction,
};

async function runAction(options: RawOptions, action: string | undefined): Promise<void> {
  const [, run] = (action !== undefined && Object.hasOwn(ACTIONS, action) && ACTIONS[action]) || [];
  if (run === undefined)
    throw createUsageError('<action>', `must be one of ${ACTION_NAMES}, got "${action ?? ''}"`);
  await run(options);
}

async function prepareSite(options: RawOptions): Promise<void> {
  const sites = await readSites(options);
  const names = Object.keys(sites).join(', ');
  const site = readText(options, 'site', `: one of ${names}`);
  if (!Object.hasOwn(sites, site))
    throw createUsageError('site', `must be one of ${names}, got "${site}"`);
  const partitions =
    options['partitions'] === undefined
      ? undefined
      : readNumber(options, 'partitions', integer({ max: MAX_PARTITIONS }));
  const { createCausalDeployment } = await import('../bindings/causal-redis/create-deployment.ts');
  const name = readText(options, 'name');
  const made = await createCausalDeployment({ name, site, sites, partitions });
  const facts = `the deployment "${name}" with ${made.partitions} partitions at ${made.sites.join(', ')}`;
  const text = made.isCreated
    ? `Prepared ${site} for ${facts}.`
    : `${site} was prepared before, so nothing was changed: ${facts}.`;
  const restored =
    made.restoredPartitions === 0
      ? ''
      : ` ${made.restoredPartitions} partitions have lost their data, and are copied from the other sites when a process starts.`;
  await printResult(options, made, `${text}${restored} Next: correctables causal check.`);
}

async function check(options: RawOptions): Promise<void> {
  const sites = await readSites(options);
  const [{ checkDeployment }, { openRedisStores }, { limitReplies }, { resolveDeploymentOptions }] =
    await Promise.all([
      import('../bindings/causal-redis/check-deployment.ts'),
      import('../bindings/causal-redis/redis-stores.ts'),
      import('../bindings/causal-redis/reply-limits.ts'),
      import('../bindings/causal-redis/options.ts'),
    ]);
  const [site] = Object.keys(sites) as [string];
  const resolved = resolveDeploymentOptions({ name: readText(options, 'name'), site, sites });
  const stores = limitReplies(await openRedisStores(resolved), systemClock);
  const report = await checkDeployment(resolved, stores);
  stores.close();
  if (!report.isSound) process.exitCode = 1;
  await printLines(options['json'] === true ? [JSON.stringify(report)] : formatReport(report));
}

interface SiteNodes {
  readonly nodes: readonly string[];
  readonly redisOptions: object;
}

async function readSites(options: RawOptions): Promise<Readonly<Record<string, SiteNodes>>> {
  const redisOptions = await readRedisOptions(options);
  const pairs = readText(options, 'redis', REDIS_HINT).split(',');
  const sites: Record<string, SiteNodes> = {};
  for (const pair of pairs) {
    const [, site, node] = /^\s*([^=\s]+)=(\S+)\s*$/.exec(pair) ?? [];
    if (site === undefined || node === undefined)
      throw createUsageError('redis', `takes pairs${REDIS_HINT}; got "${pair}"`);
    if (Object.hasOwn(sites, site)) throw createUsageError('redis', `names ${site} twice`);
    sites[site] = { nodes: [node], redisOptions };
  }
  return sites;
}

async function readRedisOptions(options: RawOptions): Promise<object> {
  const { user, passwordFile, tls } = options;
  return {
    ...(user === undefined ? {} : { username: readText(options, 'user') }),
    ...(passwordFile === undefined ? {} : { password: await readPassword(options) }),
    ...(tls === true ? { tls: {} } : {}),
  };
}

async function readPassword(options: RawOptions): Promise<string> {
  const path = readText(options, 'passwordFile');
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw createUsageError('passwordFile', `names a file that cannot be read (${error.message})`);
  });
  return text.trim();
}

function formatReport({ name, sites, isSound }: DeploymentReport): readonly string[] {
  const problems = sites.flatMap((site) => site.problems).length;
  const end = problems === 0 ? 'No problem was found.' : '';
  return [
    ...sites.flatMap(formatSite),
    isSound
      ? `The deployment "${name}" can be used. ${end}`.trim()
      : `The deployment "${name}" cannot be used yet.`,
  ];
}

function formatSite({ site, record, servers, lagMs, problems }: SiteReport): readonly string[] {
  const software = new Set(servers.map((server) => `${server.software} ${server.version}`));
  const facts = [
    ...software,
    ...(servers.length === 0 ? [] : [`${servers.length} master${servers.length === 1 ? '' : 's'}`]),
    ...(record === undefined ? [] : [`${record.partitions} partitions`]),
    ...Object.entries(lagMs).map(([other, lag]) => `${lag} ms behind ${other}`),
  ];
  return [
    `${site}: ${facts.join(', ') || 'not reached'}`,
    ...problems.map(({ isError, message }) => `  ${isError ? 'ERROR' : 'warning'}: ${message}`),
  ];
}
