import { closedDirectoryError } from './node-file.ts';
import {
  getNamedVoters,
  type GenerationLog,
  type RedGeneration,
} from '../red-log/red-generation.ts';
import type { LogOpening } from '../../site/site-options.ts';
import { getSavedSite, type RecoveredState } from '../../log/recovered-state.ts';
import { Origins, type Origin } from '../../service/records/origin.ts';
import type { Partitions } from '../../service/partitions.ts';
import type { Service } from '../../service/service.ts';
import { rejectForeignOrigin } from '../storage/directory/node-identity.ts';
import { createClusterPolicy, type NodePolicy } from '../node-policy.ts';
import {
  createSitePlan,
  createRunningSite,
  type RunningSite,
  type SitePlan,
  type SiteResources,
} from '../running-site.ts';
import type { ResolvedNodeOptions } from './cluster-options.ts';
import { shareMemory } from '../memory/needed-memory.ts';
import type { NodeResources } from './node-resources.ts';

export interface ClusterSiteParts {
  readonly service: Service;
  readonly options: ResolvedNodeOptions;
  readonly resources: NodeResources;
  readonly origins: Origins;
  /** The generation of the red log that the site follows. */
  readonly red: RedGeneration;
  readonly version: NodePolicy['version'];
  readonly isConfirmed: boolean;
  readonly storage: SiteResources['storage'];
  readonly onMembership: SiteResources['onMembership'];
  readonly onEnded: SiteResources['onEnded'];
  readonly send: SiteResources['send'];
}

/**
 * Returns the sites that a directory knows. Sites that have joined are in its checkpoint only, so
 * the manifest counts only as long as there is none.
 */
export function loadOrigins(
  checkpoint: RecoveredState['checkpoint'],
  founders: readonly string[],
  { names: [, ...logs] }: Partitions,
): Origins {
  if (checkpoint === undefined) return Origins.create(founders, logs);
  const origins = Origins.create([]);
  origins.load(getSavedSite(checkpoint).shared.replica.origins);
  return origins;
}

/**
 * Creates the site of a node from the data directory of the node. Throws if the directory is of
 * another site, or of one that was closed.
 */
export function createClusterSite(parts: ClusterSiteParts): RunningSite {
  const { service, options, resources, origins, red } = parts;
  const { deploymentName, ending } = resources;
  const { directory, origin } = resources.directory.identity;
  const site = origin as Origin;
  rejectClosedDirectory(options.site, site, parts);

  const plan: SitePlan = {
    ...createSitePlan(service, options, shareMemory(options)),
    origins,
    redLeader: origins.find(red.leader ?? '') as Origin,
    // Only the site's own log counts: the other sites cannot be asked here.
    committedRedEntries: 0,
    partitions: resources.partitions,
    redOpening: getOpening(red),
    redLogs: resources.file.partitions.map((partition, index) => {
      const log: GenerationLog = red.logs?.[index] ?? { leader: null };
      return {
        leader: origins.find(log.leader ?? '') as Origin,
        voters: getNamedVoters(red, partition),
        opening: getOpening(log),
      };
    }),
    clusterKey: resources.keys.sessionKey,
    tokenScope: deploymentName,
    onAlarm: resources.onAlarm,
  };
  const { generation, ...redLog } = resources.redLog.createParts(red);
  const policy = createClusterPolicy({
    deploymentName,
    directory,
    generation,
    version: parts.version,
    isConfirmed: parts.isConfirmed,
    absence: {
      maxBacklogEntries: options.maxBacklogEntries,
      keepForMs: resources.file.keepForMs,
    },
  });

  return createRunningSite(plan, site, policy, {
    ...redLog,
    storage: parts.storage,
    onMembership: parts.onMembership,
    onEnded: parts.onEnded,
    onForked: (problem) =>
      ending.markClosed(`another node has gone on as ${options.site} (${problem})`),
    send: parts.send,
  });
}

/** Returns how a log begins, if it was restored with a loss. */
function getOpening({ base, opening }: GenerationLog): LogOpening | undefined {
  return base && opening && { ...opening, length: base.length };
}

function rejectClosedDirectory(
  name: string,
  site: Origin,
  { resources, origins }: ClusterSiteParts,
): void {
  rejectForeignOrigin(resources.directory.identity, (origin) =>
    origins.isSite(origin) ? origins.get(origin).site : undefined,
  );
  if (origins.isMember(site)) return;

  const reason = `${name} was retired, or rebuilt on another data directory`;
  resources.ending.markClosed(reason);
  throw closedDirectoryError(name, reason);
}
