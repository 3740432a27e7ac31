/** The options of one site of a cluster, which is a process of its own. */
import { check } from '../../../correctable/errors.ts';
import {
  optional,
  readOptions,
  required,
  text,
  trueOrFalse,
  type OptionsOf,
  type ResolvedOptions,
} from '../../../correctable/options.ts';
import type { ClusterFile } from './cluster-file.ts';
import type { EmbeddedOptions } from '../embedded/embedded-options.ts';
import { SITE_OPTIONS } from '../site-options.ts';
import { requireService } from '../../service/service.ts';

/**
 * Options of `createEmbedded` that the cluster file sets, or that have no meaning between
 * processes.
 */
type FileOption = 'sites' | 'redLeader' | 'partitions' | 'latency' | 'clusterKey';

/** Options of a node. Those of `createEmbedded` mean the same. */
export interface ClusterNodeOptions extends Omit<EmbeddedOptions, FileOption> {
  /** The path of `cluster.json`, the same file at every node. */
  readonly cluster: string;
  /** The site that this process is, one of the file. */
  readonly site: string;
  /** The directory for the logs and rows of this site, created if it is missing. */
  readonly dataDir: string;
  /**
   * Begins with an empty directory and the state of another site: as a new site, or in place of a
   * directory that is lost or was forked. What only a lost directory had is lost. If a forked one
   * has what other sites lack, the site starts on it, and they check it again. Ignored if the
   * directory has the data of the site. Default: `false`
   */
  readonly rebuild?: boolean | undefined;
}

export const CLUSTER_NODE_OPTIONS = {
  cluster: required(text),
  site: required(text),
  dataDir: required(text),
  rebuild: optional(trueOrFalse, false),
  ...SITE_OPTIONS,
} satisfies OptionsOf<ClusterNodeOptions>;

/** The options of a node, after the defaults were filled in. */
export type ResolvedNodeOptions = ResolvedOptions<ClusterNodeOptions, typeof CLUSTER_NODE_OPTIONS>;

export const NODE_CALL =
  "serveCluster({ service, cluster: 'cluster.json', site: 'ireland', dataDir: 'data' })";

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid option */
export function readNodeOptions(
  service: unknown,
  options: ClusterNodeOptions,
): ResolvedNodeOptions {
  requireService(service, NODE_CALL);
  return readOptions(options, { call: NODE_CALL }, CLUSTER_NODE_OPTIONS);
}

/** @throws CorrectableError `INVALID_ARGUMENT` if the file lacks the site */
export function checkIsSite(site: string, { sites }: ClusterFile): void {
  const names = [...sites.keys()].join(', ');
  check(sites.has(site), 'site', `'${site}' is not one of ${names}`);
}
