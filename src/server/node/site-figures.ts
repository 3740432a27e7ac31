/**
 * The figures of a running site that its metrics show. A new figure is a getter here, and a metric
 * in `src/server/site-metrics.ts`.
 */
import type { MemoryStatus } from '../site/core/memory-port.ts';
import type { RetainedReplies } from '../site/parts/lookups/id-table.ts';
import type { RejectedMessageCounts } from '../site/site-options.ts';
import type { ComparisonFigures } from './alarms/divergence-alarm.ts';
import type { CertificationStats } from './certification-stats.ts';
import type { PartitionFigures } from './partition-stats.ts';
import type { RunningSite } from './running-site.ts';

/** The sites of a process whose figures are read. */
export interface ObservedSites {
  readonly sites: readonly string[];
  getFigures(site: string): SiteFigures;
}

export class SiteFigures {
  readonly #site: RunningSite;

  constructor(site: RunningSite) {
    this.#site = site;
  }

  /** How often certification has rejected red operations of the site, by what they met. */
  get certification(): CertificationStats {
    return this.#site.certificationStats.stats;
  }

  get retainedReplies(): RetainedReplies {
    return this.#site.driver.machine.retainedReplies;
  }

  /** How many messages of other sites the site has rejected, by reason. */
  get rejectedMessages(): RejectedMessageCounts {
    return this.#site.driver.machine.rejections;
  }

  /** How often the site has compared its rows with those of others. */
  get comparisons(): ComparisonFigures {
    return this.#site.divergence.figures;
  }

  /** How much memory the site has used, and for what. */
  get memory(): MemoryStatus {
    return this.#site.driver.machine.memory.status;
  }

  /** What the site counts for each of several red logs. `undefined` if there is one. */
  get partitions(): PartitionFigures | undefined {
    const { partitionStats, driver } = this.#site;
    if (partitionStats === undefined) return undefined;
    const { names, logs } = partitionStats;
    return { names, logs, standingHolds: driver.standingHolds };
  }
}
