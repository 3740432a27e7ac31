/**
 * What a site does for globals: it appends holds for its own executions, and records, releases and
 * aborts for those of any site. All of it follows from what the logs have delivered, so another
 * site, or this one after a restart, can finish what one has begun. Only the times and the notes of
 * what was proposed are lost with a restart. Then it is proposed again, and the logs ignore the
 * copy.
 */
import type { SavedCommittedGlobal } from '../../../service/records/checkpoint.ts';
import type { CertificationDecision } from '../../../service/records/certification-result.ts';
import { getExecutionName, isGlobal } from '../global-records.ts';
import type { Origin } from '../../../service/records/origin.ts';
import {
  getPartition,
  type ExecutionName,
  type GlobalOperation,
  type GlobalRecord,
  type HoldStamp,
  type RedRecord,
} from '../../../service/records/records.ts';
import { DEFAULT_SEND_WINDOWS } from '../../../log/send-windows.ts';
import { getStampOf, type Vector } from '../../../service/records/vector.ts';
import type { Hold, HoldTable } from '../order/hold-table.ts';
import { BegunExecutions } from './begun-executions.ts';
import { DueExecutions, type AwaitedProgress } from './due-executions.ts';

const NO_HOLD = [0, { stamp: 0 }] as const;

/** After this many refusals an execution takes its holds one by one. */
const MAX_PARALLEL_REFUSALS = 3;

/**
 * Returns for how long a refused global waits before it is executed again. Two globals may refuse
 * each other, so the time is random.
 *
 * @param refusals how often executions of the operation were refused
 * @param random from 0 to 1
 */
export function getRetryDelayMs(refusals: number, resendAfterMs: number, random: number): number {
  return (random * refusals * resendAfterMs) / 4;
}

/** How far a site has got. */
export interface SiteProgress extends AwaitedProgress {
  /**
   * Whether the site shows what the snapshot has. It never will if a part of it was lost with its
   * site.
   */
  getCoverage(snapshot: Vector): 'covered' | 'later' | 'never';
  /** Whether the site leads the red log of the partition. */
  isLeader(partition: number): boolean;
}

/** A record to append to the log of a partition. */
export interface GlobalProposal {
  readonly partition: number;
  readonly record: GlobalOperation | GlobalRecord;
}

export interface CoordinatorOptions {
  readonly site: Origin;
  readonly resendAfterMs: number;
  /** The holds of each log of the site, by the ordinal of its partition. */
  readonly tables: readonly HoldTable[];
  /** See `SendWindows`. Default: `DEFAULT_SEND_WINDOWS` */
  readonly maxGlobals?: number | undefined;
}

/** An execution of this start of this site that is not decided. */
interface OwnExecution {
  readonly operation: GlobalOperation;
  /** The number of executions that had begun before. */
  readonly order: number;
  readonly isSequential: boolean;
}

/** A global that has committed, until its holds have ended here. */
interface CommittedGlobal {
  readonly stamp: number;
  /** The other partitions whose release was not delivered yet. */
  readonly awaited: readonly number[];
}

/** When the site first saw a hold of an execution, all holds, and its end. */
interface SeenTimes {
  readonly first: number;
  all?: number;
  end?: number;
}

/** An execution of any site of which holds stand, as its logs show it. */
export interface PendingGlobal {
  readonly execution: ExecutionName;
  readonly operation: GlobalOperation;
  readonly holds: ReadonlyMap<number, Hold>;
}

