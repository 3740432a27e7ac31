/** The options of a causal store on Redis, and their checks. */
import { check } from '../../correctable/errors.ts';
import {
  checkOptionNames,
  checkOptionTypes,
  hasMethods,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import { checkCount, checkDuration } from '../shared/check-number.ts';
import { checkTokenKey } from '../shared/session-tokens.ts';
import { parseAddress, type ServerAddress } from '../shared/server-address.ts';
import type { CausalRedisAlarm } from './alarms.ts';
import type { RedisConnection, ScriptConnection } from './driver.ts';

/** Addresses of the Redis of a site. The binding connects, and closes what it has opened. */
export interface RedisNodes {
  /**
   * Nodes as `host` or `host:port`. A few nodes of a Redis Cluster are enough. The binding detects
   * whether the nodes are a Cluster.
   */
  readonly nodes: readonly string[];
  /**
   * Options of `ioredis`, such as `password` and `tls`. They are read for each new connection, so a
   * getter can give a new password. Default: none
   */
  readonly redisOptions?: object | undefined;
}

export interface CausalRedisOptions<N extends string = string> {
  /**
   * The name of the deployment: letters, digits, `-`, `_`, `.` and `:`. All its keys in Redis begin
   * with `{<name>`.
   */
  readonly name: string;
  /** The site of this process: one of `sites`, the nearest one. */
  readonly site: NoInfer<N>;
  /**
   * The Redis of each site: a `Redis` or `Cluster` of `ioredis`, which the binding leaves open, or
   * its nodes.
   */
  readonly sites: Readonly<Record<N, RedisConnection | RedisNodes>>;
  /**
   * Signs session tokens: a secret of 16 bytes or more, the same in all processes at all sites.
   * Without it, a session cannot go on in another process. Default: a random key
   */
  readonly tokenKey?: string | Uint8Array | undefined;
  /**
   * How long an operation waits while a partition fails over or is healed, or until the writes of a
   * session have arrived, in milliseconds. Default: 5 000
   */
  readonly siteTimeoutMs?: number | undefined;
  /** Size of the largest value as JSON, in bytes. Default: 65 536 */
  readonly maxValueBytes?: number | undefined;
  /** Called with what an operator must know. Default: a process warning */
  readonly onAlarm?: ((alarm: CausalRedisAlarm) => unknown) | undefined;
}

export interface CausalDeploymentOptions<N extends string = string> extends Pick<
  CausalRedisOptions<N>,
  'name' | 'site' | 'sites'
> {
  /**
   * Into how many parts the keys of each site are divided. It cannot be changed later. Keep a part
   * below 50 000 keys or 50 MB. Default: 256, or what the other sites have
   */
  readonly partitions?: number | undefined;
}

/** A connection that belongs to the caller, or the nodes to connect to. */
export type SiteSource =
  | { readonly connection: ScriptConnection }
  | {
      readonly addresses: readonly ServerAddress[];
      readonly redisOptions: object;
    };

export interface ResolvedDeployment {
  readonly name: string;
  readonly site: string;
  /** The connection or the nodes of each site, by its name. */
  readonly sources: ReadonlyMap<string, SiteSource>;
}

export interface ResolvedOptions extends ResolvedDeployment {
  readonly tokenKey: string | Uint8Array | undefined;
  readonly siteTimeoutMs: number;
  readonly maxValueBytes: number;
  readonly onAlarm: ((alarm: CausalRedisAlarm) => unknown) | undefined;
}

const CALL =
  "causalRedis({ name: 'shop', site: 'dublin', sites: { dublin: redisDublin, oregon: redisOregon } })";
const DEPLOYMENT_CALL =
  "createCausalDeployment({ name: 'shop', site: 'dublin', sites: { dublin: redisDublin, oregon: redisOregon } })";
const DEFAULT_PORT = 6379;
const DEFAULT_SITE_TIMEOUT_MS = 5_000;
const DEFAULT_MAX_VALUE_BYTES = 65_536;
const MAX_PARTITIONS = 16_384;
/** The characters of a name. A brace would end the hash tag that contains the name. */
const NAME = /^[\w.:-]{1,64}$/;

const OPTIONS: OptionNamesOf<CausalRedisOptions> = {
  name: true,
  site: true,
  sites: true,
  tokenKey: true,
  siteTimeoutMs: true,
  maxValueBytes: true,
  onAlarm: true,
};

const DEPLOYMENT_OPTIONS: OptionNamesOf<CausalDeploymentOptions> = {
  name: true,
  site: true,
  sites: true,
  partitions: true,
};

const NODES_OPTIONS: OptionNamesOf<RedisNodes> = {
  nodes: true,
  redisOptions: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveOptions(options: CausalRedisOptions): ResolvedOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const deployment = resolveDeployment(options);
  checkTokenKey(options.tokenKey);
  checkOptionTypes(options, 'function', 'onAlarm');
  const {
    tokenKey,
    onAlarm,
    siteTimeoutMs = DEFAULT_SITE_TIMEOUT_MS,
    maxValueBytes = DEFAULT_MAX_VALUE_BYTES,
  } = options;
  return {
    ...deployment,
    tokenKey,
    onAlarm,
    siteTimeoutMs: checkDuration('siteTimeoutMs', siteTimeoutMs),
    maxValueBytes: checkCount('maxValueBytes', maxValueBytes),
  };
}

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveDeploymentOptions(
  options: CausalDeploymentOptions,
): ResolvedDeployment & { readonly partitions: number | undefined } {
  checkOptionNames(options, { call: DEPLOYMENT_CALL }, DEPLOYMENT_OPTIONS);
  const { partitions } = options;
  const isCount =
    partitions === undefined ||
    (Number.isInteger(partitions) && partitions >= 1 && partitions <= MAX_PARTITIONS);
  const advice = `must be an integer from 1 to ${MAX_PARTITIONS}, got ${String(partitions)}.`;
  check(isCount, 'partitions', advice);
  return { ...resolveDeployment(options), partitions };
}

function resolveDeployment({ name, site, sites }: CausalDeploymentOptions): ResolvedDeployment {
  const isName = typeof name === 'string' && NAME.test(name);
  check(isName, 'name', 'must be 1 to 64 letters, digits or any of - _ . : as in "shop".');
  check(
    isRecord(sites) && Object.keys(sites).length > 0,
    'sites',
    'must be the Redis of each site, as { dublin: redisDublin }.',
  );
  const sources = new Map(
    Object.entries(sites).map(([key, value]) => [key, resolveSource(`sites.${key}`, value)]),
  );
  const names = [...sources.keys()].join(', ');
  check(sources.has(site), 'site', `must be one of ${names}, got ${site}.`);
  return { name, site, sources };
}

function resolveSource(field: string, value: RedisConnection | RedisNodes): SiteSource {
  if (hasMethods(value, 'call', 'evalshaBuffer', 'evalBuffer')) {
    checkConnection(field, value as Cluster);
    return { connection: value as ScriptConnection };
  }
  const call = "{ nodes: ['10.0.0.1:6379'] }";
  checkOptionNames(value, { call, field }, NODES_OPTIONS);
  const { nodes, redisOptions = {} } = value as RedisNodes;
  const areNodes = Array.isArray(nodes) && nodes.length > 0;
  check(areNodes, `${field}.nodes`, `must be a list of addresses, as in ${call}.`);
  check(
    isRecord(redisOptions),
    `${field}.redisOptions`,
    "must be options of ioredis, as { password: '…' }.",
  );
  checkNumbers(`${field}.redisOptions.stringNumbers`, redisOptions);
  return {
    addresses: nodes.map((node, at) => parseNode(`${field}.nodes[${at}]`, node)),
    redisOptions,
  };
}

interface Cluster extends RedisConnection {
  readonly options?: { readonly enableAutoPipelining?: boolean };
}

/** Refuses a `Cluster` with an option that makes ioredis 5 send scripts to the wrong server. */
function checkConnection(field: string, { nodes, options }: Cluster): void {
  const isFit = nodes === undefined || options?.enableAutoPipelining !== true;
  const advice = 'is a Cluster with enableAutoPipelining. Give one without it, or { nodes }.';
  check(isFit, field, advice);
}

/** Refuses options that turn numbers into strings: replies of scripts contain numbers. */
function checkNumbers(field: string, options: { readonly stringNumbers?: boolean }): void {
  check(options.stringNumbers !== true, field, 'must not be true: replies need numbers.');
}

function parseNode(field: string, node: string): ServerAddress {
  const address = isNonEmptyString(node) ? parseAddress(node, DEFAULT_PORT) : undefined;
  check(address !== undefined, field, `must be host or host:port, got ${JSON.stringify(node)}.`);
  return address as ServerAddress;
}
