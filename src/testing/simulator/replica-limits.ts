/**
 * The first members of a run, and the limits of its sites: drawn ones, and those that all runs
 * share.
 */
import { ID_TABLE_LIMITS } from '../../server/site/parts/lookups/id-table.ts';
import type { MachineSizes } from '../../server/log/machine-sizes.ts';
import type { StorageSizes } from '../../server/node/storage/storage-sizes.ts';
import { PrefixDigest } from '../../server/log/prefix-digest.ts';
import { Origins } from '../../server/service/records/origin.ts';
import type { SiteOptions } from '../../server/site/site-options.ts';
import type { SimulationOptions } from './options.ts';

/** The name of the deployment, as messages between its sites carry it. */
export const SIMULATED_DEPLOYMENT = 'simulated';

export const REPLICA_LIMITS = {
  resendAfterMs: 100,
  reachTimeoutMs: 1000,
  maxClockSkewMs: 2000,
  maxHaltedBytes: 20_000,
} as const;

/** What the parts of a site count of their limits. */
export interface LimitCounts {
  grownDigests: number;
  readonly exceeded: Map<string, number>;
}

/** Counts how often a site went beyond a size. */
function noteExceeded({ exceeded }: LimitCounts, size: string): void {
  const name = `beyond ${size}`;
  exceeded.set(name, (exceeded.get(name) ?? 0) + 1);
}

/** Returns the sizes of the storage of a site. */
function createStorageSizes(options: SimulationOptions, counts: LimitCounts): StorageSizes {
  const { maxFrameBytes, maxTurnCharacters, maxRequestedRows } = options;
  return {
    maxFrameBytes,
    maxTurnCharacters,
    maxRequestedRows,
    onExceeded: (size) => noteExceeded(counts, size),
  };
}

export function createStorageLimits(options: SimulationOptions, counts: LimitCounts) {
  const { segmentBytes, checkpointBytes, largeGroup } = options;
  const sizes = createStorageSizes(options, counts);
  return { segmentBytes, checkpointBytes, largeGroup, sizes };
}

function createMachineSizes(options: SimulationOptions, counts: LimitCounts): MachineSizes {
  const { maxBatch, maxPassedOn, maxContended } = options;
  const { maxEarlyFields, maxReceivedBytes, maxSavedUnsent, maxMarks } = options;
  return {
    maxBatch,
    maxPassedOn,
    maxContended,
    maxEarlyFields,
    maxReceivedBytes,
    maxSavedUnsent,
    maxMarks,
    onExceeded: (size) => noteExceeded(counts, size),
  };
}

export function createReplicaLimits(
  options: SimulationOptions,
  counts: LimitCounts,
  Digest: typeof PrefixDigest = PrefixDigest,
): Omit<SiteOptions, 'service' | 'deployment' | 'origins' | 'redLeader' | 'site' | 'epoch'> {
  const { maxAttempts, maxWindowCommits, maxIdentifiers, maxOperationsPerClient, maxReplyBytes } =
    options;
  const { sessionTimeoutMs, removalsPerWatermark, maxRedInFlight, maxPipelineLength, maxWindow } =
    options;
  const bytes = { maxBytes: maxReplyBytes, maxBytesPerClient: maxReplyBytes };
  const maxOutcomes = {
    ...ID_TABLE_LIMITS,
    maxOperations: maxIdentifiers,
    maxOperationsPerClient,
    ...bytes,
  };
  const windows = {
    maxRequested: maxWindow,
    maxSent: maxWindow,
    maxAppended: maxWindow,
    maxProposed: maxWindow,
    maxGlobals: maxWindow,
  };
  const { maxMemoryBytes, compareIntervalMs: intervalMs, maxComparedRows: maxRows } = options;
  const limits = { removalsPerWatermark, maxRedInFlight, maxPipelineLength, maxMemoryBytes };
  const retentionLimits = { maxWindowCommits, maxOutcomes };
  const { isCluster, keepForMs, maxBacklogEntries } = options;
  const absence = { keepForMs, maxBacklogEntries };
  const cluster = isCluster
    ? {
        redLogName: 'simulated',
        absence,
        stopsOnUnknownStart: true,
        needsPeer: true,
        keepsReceivedReplies: true,
      }
    : {};
  return {
    ...cluster,
    maxAttempts,
    sessionTimeoutMs,
    windows,
    retentionLimits,
    ...limits,
    comparisons: { intervalMs, maxRows },
    cacheBytes: options.cacheBytes,
    sizes: createMachineSizes(options, counts),
    createDigest: (count, digest) =>
      new Digest(count, digest, {
        places: options.digestPlaces,
        onGrown: () => void (counts.grownDigests += 1),
      }),
    ...REPLICA_LIMITS,
  };
}

export function createOrigins(siteCount: number, partitions: readonly string[] = []): Origins {
  return Origins.create(
    Array.from({ length: siteCount }, (_, place) => `s${place}`),
    partitions,
  );
}
