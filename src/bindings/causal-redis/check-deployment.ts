/** Checks the Redis of all sites of a deployment, and how far they are apart. */
import { getStamp, MICROSECONDS_PER_MS } from '../../causal/stamps.ts';
import type { SiteView } from '../../causal/partition-calls.ts';
import {
  checkRecord,
  checkSameDeployment,
  createMissingRecordError,
  type DeploymentRecord,
} from './deployment-record.ts';
import { findProblems, type Finding } from './findings.ts';
import type { ServerReport } from './inspect-servers.ts';
import type { Keyspace } from './keyspace.ts';
import type { ResolvedDeployment } from './options.ts';
import type { SiteStores } from './site-stores.ts';
import { decodeView } from './view-codec.ts';
import { getErrorMessage } from '../../values/error-message.ts';

export interface SiteReport {
  readonly site: string;
  readonly record: DeploymentRecord | undefined;
  readonly servers: readonly ServerReport[];
  /** When a process of the site last published its state. */
  readonly publishedMsAgo: number | undefined;
  /** How old the data of each other site is at this site, in milliseconds. */
  readonly lagMs: Readonly<Record<string, number>>;
  readonly problems: readonly Finding[];
}

export interface DeploymentReport {
  readonly name: string;
  /** Whether no problem is an error. */
  readonly isSound: boolean;
  readonly sites: readonly SiteReport[];
}

/** A process publishes its state several times a second. */
const MAX_PUBLISHED_MS_AGO = 5_000;
const MAX_LAG_MS = 10_000;

/** What a site has published last. */
interface PublishedView {
  readonly view: SiteView | undefined;
  readonly publishedMsAgo: number | undefined;
}

interface FoundSite extends Omit<SiteReport, 'lagMs'>, PublishedView {}

export async function checkDeployment(
  options: ResolvedDeployment,
  { keyspaces }: SiteStores,
): Promise<DeploymentReport> {
  const found = await Promise.all(
    [...keyspaces].map(([site, keyspace]) => inspectSite(options, site, keyspace)),
  );
  const sites = found.map((site) => describeSite(site, found));
  const problems = sites.flatMap((site) => site.problems);
  const isSound = !problems.some(({ isError }) => isError);
  return { name: options.name, isSound, sites };
}

async function inspectSite(
  { name, sources }: ResolvedDeployment,
  site: string,
  keyspace: Keyspace,
): Promise<FoundSite> {
  const problems: Finding[] = [];
  const none = { site, record: undefined, servers: [], view: undefined };
  const expected = { name, site, sites: [...sources.keys()] };
  const record = await keyspace.readRecord().catch((error: unknown) => {
    const message = `its Redis does not answer: ${describe(error)}. Check the address, the password and the firewall.`;
    problems.push({ code: 'unreachable', isError: true, message });
  });
  if (problems.length > 0) return { ...none, publishedMsAgo: undefined, problems };

  const servers = await readServers(keyspace, problems);
  await keyspace.checkRights().catch((error: unknown) => {
    const message = `a command is refused: ${describe(error)}. Give the user the rights of docs/bindings/causal-redis.md.`;
    problems.push({ code: 'rights', isError: true, message });
  });
  if (record === undefined) {
    const { message } = createMissingRecordError(expected);
    problems.push({ code: 'deployment', isError: true, message });
    return { ...none, servers, publishedMsAgo: undefined, problems };
  }
  note(problems, () => checkRecord(record, expected));
  return {
    site,
    record,
    servers,
    problems,
    ...(await readView(keyspace, record)),
  };
}

async function readServers(
  keyspace: Keyspace,
  problems: Finding[],
): Promise<readonly ServerReport[]> {
  try {
    const servers = await keyspace.inspect();
    problems.push(...findProblems(servers));
    return servers;
  } catch (error) {
    const message = `INFO is refused: ${describe(error)}. What Redis keeps and drops is not checked.`;
    problems.push({ code: 'unchecked', isError: false, message });
    return [];
  }
}

async function readView(
  keyspace: Keyspace,
  { sites, partitions }: DeploymentRecord,
): Promise<PublishedView> {
  const published = await keyspace.readView().catch(() => undefined);
  const sizes = { siteCount: sites.length, partitionCount: partitions };
  return {
    view: published && decodeView(published.bytes, published.age, sizes),
    publishedMsAgo: published && Math.round(published.age / MICROSECONDS_PER_MS),
  };
}

function describeSite({ view, ...found }: FoundSite, all: readonly FoundSite[]): SiteReport {
  const problems = [...found.problems];
  const lagMs = computeLags(found.record, view);
  const { record, publishedMsAgo = Infinity } = found;
  if (record !== undefined && publishedMsAgo > MAX_PUBLISHED_MS_AGO) {
    const since =
      found.publishedMsAgo === undefined
        ? 'none has ever run'
        : `the last one ended ${found.publishedMsAgo} ms ago`;
    const message = `no process of this site runs (${since}), so that it gets no writes of other sites. Start one with causalRedis.`;
    problems.push({ code: 'gateway', isError: false, message });
  } else
    for (const [other, lag] of Object.entries(lagMs))
      if (lag > MAX_LAG_MS) {
        const message = `the writes of ${other} are ${lag} ms old here. Check the link, and that all servers of both sites answer.`;
        problems.push({ code: 'lag', isError: false, message });
      }
  for (const other of all)
    if (record !== undefined && other.record !== undefined)
      note(problems, () => checkSameDeployment(record, other.record as DeploymentRecord));
  return { ...found, lagMs, problems };
}

/** Computes how old the data of each other site is. Sites without any data here are left out. */
function computeLags(
  record: DeploymentRecord | undefined,
  view: SiteView | undefined,
): Readonly<Record<string, number>> {
  if (record === undefined || view === undefined) return {};
  const lags = record.sites.flatMap((other, index) => {
    const stamp = getStamp(view.stable, index);
    if (other === record.site || stamp === 0) return [];
    const lag = (view.siteTime - stamp) / MICROSECONDS_PER_MS;
    return [[other, Math.max(0, Math.round(lag))] as const];
  });
  return Object.fromEntries(lags);
}

function note(problems: Finding[], check: () => void): void {
  try {
    check();
  } catch (error) {
    const message = describe(error);
    problems.push({ code: 'deployment', isError: true, message });
  }
}

function describe(error: unknown): string {
  return getErrorMessage(error);
}