export class GlobalCoordinator {
  readonly #options: CoordinatorOptions;
  readonly #own = new Map<ExecutionName, OwnExecution>();
  readonly #committed = new Map<ExecutionName, CommittedGlobal>();
  readonly #since = new Map<ExecutionName, SeenTimes>();
  /** By execution: what was proposed since the start. */
  readonly #proposed = new Map<ExecutionName, Set<string>>();
  readonly #due = new DueExecutions();
  readonly #begun: BegunExecutions;
  #proposals: GlobalProposal[] = [];
  #ordered = 0;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    const { maxGlobals = DEFAULT_SEND_WINDOWS.maxGlobals } = options;
    this.#begun = new BegunExecutions(maxGlobals);
  }

  /** When `act` has something to do though nothing happens; undefined if there is no such time. */
  get wakeAtMs(): number | undefined {
    return this.#due.wakeAtMs;
  }

  /**
   * Begins an execution of this site.
   *
   * @param refusals how often earlier executions of the operation were refused
   */
  begin(operation: GlobalOperation, refusals: number): void {
    const execution = getExecutionName(operation);
    this.#own.set(execution, {
      operation,
      order: this.#ordered,
      isSequential: refusals >= MAX_PARALLEL_REFUSALS,
    });
    this.#ordered += 1;
    this.#due.add(execution);
  }

  /**
   * Gives up an execution of which nothing was proposed, since a log concerned was out of reach.
   * Returns whether it is given up.
   */
  withdraw(operation: GlobalOperation): boolean {
    const execution = getExecutionName(operation);
    if (this.#proposed.has(execution)) return false;
    return this.#endOwn(execution) !== undefined;
  }

  /**
   * A log has delivered a record. Returns the own execution that has ended by it without an effect,
   * which may be executed again.
   */
  onDelivered(
    partition: number,
    record: RedRecord,
    decision: CertificationDecision,
  ): GlobalOperation | undefined {
    switch (record.kind) {
      case 'operation':
        return isGlobal(record) ? this.#onGlobal(record, decision) : undefined;
      case 'hold':
        if (decision.kind !== 'refuse') return undefined;
        return this.#endOwn(getExecutionName(record.operation));
      case 'abort':
        if (decision.kind !== 'abort') return undefined;
        this.#allowAgain(partition, record.execution);
        return this.#endOwn(record.execution);
      case 'release':
        if (decision.kind === 'release') this.#onReleased(record.execution, partition);
        return undefined;
      case 'opening':
      case 'close':
      case 'marker':
      case 'check':
      case 'member':
      case 'activate':
        return undefined;
    }
  }

  /** Returns what to append now. */
  act(site: SiteProgress): readonly GlobalProposal[] {
    this.#proposals = [];
    for (const { touched } of this.#options.tables) {
      if (touched.size === 0) continue;
      for (const execution of touched) this.#due.add(execution);
      touched.clear();
    }
    const due = [...this.takeDue(site)];
    if (due.length > 0) this.#lookAt(due, site);
    return this.#proposals;
  }

  /**
   * Looks at all executions when `act` is called next: who leads a log, or what was lost with a
   * site, has changed.
   */
  touchAll(): void {
    for (const execution of this.#own.keys()) this.#due.add(execution);
    for (const { standing } of this.#options.tables)
      for (const execution of standing.keys()) this.#due.add(execution);
  }

  /** Takes the executions for which there may be something to append. */
  takeDue(site: SiteProgress): Iterable<ExecutionName> {
    return this.#due.take(site);
  }

  /** Own executions come first, and then what holds rows, the oldest first. */
  #lookAt(due: readonly ExecutionName[], site: SiteProgress): void {
    const own: [ExecutionName, OwnExecution][] = [];
    const pending: PendingGlobal[] = [];
    for (const execution of due) {
      const begun = this.#own.get(execution);
      if (begun !== undefined) own.push([execution, begun]);
      const item = this.#findPending(execution);
      if (item !== undefined) pending.push(item);
      if (begun === undefined && item === undefined) this.#forget(execution);
    }
    for (const [execution, begun] of own.toSorted(([, a], [, b]) => a.order - b.order))
      this.#appendHolds(execution, begun, site);
    for (const item of pending.toSorted(compareAge)) this.#advance(item, site);
  }

  save(): readonly SavedCommittedGlobal[] {
    return [...this.#committed].map(([execution, { stamp, awaited }]) => [
      execution,
      stamp,
      awaited,
    ]);
  }

  load(saved: readonly SavedCommittedGlobal[]): void {
    for (const [execution, stamp, awaited] of saved) {
      this.#committed.set(execution, { stamp, awaited });
      this.#due.add(execution);
    }
  }

  #onGlobal(
    operation: GlobalOperation,
    decision: CertificationDecision,
  ): GlobalOperation | undefined {
    const execution = getExecutionName(operation);
    this.#due.add(execution);
    if (decision.kind === 'commit') {
      const { stamp } = decision;
      const awaited = operation.others.filter(
        (other) => this.#getEnd(other, execution) !== 'released',
      );
      this.#endOwn(execution);
      if (awaited.length > 0) this.#committed.set(execution, { stamp, awaited });
      return undefined;
    }
    const home = getPartition(operation);
    const end = this.#getEnd(home, execution);
    if (end === 'committed') return undefined;
    this.#allowAgain(home, execution);
    // The site that proposed it was closed before, so nothing is decided. The record may be
    // proposed again, and an abort may come.
    const isVoid = decision.kind === 'void' && decision.stamp === undefined;
    return isVoid ? undefined : this.#endOwn(execution);
  }

  /**
   * The home log may forget that the execution has ended before its holds have. Then it is asked
   * again, and the snapshot is older than its window.
   */
  #allowAgain(home: number, execution: ExecutionName): void {
    const proposed = this.#proposed.get(execution);
    proposed?.delete(toProposalName('operation', home));
    proposed?.delete(toProposalName('abort', home));
    this.#due.add(execution);
  }

  #onReleased(execution: ExecutionName, partition: number): void {
    const committed = this.#committed.get(execution);
    if (committed === undefined) return;
    const awaited = committed.awaited.filter((item) => item !== partition);
    if (awaited.length === 0) this.#committed.delete(execution);
    else this.#committed.set(execution, { ...committed, awaited });
    this.#due.add(execution);
  }

  #endOwn(execution: ExecutionName): GlobalOperation | undefined {
    const operation = this.#own.get(execution)?.operation;
    if (operation === undefined) return undefined;
    this.#own.delete(execution);
    this.#due.add(execution);
    const next = this.#begun.leave(execution);
    if (next !== undefined) this.#due.add(next);
    return operation;
  }

  /**
   * Nothing is held while a log concerned is out of reach. Otherwise rows of other partitions would
   * be held until that ends.
   */
  #appendHolds(
    execution: ExecutionName,
    { operation, isSequential }: OwnExecution,
    site: SiteProgress,
  ): void {
    const { others } = operation;
    const isBegun = this.#proposed.has(execution);
    const logs = [getPartition(operation), ...others];
    const away = isBegun ? undefined : logs.find((log) => !site.isReachable(log));
    if (away !== undefined) return this.#due.waitForLog(execution, away);
    if (!isBegun && !this.#begun.enter(execution, logs)) return;
    for (const partition of others) {
      this.#propose(execution, partition, {
        kind: 'hold',
        id: operation.id,
        site: this.#options.site,
        ...inLog(partition),
        operation,
      });
      if (isSequential && !this.#isStanding(partition, execution)) return;
    }
  }

  #advance(pending: PendingGlobal, site: SiteProgress): void {
    const { execution, operation, holds } = pending;
    const since = this.#getSince(pending, site.nowMs);
    const committed = this.#findCommitStamp(execution, getPartition(operation));
    if (committed !== undefined || this.#cannotCommit(execution, operation)) {
      since.end ??= site.nowMs;
      this.#release(pending, site, since.end, committed);
    } else if (holds.size === operation.others.length)
      this.#finish(pending, site, since.all ?? site.nowMs);
    else this.#abortLate(pending, site, since.first);
  }

  /** All holds stand: any site can propose the record. */
  #finish(pending: PendingGlobal, site: SiteProgress, sinceMs: number): void {
    const { execution, operation, holds } = pending;
    const { snapshot, others } = operation;
    const home = getPartition(operation);
    if (!this.#own.has(execution)) {
      if (!this.#isLate(pending, sinceMs, site.nowMs)) return;
      const coverage = site.getCoverage(snapshot);
      if (coverage === 'later') return this.#waitUntilShown(pending, site);
      if (coverage === 'never') return this.abort(pending);
    }
    // It may be of an earlier start, which knew of operations that no other site has yet.
    const isOfSite = operation.site === this.#options.site;
    if (isOfSite && !site.isDurable(snapshot)) {
      const stamp = getStampOf(snapshot, this.#options.site);
      return this.#due.waitFor(execution, { kind: 'durable', snapshot, stamp });
    }
    const stamps = others.map((other): HoldStamp => [other, holds.get(other)?.stamp ?? 0]);
    this.#propose(execution, home, {
      ...operation,
      holds: stamps,
      proposer: this.#options.site,
    });
  }

  #waitUntilShown({ execution, operation: { snapshot } }: PendingGlobal, site: SiteProgress): void {
    const origin = snapshot.findIndex((stamp, entry) => stamp > site.getStamp(entry));
    const stamp = snapshot[origin] ?? 0;
    this.#due.waitFor(execution, { kind: 'shown', origin, stamp });
  }

  /**
   * A hold is missing. Its site may have stopped before it was appended. So after a time, longer
   * with each attempt, any site ends the execution.
   */
  #abortLate(pending: PendingGlobal, site: SiteProgress, sinceMs: number): void {
    const { attempt } = pending.operation;
    if (this.#isLate(pending, sinceMs, site.nowMs, attempt)) this.abort(pending);
  }

  abort({ execution, operation }: PendingGlobal): void {
    const home = getPartition(operation);
    this.#propose(execution, home, {
      kind: 'abort',
      id: operation.id,
      site: this.#options.site,
      ...inLog(home),
      execution,
    });
  }

  /**
   * The leader of a log ends holds in it at once, other sites if it does not. The effects of a
   * global count as written from its release on, so its site must show them before.
   */
  #release(pending: PendingGlobal, site: SiteProgress, sinceMs: number, stamp?: number): void {
    const { execution, operation, holds } = pending;
    const home = getPartition(operation);
    if (stamp !== undefined && !site.isApplied(home, stamp)) {
      const awaited = { kind: 'applied', partition: home, stamp } as const;
      return this.#due.waitFor(execution, awaited);
    }
    for (const partition of holds.keys()) {
      if (!site.isLeader(partition) && !this.#isLate(pending, sinceMs, site.nowMs)) continue;
      this.#propose(execution, partition, {
        kind: 'release',
        id: operation.id,
        site: this.#options.site,
        ...inLog(partition),
        execution,
        home,
        ...(stamp !== undefined && { stamp }),
      });
    }
  }

  #propose(execution: ExecutionName, partition: number, record: GlobalProposal['record']): void {
    const proposed = this.#proposed.get(execution) ?? new Set();
    this.#proposed.set(execution, proposed);
    const name = toProposalName(record.kind, partition);
    if (proposed.has(name)) return;
    proposed.add(name);
    this.#proposals.push({ partition, record });
  }

  /** Whether a time has passed, for sites that only help. If not, looks again then. */
  #isLate({ execution }: PendingGlobal, sinceMs: number, nowMs: number, times = 1): boolean {
    const atMs = sinceMs + times * this.#options.resendAfterMs;
    if (nowMs >= atMs) return true;
    this.#due.waitFor(execution, { kind: 'time', atMs });
    return false;
  }

  /** Returns the execution with its holds that stand, if there are any. */
  #findPending(execution: ExecutionName): PendingGlobal | undefined {
    const holds = new Map<number, Hold>();
    for (const [partition, { standing }] of this.#options.tables.entries()) {
      const hold = standing.get(execution);
      if (hold !== undefined) holds.set(partition, hold);
    }
    const [first] = holds.values();
    return first && { execution, operation: first.operation, holds };
  }

  #getSince({ execution, operation, holds }: PendingGlobal, nowMs: number): SeenTimes {
    const since: SeenTimes = this.#since.get(execution) ?? { first: nowMs };
    this.#since.set(execution, since);
    if (holds.size === operation.others.length) since.all ??= nowMs;
    return since;
  }

  /** Returns the stamp of the record in the home log, if it has committed. */
  #findCommitStamp(execution: ExecutionName, home: number): number | undefined {
    const end = this.#options.tables[home]?.getEnd(execution);
    if (end?.how === 'committed') return end.stamp;
    return this.#committed.get(execution)?.stamp;
  }

  /** Whether the execution has ended in its home, or a hold was refused. */
  #cannotCommit(execution: ExecutionName, operation: GlobalOperation): boolean {
    return (
      this.#getEnd(getPartition(operation), execution) === 'never' ||
      operation.others.some((other) => this.#getEnd(other, execution) === 'refused')
    );
  }

  #getEnd(partition: number, execution: ExecutionName): string | undefined {
    return this.#options.tables[partition]?.getEnd(execution)?.how;
  }

  #isStanding(partition: number, execution: ExecutionName): boolean {
    const standing = this.#options.tables[partition]?.standing;
    return standing?.has(execution) === true;
  }

  /** Nothing of the execution is in flight. */
  #forget(execution: ExecutionName): void {
    this.#since.delete(execution);
    this.#proposed.delete(execution);
    this.#due.forget(execution);
  }
}

/** By the first partition with a hold of it, and the stamp of that. */
function compareAge(a: PendingGlobal, b: PendingGlobal): number {
  const [[partitionA, holdA] = NO_HOLD] = a.holds;
  const [[partitionB, holdB] = NO_HOLD] = b.holds;
  return partitionA - partitionB || holdA.stamp - holdB.stamp;
}

function toProposalName(kind: GlobalProposal['record']['kind'], partition: number): string {
  return `${kind} ${partition}`;
}

/** Records of `main` do not name their log. */
const inLog = (partition: number): { readonly partition?: number } =>
  partition === 0 ? {} : { partition };
