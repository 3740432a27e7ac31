/**
 * How a site behaves depends on where the other sites run. The sites of one process start together,
 * share a clock and never change. A site of a cluster must expect another node in its name, another
 * leader of the red log, and sites that are away. These choices belong together, so both kinds of
 * deployment make all of them here.
 */
import type { AbsenceLimits } from '../site/parts/absent-sites.ts';
import type { SiteDriverOptions } from './site-driver.ts';

/** A site without a choice keeps the default of `SiteOptions`. */
export interface NodePolicy extends Pick<
  SiteDriverOptions,
  | 'directory'
  | 'generation'
  | 'redLogName'
  | 'stopsOnUnknownStart'
  | 'needsPeer'
  | 'keepsReceivedReplies'
  | 'absence'
  | 'version'
> {
  /** Whether the site reports that the clock of this machine was set. */
  readonly reportsClock: boolean;
}

/** @param isFirst one site of a process reports its clock for all of them */
export function createEmbeddedPolicy(isFirst: boolean): NodePolicy {
  return { reportsClock: isFirst };
}

export interface ClusterPolicyOptions {
  readonly deploymentName: string;
  /** Names the data directory of the node. */
  readonly directory: string;
  /** How often the red log was restored at another site. */
  readonly generation: number;
  readonly version: NodePolicy['version'];
  /**
   * Whether another site accepted an earlier start of this process. Then the process still has the
   * directory of that start, and no other site is asked again.
   */
  readonly isConfirmed: boolean;
  /** The limits of what is kept for a site that is away. */
  readonly absence: AbsenceLimits;
}

export function createClusterPolicy(options: ClusterPolicyOptions): NodePolicy {
  return {
    directory: options.directory,
    generation: options.generation,
    version: options.version,
    reportsClock: true,
    // The leader may change, so the log is not named after it.
    redLogName: options.deploymentName,
    stopsOnUnknownStart: true,
    needsPeer: !options.isConfirmed,
    keepsReceivedReplies: true,
    absence: options.absence,
  };
}
