/** `cluster.json`: the sites of a deployment and their addresses, the same file at every node. */
import { dirname, resolve } from 'node:path';
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import { isNonEmptyString, isRecord } from '../../../correctable/validate.ts';
import type { Origins, SiteAddress } from '../../service/records/origin.ts';
import {
  partitionsByName,
  resolvePartitions,
  type PartitionsOption,
} from '../../service/partition-options.ts';
import { checkPartitionNames, type PartitionLayout } from '../../service/partitions.ts';
import {
  checkField,
  checkFields,
  clusterFileError,
  invalidFieldError,
  show,
  withFileErrors,
} from './cluster-file-errors.ts';
import { parseRedLog, type EtcdRedLog, type RedLogSettings } from '../red-log/red-log-settings.ts';
import { readTextFile } from './text-file.ts';

/** The address at which a node listens for the other sites. */
export interface ClusterAddress {
  readonly host: string;
  readonly port: number;
}

export interface ClusterSite {
  /** The address for clients, without the site's path: `wss://10.0.1.1:7420`. */
  readonly url: string;
  readonly cluster: ClusterAddress;
}

export interface ClusterPartition extends PartitionLayout {
  /** The etcd that keeps its red log. Default: that of `main` */
  readonly redLog?: EtcdRedLog;
}

export interface ClusterFile {
  readonly path: string;
  /**
   * In the order of the file, which is the order of their origins when the deployment is created.
   */
  readonly sites: ReadonlyMap<string, ClusterSite>;
  readonly redLog: RedLogSettings;
  /** The partitions beside `main`, in the order of their ordinals. */
  readonly partitions: readonly ClusterPartition[];
  /** The absolute path of the key file. */
  readonly keyFile: string;
  /** How long logs are kept for a disconnected site, in milliseconds. */
  readonly keepForMs: number;
}

/** A number as a name would change the order of the sites, since JavaScript sorts such keys. */
const SITE_NAME = /^[A-Za-z][\w-]{0,63}$/;
/** Paths of a gateway that cannot be names of sites. */
const RESERVED_NAMES: readonly string[] = ['health', 'ready', 'sites', 'metrics'];
const DEFAULT_KEEP_FOR_MS = 86_400_000;
const FILE_FIELDS = ['sites', 'redLog', 'partitions', 'keyFile', 'keepForMs'] as const;
const SITE_FIELDS = ['url', 'cluster'] as const;
const MAX_PORT = 65_535;

/**
 * @throws CorrectableError `INVALID_ARGUMENT` that names the field and the value that it must have
 */
export function readClusterFile(path: string): ClusterFile {
  if (!isNonEmptyString(path))
    throw createInvalidArgumentError('cluster', 'must be the path of cluster.json');
  const absolute = resolve(path);
  const value = parseJson(absolute, readText(absolute, path), path);
  return parseClusterFile(value, absolute);
}

/** @throws CorrectableError as `readClusterFile` */
export function parseClusterFile(value: unknown, path: string): ClusterFile {
  checkField(isRecord(value), 'the file', 'must be a JSON object with sites, redLog and keyFile');
  checkFields('the file', value, FILE_FIELDS);
  const { keyFile, keepForMs } = value;
  const sites = parseSites(value['sites']);
  const redLog = parseRedLog(value['redLog'], [...sites.keys()], path);
  const names = [...sites.keys()];
  const partitions =
    redLog.engine === 'built-in'
      ? parsePartitions(value['partitions'], names)
      : parsePartitionsOnEtcd(value['partitions'], names, path);
  withFileErrors(() => checkPartitionNames(partitions.map(({ name }) => name)));
  const keyFileRule = 'must be the path of the key file, for example "cluster.key"';
  checkField(isNonEmptyString(keyFile), 'keyFile', `${keyFileRule}, got ${show(keyFile)}`);
  const isTime =
    keepForMs === undefined || (Number.isSafeInteger(keepForMs) && (keepForMs as number) > 0);
  checkField(
    isTime,
    'keepForMs',
    `must be a positive integer in milliseconds, got ${show(keepForMs)}`,
  );
  const absolute = resolve(dirname(path), keyFile);
  return {
    path,
    sites,
    redLog,
    partitions,
    keyFile: absolute,
    keepForMs: (keepForMs ?? DEFAULT_KEEP_FOR_MS) as number,
  };
}

/**
 * Returns the site that leads the red log of a new deployment. With etcd no site leads, and this is
 * the first site of the file.
 */
export function getFirstLeader({ sites, redLog }: ClusterFile): string {
  return redLog.engine === 'built-in' ? redLog.leader : ([...sites.keys()][0] as string);
}

export function formatAddress({ host, port }: ClusterAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Returns the addresses for clients, by name. They are in the file, or came with the sites that
 * have joined.
 */
export function listClientAddresses(
  names: readonly string[],
  file: ClusterFile,
  origins: Origins,
): Map<string, string> {
  return new Map(
    names.map((name) => [name, file.sites.get(name)?.url ?? findJoined(name, origins)?.url ?? '']),
  );
}

/**
 * Calls `onAddress` with the link address of each site that was ever a member, and whether it still
 * is one.
 */
export function forEachLinkAddress(
  file: ClusterFile,
  origins: Origins,
  onAddress: (name: string, address: ClusterAddress, isMember: boolean) => void,
): void {
  for (const name of new Set(origins.sites.map((origin) => origins.getName(origin)))) {
    const joined = findJoined(name, origins)?.cluster;
    const address =
      file.sites.get(name)?.cluster ??
      (joined === undefined ? undefined : parseAddress(name, joined));
    if (address !== undefined) onAddress(name, address, origins.find(name) !== undefined);
  }
}

/** Returns the address with which a site has joined. */
function findJoined(name: string, origins: Origins): SiteAddress | undefined {
  const origin = origins.sites.findLast((item) => origins.getName(item) === name);
  return origin === undefined ? undefined : origins.get(origin).address;
}

function readText(path: string, typed: string): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const problem = isMissing ? 'there is no such file' : (cause as Error).message;
    throw clusterFileError(
      `${typed} cannot be read: ${problem}. Name the cluster.json of the deployment.`,
      cause,
    );
  }
}

