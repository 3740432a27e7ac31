/** `correctables serve`: loads a service and serves it until interrupted. */
import fs from 'node:fs';
import { extname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { serve, ServeOptions } from '../server/serve.ts';
import type { serveCluster, ServeClusterOptions } from '../server/serve-cluster.ts';
import type { SiteLatency } from '../server/node/site-latency.ts';
import type { Arbitraries } from '../server/check/values/argument-generator.ts';
import { SITE_OPTIONS } from '../server/node/site-options.ts';
import { LISTEN_OPTIONS } from '../server/gateway/listen/listen-options.ts';
import { isInDevelopment } from '../server/node/is-in-development.ts';
import { loadAuth } from './authentication/auth-flags.ts';
import type { Command } from './command.ts';
import { createJsonLogger, LOG_LEVELS } from './json-logger.ts';
import { parseLimits } from './flags/limits.ts';
import { parseCache } from './flags/memory.ts';
import { DEFAULT_DATA_DIR, DEFAULT_PORT, DEFAULT_SITES, SERVE_FLAGS } from './flags/serve.ts';
import { throwListenError } from './listen-errors.ts';
import { parseOperatorToken } from './authentication/operator-token-file.ts';
import { loadModule, findService } from './load-module.ts';
import {
  readNames,
  readOrigins,
  readText,
  createUsageError,
  readNumber,
  type RawOptions,
} from './options.ts';
import { printError, printLines, redirectModuleOutput } from './print.ts';
import type { ServedSites } from './server-info.ts';
import { closeModules, forwardSignals, waitForEndSignal } from './worker-thread.ts';
import { isLoopbackHost } from '../server/gateway/context/origins.ts';
import { createStartPage } from './start-page.ts';

/** A service of this package, so that the error about a missing service shows a line that works. */
const EXAMPLE = relative(
  process.cwd(),
  fileURLToPath(new URL(`key-value${extname(import.meta.url)}`, import.meta.url)),
);
const SERVICE_HINT = `: name a module that exports a service. For a try: correctables serve --service "${EXAMPLE}" --ephemeral`;
const STDERR = 2;
/**
 * The exit code if the data directory must not be used any more: its site was retired, or continues
 * on another directory. A restart does not help.
 */
export const EXIT_CLOSED_DIRECTORY = 3;

export const SERVE: Command = {
  name: 'serve',
  summary:
    'Serve a service over websockets: from several sites in this process, or as one site of a cluster',
  flags: SERVE_FLAGS,
  example:
    'correctables serve --service shop.js --sites ireland,frankfurt,virginia --red-leader ireland --latency eu-us',
  runsInWorkerThread: true,
  run: serveUntilEndSignal,
};

/** Serves until SIGINT or SIGTERM. Then waits for operations in flight, and ends. */
async function serveUntilEndSignal(options: RawOptions): Promise<void> {
  const level = LOG_LEVELS.find((name) => name === options['logLevel']);
  if (level === undefined)
    throw createUsageError('log-level', `takes one of ${LOG_LEVELS.join(', ')}`);
  const place = options['cluster'] === undefined ? parseSites(options) : parseNode(options);
  const origins = readOrigins(options, 'origins');
  const path = readText(options, 'service', SERVICE_HINT);
  const flags = { ...parseSiteFlags(options), origins };
  const asJson = options['json'] === true;
  const giveBack = asJson ? redirectModuleOutput() : () => {};
  forwardSignals();
  const auth = await loadAuth(options);
  const module = await loadModule('service', path);
  const service = findService(module, 'service', path);
  const limits = parseLimits(options, auth.limits);
  const { checkColorsAtStartup, getServerInfo, formatServerInfo, ...servers } =
    await loadServerModules();
  const logger = createJsonLogger(level, createLineWriter(STDERR));
  const warn = (message: string): void => logger.warn({}, message);
  const starting = {
    service,
    arbitraries: module['arbitraries'] as Arbitraries | undefined,
    messages: { source: '--service', skipFlag: '--skip-color-check serves it all the same' },
  };
  const looks = options['skipColorCheck'] !== true && isInDevelopment();
  if (looks) checkColorsAtStartup(starting, warn);
  let endRetired = (_signal: 'SIGTERM'): void => {};
  const retired = new Promise<'SIGTERM'>((resolve) => (endRetired = resolve));
  const onAlarm: ServeOptions['onAlarm'] = ({ kind, message }) => {
    logger.warn({ alarm: kind }, message);
    if (kind !== 'site-retired') return;
    process.exitCode = EXIT_CLOSED_DIRECTORY;
    endRetired('SIGTERM');
  };
  // The service was checked first, because the error about its module is more helpful than one
  // about sites.
  const shownSites = 'cluster' in place ? [place.site] : place.sites;
  const page = isLocal(place, flags.host) ? createStartPage(service, shownSites) : undefined;
  const common = { ...flags, ...auth, limits, onAlarm, service, checkColors: false, logger, page };
  const server = await startServer(servers, place, common);
  // Listen for the end signal before the lines are printed: a program that reads them may stop the
  // server at once.
  const interrupted = waitForEndSignal(retired);
  const exposure = getServerInfo(server, {
    origins,
    dataDir: place.dataDir,
    requiresToken: auth.authenticate !== undefined,
  });
  const printed = printLines(asJson ? [JSON.stringify(exposure)] : formatServerInfo(exposure));
  giveBack();
  // Keep serving if the lines cannot be printed. The server must still handle the end signal.
  await printed.catch((error: Error) => printError(error.message));
  const signal = await interrupted;
  await server.close();
  if (process.exitCode === EXIT_CLOSED_DIRECTORY) printError(formatRetirement(place));
  closeModules(signal);
}

/** Reads the flags that are options of `serve` as they are. */
function parseSiteFlags(options: RawOptions) {
  return {
    ...parseCheckInvariants(options),
    operatorToken: parseOperatorToken(options),
    maxAttempts: readNumber(options, 'maxAttempts', SITE_OPTIONS.maxAttempts.check),
    cacheBytes: parseCache(options),
    host: options['host'] === undefined ? undefined : readText(options, 'host'),
    port:
      options['port'] === undefined
        ? undefined
        : readNumber(options, 'port', LISTEN_OPTIONS.port.check),
    allowUnauthenticated: options['allowUnauthenticated'] === true,
  };
}

function formatRetirement({ dataDir, ...place }: SitesInProcess | NodeOfCluster): string {
  const site = 'site' in place ? place.site : '';
  const advice = `Do not start it on ${dataDir} again. To add the site again, start it on an empty directory with --join`;
  return `${site} is no site of the deployment any more, so its process has ended. ${advice}.`;
}

/**
 * Returns whether only this machine can reach the server. The address of a cluster's site is in its
 * file, unless a flag sets it.
 */
function isLocal(place: SitesInProcess | NodeOfCluster, host: string | undefined): boolean {
  return isLoopbackHost(host ?? ('cluster' in place ? '' : LISTEN_OPTIONS.host.defaultValue));
}

/**
 * Loads the modules of the server. They are loaded only after flags and modules were checked, and
 * never in the main thread that starts this thread.
 */
async function loadServerModules() {
  const [
    { serve },
    { serveCluster },
    { checkColorsAtStartup },
    { getServerInfo, formatServerInfo },
  ] = await Promise.all([
    import('../server/serve.ts'),
    import('../server/serve-cluster.ts'),
    import('../server/node/startup-color-check.ts'),
    import('./server-info.ts'),
  ]);
  return { serve, serveCluster, checkColorsAtStartup, getServerInfo, formatServerInfo };
}

/** The two ways to start: sites in this process, or one site of a cluster. */
interface Starters {
  readonly serve: typeof serve;
  readonly serveCluster: typeof serveCluster;
}

type SitesInProcess = Pick<ServeOptions, 'sites' | 'redLeader' | 'latency' | 'dataDir'>;
type NodeOfCluster = Pick<ServeClusterOptions, 'cluster' | 'site' | 'rebuild' | 'dataDir'>;

function parseSites(options: RawOptions): SitesInProcess {
  for (const flag of ['site', 'rebuild', 'join'])
    if (options[flag] !== undefined)
      throw createUsageError(flag, 'is about one site of a cluster: give --cluster too');
  const sites = readNames({ sites: DEFAULT_SITES, ...options }, 'sites');
  const redLeader = options['redLeader'] === undefined ? sites[0] : readText(options, 'redLeader');
  if (!sites.includes(redLeader))
    throw createUsageError('red-leader', `takes one of ${sites.join(', ')}, not "${redLeader}"`);
  const latency =
    options['latency'] === undefined ? 'none' : parseLatency(readText(options, 'latency'), sites);
  return { sites, redLeader, latency, dataDir: resolveDataDir(options) };
}

const NOT_IN_CLUSTER: Readonly<Record<string, string>> = {
  sites: 'runs several sites in this process, and --cluster runs one: give --site',
  redLeader: 'contradicts --cluster: the leader is redLog.leader in the cluster file',
  latency: 'delays messages within this process: it has no meaning with --cluster',
  ephemeral: 'keeps nothing, and a site of a cluster must keep its data: give --data',
};

/**
 * @throws CorrectableError `UNAVAILABLE` if the site of this directory was closed: its service may
 *   still have --join
 */
export function checkJoiningDirectory(dataDir: string): void {
  let closed: unknown;
  try {
    closed = (
      JSON.parse(fs.readFileSync(resolve(dataDir, 'node.json'), 'utf8')) as {
        readonly forked?: unknown;
      }
    ).forked;
  } catch {
    // There is no such file, or it is damaged, which the start reports.
  }
  if (closed === undefined) return;
  const message = `--join: ${dataDir} cannot be used: ${String(closed)}. Nothing was changed. Join on an empty directory.`;
  throw new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'rebuild' });
}

