/** The options of one site of a cluster, which is a process of its own. */
import { check } from '../../../correctable/errors.ts';
import {
  isNonEmptyString,
  type OptionNamesOf,
} from '../../../correctable/validate.ts';
import { emitWarning } from '../../alarms/site-alarm.ts';
import type { ClusterFile } from '../../cluster/cluster-file.ts';
import { checkEmbeddedOptions } from '../embedded/check-embedded-options.ts';
import {
  EMBEDDED_OPTIONS,
  type EmbeddedOptions,
} from '../embedded/embedded-options.ts';
import { checkColorsIfEnabled } from '../startup-color-check.ts';
import type { Service } from '../../service/service.ts';

/**
 * Options of `createEmbedded` that the cluster file sets, or that have no
 * meaning between processes.
 */
type FileOption = 'sites' | 'redLeader' | 'latency' | 'clusterKey' | 'dataDir';

/** Options of a node. Those of `createEmbedded` mean the same. */
export interface ClusterNodeOptions extends Omit<EmbeddedOptions, FileOption> {
  /** The path of `cluster.json`, the same file at every node. */
  readonly cluster: string;
  /** The site that this process is, one of the file. */
  readonly site: string;
  /**
   * The directory for the logs and checkpoints of this site, created if it is
   * missing.
   */
  readonly dataDir: string;
  /**
   * Begins with an empty directory and the state of another site: as a new
   * site, or in place of a directory that is lost or was forked. What only that
   * directory had is lost. Ignored if the directory has the data of the site.
   * Default: `false`
   */
  readonly rebuild?: boolean | undefined;
}

const {
  sites: _sites,
  redLeader: _leader,
  latency: _latency,
  clusterKey: _key,
  ...common
} = EMBEDDED_OPTIONS;

/** All options of a node. */
export const CLUSTER_NODE_OPTIONS: OptionNamesOf<ClusterNodeOptions> = {
  ...common,
  cluster: true,
  site: true,
  rebuild: true,
};

/**
 * Returns the options that a node shares with `createEmbedded`, with the sites
 * of the file.
 */
export function toEmbeddedOptions(
  options: ClusterNodeOptions,
  names: readonly string[],
): EmbeddedOptions {
  const {
    cluster: _cluster,
    site: _site,
    rebuild: _rebuild,
    ...shared
  } = options;
  return { ...shared, sites: names as [string, ...string[]] };
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid option */
export function checkSiteOptions(
  service: Service,
  options: ClusterNodeOptions,
  file: ClusterFile,
): void {
  const { site, rebuild } = options;
  const names = [...file.sites.keys()];
  const embedded = toEmbeddedOptions(options, names);
  checkEmbeddedOptions(service, embedded);
  check(
    isNonEmptyString(options.dataDir),
    'dataDir',
    'must be the path of the data directory of the site',
  );
  check(
    names.includes(site),
    'site',
    `'${site}' is not one of ${names.join(', ')}`,
  );
  check(
    rebuild === undefined || typeof rebuild === 'boolean',
    'rebuild',
    'must be true or false, or left out',
  );
  checkColorsIfEnabled(service, embedded, (message) =>
    (options.onAlarm ?? emitWarning)({
      kind: 'color-check-failed',
      site,
      message,
    }),
  );
}
