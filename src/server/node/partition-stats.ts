/**
 * What a site with several red logs counts for each of them. Times are those between two events at
 * this site, so another site may have other ones.
 */
// Imported, because the global is looked up again at each call.
import { performance } from 'node:perf_hooks';
import { getExecutionName, isGlobal } from '../site/lane/global-records.ts';
import type { Origin } from '../service/records/origin.ts';
import {
  getPartition,
  type ExecutionName,
  type GlobalOperation,
  type RedOperation,
  type RedRecord,
} from '../service/records/records.ts';
import type { PassedRecord, SiteObserver } from '../site/core/site-core.ts';
import type { CertificationDecision } from '../service/records/certification-result.ts';
import { CertificationCounter } from './certification-stats.ts';

/** Adds up times. */
export class TimeSum {
  count = 0;
  sumMs = 0;

  add(ms: number): void {
    this.count += 1;
    this.sumMs += ms;
  }
}

/**
 * How an execution of a global ended. `refused`: a hold or its record met a conflict. `aborted`: a
 * site has ended it, because a hold was missing for long or a part of its snapshot was lost.
 */
export type GlobalOutcome = 'committed' | 'refused' | 'aborted';

/**
 * The figures of one red log. Operations, globals and checks are those of this site. Holds and gate
 * waits are those of all sites.
 */
export class LogFigures {
  /** Red operations that have committed, also globals. */
  committed = 0;
  /** Executions of globals whose home it is. */
  readonly globals: Record<GlobalOutcome, number> = {
    committed: 0,
    refused: 0,
    aborted: 0,
  };
  readonly rejections: CertificationCounter;
  /** For how long the holds stood that have ended. */
  readonly holds = new TimeSum();
  /** By execution: since when its hold stands. */
  readonly heldSinceMs = new Map<ExecutionName, number>();
  /** Strong reads that were executed again, since a check here has failed. */
  failedChecks = 0;
  /** For how long records waited at the gate. */
  readonly gateWaits = new TimeSum();

  constructor(site: Origin) {
    this.rejections = new CertificationCounter(site);
  }
}

/** What a site counts for each of its red logs, by the ordinal. */
export interface PartitionFigures {
  readonly names: readonly string[];
  readonly logs: readonly LogFigures[];
  readonly standingHolds: readonly number[];
}

export class PartitionStats implements SiteObserver {
  /** The names of the partitions, by ordinal. */
  readonly names: readonly string[];
  /** By the ordinal of the partition. */
  readonly logs: readonly LogFigures[];
  readonly #site: Origin;
  readonly #elapsedMs: () => number;
  readonly #deliveredAtMs = new WeakMap<RedRecord, number>();

  constructor(
    site: Origin,
    names: readonly string[],
    elapsedMs: () => number = () => performance.now(),
  ) {
    this.#site = site;
    this.names = names;
    this.logs = names.map(() => new LogFigures(site));
    this.#elapsedMs = elapsedMs;
  }

  readonly onRejected: NonNullable<SiteObserver['onRejected']> = (operation, conflict) =>
    this.logs[getPartition(operation)]?.rejections.onRejected(operation, conflict);

  readonly onRedDelivered = (record: RedRecord): void =>
    void this.#deliveredAtMs.set(record, this.#elapsedMs());

  readonly onRedPassed = (passed: PassedRecord): void => {
    const log = this.logs[passed.partition];
    if (log === undefined) return;
    const nowMs = this.#elapsedMs();
    const { record, decision, ended } = passed;
    const sinceMs = this.#deliveredAtMs.get(record);
    if (sinceMs !== undefined) log.gateWaits.add(nowMs - sinceMs);

    if (ended !== undefined) this.#countEnded(ended, decision);
    if (record.kind === 'operation') this.#countCommit(log, record, decision);
    else if (record.kind === 'hold' && decision.kind === 'grant')
      log.heldSinceMs.set(getExecutionName(record.operation), nowMs);
    else if (record.kind === 'release' && decision.kind === 'release')
      endHold(log, record.execution, nowMs);
    else if (decision.kind === 'check' && decision.conflict !== undefined)
      log.failedChecks += record.site === this.#site ? 1 : 0;
  };

  #countCommit(log: LogFigures, operation: RedOperation, { kind }: CertificationDecision): void {
    if (kind !== 'commit' || operation.site !== this.#site) return;
    log.committed += 1;
    if (isGlobal(operation)) log.globals.committed += 1;
  }

  /** A hold in another log may have ended it, and it counts in its home. */
  #countEnded(operation: GlobalOperation, { kind }: CertificationDecision): void {
    const home = this.logs[getPartition(operation)];
    if (home === undefined) return;
    home.globals[kind === 'abort' ? 'aborted' : 'refused'] += 1;
  }
}

/** The time of a hold is not known if it was granted before the start. */
function endHold(log: LogFigures, execution: ExecutionName, nowMs: number): void {
  const sinceMs = log.heldSinceMs.get(execution);
  if (sinceMs === undefined) return;
  log.heldSinceMs.delete(execution);
  log.holds.add(nowMs - sinceMs);
}