function parseNode(options: RawOptions): NodeOfCluster {
  for (const [flag, problem] of Object.entries(NOT_IN_CLUSTER))
    if (options[flag] !== undefined && options[flag] !== false)
      throw createUsageError(flag, problem);
  if (options['join'] === true) checkJoiningDirectory(resolveDataDir(options) as string);
  return {
    cluster: readText(options, 'cluster'),
    site: readText(options, 'site'),
    rebuild: options['rebuild'] === true || options['join'] === true,
    dataDir: resolveDataDir(options) as string,
  };
}

type StartedServer = ServedSites & { close(): Promise<void> };

type CommonOptions = Omit<ServeOptions, keyof SitesInProcess>;

/** Starts the server. Errors about the port, sites and address name the flags. */
async function startServer(
  { serve, serveCluster }: Starters,
  place: SitesInProcess | NodeOfCluster,
  common: CommonOptions,
): Promise<StartedServer> {
  const { host = LISTEN_OPTIONS.host.defaultValue, port = DEFAULT_PORT } = common;
  try {
    if ('cluster' in place) {
      const node = await serveCluster({ ...common, ...place });
      const { site, siteUrl, url, redLeader } = node;
      return { url, redLeader, sites: { [site]: siteUrl }, close: () => node.close() };
    }
    const server = await serve({ ...common, ...place, host, port });
    const sites = Object.fromEntries(server.sites.map((site) => [site, server.siteUrl(site)]));
    return {
      url: server.url,
      redLeader: place.redLeader as string,
      sites,
      close: () => server.close(),
    };
  } catch (error) {
    throwListenError(error, { host, port });
    if (!isCorrectableError(error, 'INVALID_ARGUMENT')) throw error;
    if (error.field === 'site')
      throw createUsageError('site', error.message.replace(/^site: /, ''));
    if (!('cluster' in place) && error.field?.startsWith('latency.') === true)
      throw createUsageError('latency', describeLatencyError(place, error));
    if (error.field !== 'host') throw error;
    const problem = `is ${common.host ?? host}, which is reachable by others, and everybody would be let in`;
    throw createUsageError(
      'host',
      `${problem}: name an address of this machine alone, say who may connect (--auth, --auth-keys), or add --allow-unauthenticated`,
    );
  }
}

