/**
 * Plans a site that is only read: what its start would know of the deployment, from the files of
 * the directory alone.
 */
import { randomBytes } from 'node:crypto';
import type { RecoveredState } from '../../log/recovered-state.ts';
import { describeService } from '../../service/describe-service.ts';
import { createPartitions, type Partitions } from '../../service/partitions.ts';
import { RULES_VERSION } from '../../service/records/deployment-version.ts';
import { Origins, type Origin } from '../../service/records/origin.ts';
import type { Service } from '../../service/service.ts';
import { loadOrigins } from '../cluster/cluster-site.ts';
import type { NodeIdentity } from '../cluster/node-file.ts';
import { readEmbeddedOptions } from '../embedded/embedded-options.ts';
import { createRedLogPlans, findCommitted, type RedLengths } from '../embedded/stored-red-logs.ts';
import { createClusterPolicy, createEmbeddedPolicy, type NodePolicy } from '../node-policy.ts';
import { getLogs, getNamedVoters, type StoredGeneration } from '../red-log/red-generation.ts';
import { createSitePlan, type SitePlan } from '../running-site.ts';
import { MIN_KEY_BYTES } from '../storage/directory/data-directory.ts';
import { getFoundingVersion, type Manifest } from '../storage/directory/manifest.ts';
import { unusableDirectoryError } from '../storage/directory/missing-history.ts';
import { NODE_FILE, parseIdentity } from '../storage/directory/node-identity.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';

/** Rows are read in their order, and few of them twice. */
const CACHE_BYTES = 16 * 2 ** 20;

export interface ReadPlan {
  readonly plan: SitePlan;
  readonly policy: NodePolicy;
}

interface StoredParts {
  readonly files: ReadableFiles;
  readonly stored: RecoveredState;
  /** By site of the directory. */
  readonly redLengths: readonly RedLengths[];
}

/** @throws CorrectableError `UNAVAILABLE` if the site has nothing yet */
export function planStoredSite(
  service: Service,
  manifest: Manifest,
  { redLengths, ...parts }: StoredParts,
): ReadPlan {
  const layouts = Object.fromEntries((manifest.partitions ?? []).map((item) => [item.name, item]));
  const partitions = createPartitions(service, layouts);
  return manifest.site === undefined
    ? planEmbedded(service, manifest, partitions, redLengths)
    : planNode(service, manifest, partitions, parts);
}

/** Plans a site of a directory that has all sites of a process. */
function planEmbedded(
  service: Service,
  { sites, redLeader, partitions: layouts = [] }: Manifest,
  partitions: Partitions,
  redLengths: readonly RedLengths[],
): ReadPlan {
  const origins = Origins.create(sites, partitions.names.slice(1));
  const plan = {
    ...createReadPlan(service, origins, partitions),
    redLeader: origins.find(redLeader) as Origin,
    committedRedEntries: findCommitted(redLengths, 0),
    redLogs: createRedLogPlans(
      origins,
      layouts.map(({ voters = sites, ...layout }) => ({ ...layout, voters })),
      redLengths,
    ),
  };
  return { plan, policy: createEmbeddedPolicy(false) };
}

/** Plans the only site of a directory. What other sites have confirmed is not known here. */
function planNode(
  service: Service,
  manifest: Manifest,
  partitions: Partitions,
  { files, stored }: Omit<StoredParts, 'redLengths'>,
): ReadPlan {
  const { redLeader, sites, partitions: layouts = [] } = manifest;
  const identity: NodeIdentity = parseIdentity(files.read(NODE_FILE));
  if (identity.origin === null)
    throw unusableDirectoryError('the site waits for the state of another site, and has no rows');
  const first = { generation: 0, leader: redLeader, logs: layouts };
  const red: StoredGeneration = identity.red ?? first;
  const origins = loadOrigins(stored.checkpoint, sites, partitions);
  const logs = getLogs(red).slice(1);
  const plan = {
    ...createReadPlan(service, origins, partitions),
    redLeader: origins.find(red.leader ?? redLeader) as Origin,
    committedRedEntries: 0,
    redLogs: layouts.map((layout, index) => ({
      leader: origins.find(logs[index]?.leader ?? layout.leader) as Origin,
      voters: getNamedVoters(red, layout),
    })),
  };
  const own = {
    rules: RULES_VERSION,
    service: describeService(service, partitions.count > 1),
  };
  const policy = createClusterPolicy({
    deploymentName: identity.deployment,
    directory: identity.directory,
    generation: red.generation,
    version: { own, founding: getFoundingVersion(manifest) },
    isConfirmed: true,
    absence: { maxBacklogEntries: Infinity, keepForMs: Infinity },
  });
  return { plan, policy };
}

/** Returns the part of the plan that every site has. Any key will do: nothing leaves the site. */
function createReadPlan(
  service: Service,
  origins: Origins,
  partitions: Partitions,
): Omit<SitePlan, 'redLeader' | 'committedRedEntries' | 'redLogs'> {
  const options = readEmbeddedOptions(service, { sites: ['any'], checkInvariants: false });
  return {
    ...createSitePlan(service, options, {
      maxBytes: Infinity,
      cacheBytes: CACHE_BYTES,
      siteCount: 1,
    }),
    origins,
    partitions,
    clusterKey: randomBytes(MIN_KEY_BYTES),
    tokenScope: origins.names,
    onAlarm: () => {},
  };
}