function parseJson(path: string, text: string, typed: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw clusterFileError(
      `${typed} is not JSON: ${(cause as Error).message}. Fix ${path}.`,
      cause,
    );
  }
}

function parseSites(value: unknown): Map<string, ClusterSite> {
  const example = '{ "ireland": { "url": "wss://10.0.1.1:7420", "cluster": "10.0.1.1:7421" } }';
  checkField(
    isRecord(value) && Object.keys(value).length > 0,
    'sites',
    `must name at least one site, as ${example}`,
  );
  const sites = new Map(Object.entries(value).map(([name, site]) => [name, parseSite(name, site)]));
  rejectRepeats(sites, 'url', ({ url }) => url);
  rejectRepeats(sites, 'cluster', ({ cluster }) => formatAddress(cluster));
  return sites;
}

function parsePartitions(value: unknown, sites: readonly string[]): readonly PartitionLayout[] {
  if (value === undefined) return [];
  const example = `{ "leader": "${sites[0]}" }`;
  checkField(
    isRecord(value),
    'partitions',
    `must be an object, as { "us": ${example} }, got ${show(value)}`,
  );
  for (const [name, partition] of Object.entries(value)) {
    const field = `partitions.${name}`;
    checkField(
      isRecord(partition),
      field,
      `must be an object, as ${example}, got ${show(partition)}`,
    );
    checkFields(field, partition, ['leader', 'voters']);
  }
  return withFileErrors(() => {
    partitionsByName(value, 'partitions');
    return resolvePartitions(value as PartitionsOption, sites);
  }).map(({ name, leader, voters }) =>
    voters.length === sites.length ? { name, leader } : { name, leader, voters },
  );
}

/**
 * With etcd, servers order and confirm the records. As for `main`, the first site stands in the
 * place of the leader.
 */
function parsePartitionsOnEtcd(
  value: unknown,
  sites: readonly string[],
  path: string,
): readonly ClusterPartition[] {
  if (value === undefined) return [];
  const example =
    '{ "us": { "redLog": { "engine": "etcd", "endpoints": ["https://10.0.3.9:2379"] } } }';
  checkField(isRecord(value), 'partitions', `must be an object, as ${example}, got ${show(value)}`);
  return Object.keys(value)
    .toSorted()
    .map((name) => {
      const partition = value[name];
      const field = `partitions.${name}`;
      checkField(
        isRecord(partition),
        field,
        `must be an object, as ${example}, got ${show(partition)}`,
      );
      checkFields(field, partition, ['redLog']);
      const layout = { name, leader: sites[0] as string };
      if (partition['redLog'] === undefined) return layout;
      const redLog = parseRedLog(partition['redLog'], sites, path, `${field}.redLog`);
      checkField(
        redLog.engine === 'etcd',
        `${field}.redLog.engine`,
        'must be "etcd", as that of redLog',
      );
      return { ...layout, redLog };
    });
}

function parseSite(name: string, value: unknown): ClusterSite {
  const field = `sites.${name}`;
  const isName = SITE_NAME.test(name) && !RESERVED_NAMES.includes(name);
  const rule = 'must begin with a letter and have at most 64 letters, digits, "-" and "_"';
  checkField(
    isName,
    `sites: the name "${name}"`,
    `${rule}, and must be none of ${RESERVED_NAMES.join(', ')}`,
  );
  checkField(isRecord(value), field, `must be an object with url and cluster, got ${show(value)}`);
  checkFields(field, value, SITE_FIELDS);
  return {
    url: parseUrl(`${field}.url`, value['url']),
    cluster: parseAddress(`${field}.cluster`, value['cluster']),
  };
}

/** Throws if two sites have the same address. */
function rejectRepeats(
  sites: ReadonlyMap<string, ClusterSite>,
  field: string,
  textOf: (site: ClusterSite) => string,
): void {
  const owners = new Map<string, string>();
  for (const [name, site] of sites) {
    const owner = owners.get(textOf(site));
    const problem = `is the same as sites.${owner}.${field}: give each site its own`;
    checkField(owner === undefined, `sites.${name}.${field}`, problem);
    owners.set(textOf(site), name);
  }
}

function parseUrl(field: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isPlain =
    url !== undefined &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '';
  if (isPlain && (url.protocol === 'ws:' || url.protocol === 'wss:'))
    return `${url.protocol}//${url.host}`;
  const rule = 'must be the address for clients without a path, as "wss://10.0.1.1:7420"';
  throw invalidFieldError(field, `${rule}, got ${show(value)}`);
}

/** @throws CorrectableError as `readClusterFile` */
export function parseAddress(field: string, value: unknown): ClusterAddress {
  const match =
    typeof value === 'string'
      ? /^(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(value)
      : null;
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host !== undefined && port >= 1 && port <= MAX_PORT) return { host, port };
  const rule = 'must be the host and port for the other sites, as "10.0.1.1:7421"';
  throw invalidFieldError(field, `${rule}, got ${show(value)}`);
}
