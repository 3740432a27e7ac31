/**
 * The site of a node: what a site that has a process of its own needs beyond
 * one that is embedded with all others.
 */
import type { OnAlarm } from './alarms/site-alarm.ts';
import type { ClusterFile } from './cluster/cluster-file.ts';
import {
  toEmbeddedOptions,
  type ClusterNodeOptions,
} from './cluster-options.ts';
import {
  createSitePlan,
  makeSite,
  type EmbeddedSite,
  type SitePlan,
  type SiteResources,
} from './embedded-site.ts';
import { getSavedSite, type RecoveredState } from './log/recovered-state.ts';
import { Origins, type Origin } from './records/origin.ts';
import type { Service } from './service/service.ts';

const DEFAULT_KEEP_FOR_MS = 86_400_000;
const DEFAULT_BACKLOG = 1_000_000;

export interface ClusterSiteParts {
  readonly service: Service;
  readonly options: ClusterNodeOptions;
  readonly file: ClusterFile;
  readonly clusterKey: string | Uint8Array;
  readonly deploymentName: string;
  readonly origins: Origins;
  /** The site that orders red operations, if one does. */
  readonly redLeader: string | null;
  readonly onAlarm: OnAlarm;
  readonly site: Origin;
  readonly resources: Omit<SiteResources, 'reportsClock'>;
}

/**
 * Returns the sites that a directory knows. Sites that have joined are in its
 * checkpoint only, so the manifest counts only as long as there is none.
 */
export function loadOrigins(
  checkpoint: RecoveredState['checkpoint'],
  founders: readonly string[],
): Origins {
  if (checkpoint === undefined) return Origins.create(founders);
  const origins = Origins.create([]);
  origins.load(getSavedSite(checkpoint).shared.replica.origins);
  return origins;
}

export function makeClusterSite(parts: ClusterSiteParts): EmbeddedSite {
  const {
    service,
    options,
    file,
    clusterKey,
    deploymentName,
    origins,
    onAlarm,
    site,
  } = parts;
  const { maxBacklogEntries = DEFAULT_BACKLOG } = options;
  const plan: SitePlan = {
    ...createSitePlan(service, toEmbeddedOptions(options, origins.names)),
    origins,
    redLeader: origins.find(parts.redLeader ?? '') as Origin,
    // The own log alone counts: the other sites cannot be asked here.
    committedRedEntries: 0,
    clusterKey,
    tokenScope: deploymentName,
    onAlarm,
  };

  return makeSite(plan, site, {
    ...parts.resources,
    reportsClock: true,
    // Its leader may change.
    redLogName: deploymentName,
    stopsOnUnknownStart: true,
    keepsReceivedReplies: true,
    absence: {
      maxBacklogEntries,
      keepForMs: file.keepForMs ?? DEFAULT_KEEP_FOR_MS,
    },
  });
}