/**
 * Describes the error in the round trip of a pair of sites. The field of the error names the pair.
 */
function describeLatencyError(
  { latency }: SitesInProcess,
  { field = '', message }: CorrectableError,
): string {
  const pair = field.slice('latency.'.length);
  const isGiven = typeof latency === 'object' && Object.hasOwn(latency, pair);
  if (isGiven) return `gives ${pair}, which ${message.slice(`${field}: `.length)}`;
  return `${latency === 'eu-us' ? 'eu-us is for the sites ireland, frankfurt, virginia, and ' : ''}has no round trip for ${pair}`;
}

function resolveDataDir(options: RawOptions): string | undefined {
  if (options['ephemeral'] !== true)
    return resolve(options['data'] === undefined ? DEFAULT_DATA_DIR : readText(options, 'data'));
  if (options['data'] === undefined) return undefined;
  throw createUsageError(
    'ephemeral',
    'keeps nothing, and --data names a directory to keep it in: give one of them',
  );
}

function parseCheckInvariants({ checkInvariants: value }: RawOptions): {
  readonly checkInvariants?: boolean;
} {
  if (value === undefined) return {};
  if (value === 'on' || value === 'off') return { checkInvariants: value === 'on' };
  throw createUsageError('check-invariants', `takes on or off, not "${String(value)}"`);
}

function parseLatency(value: string, sites: readonly string[]): SiteLatency {
  if (value === 'none' || value === 'eu-us') return value;
  const roundTripsMs: Record<string, number> = {};
  for (const pair of value.split(',')) {
    const match = /^([a-z][a-z0-9-]*-[a-z][a-z0-9-]*)=(\d+(?:\.\d+)?)$/.exec(pair.trim());
    if (match === null)
      throw createUsageError(
        'latency',
        `takes none, eu-us, or round trips in ms as ireland-frankfurt=20, not "${pair}"`,
      );
    const name = match[1] as string;
    if (Object.hasOwn(roundTripsMs, name)) throw createUsageError('latency', `names ${name} twice`);
    // A pair of unknown sites on the command line is a typing error. The API accepts it, because a
    // table in a program may list more sites.
    const isPair = sites.some((item) =>
      sites.some((other) => item !== other && name === `${item}-${other}`),
    );
    if (!isPair)
      throw createUsageError(
        'latency',
        `gives ${name}, which is no pair of the sites ${sites.join(', ')}`,
      );
    roundTripsMs[name] = Number(match[2]);
  }
  return roundTripsMs;
}

/**
 * Writes lines to an open file. Drops those that cannot be written: the log may be on the full disk
 * that it reports.
 */
export function createLineWriter(descriptor: number): { write(line: string): void } {
  let isTorn = false;
  return {
    write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      let written = 0;
      try {
        while (written < bytes.length) written += fs.writeSync(descriptor, bytes, written);
        isTorn = false;
      } catch {
        // The next entry of the log starts on its own line.
        isTorn ||= written > 0;
      }
    },
  };
}
