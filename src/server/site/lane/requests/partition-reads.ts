/**
 * Strong reads at their places in a deployment with several partitions. A read of one partition has
 * its answer there. If it has read others too, a check in each of their logs asks whether all of
 * that still holds. Then it held at one moment: when the first check was appended.
 */
import { abandonedError } from '../../../service/records/failures.ts';
import type { Conflict } from '../../../service/records/certification-result.ts';
import {
  getPartition,
  type CheckRecord,
  type ExecutionName,
  type OperationId,
} from '../../../service/records/records.ts';
import type { ReplyOrError } from '../../../service/records/reply.ts';
import type { CorrectableError } from '../../../../correctable/errors.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { ReadRun } from '../../core/site-state.ts';
import type { Submission } from '../../core/submissions.ts';
import type { ReadSet } from '../../../service/generator/read-set.ts';
import type { GlobalRequests } from './global-requests.ts';
import type { Lanes } from '../lane.ts';
import { conflictError, shouldRetry } from './retry-policy.ts';

/** The first execution of a read that has no marker: its checks went to all logs at once. */
interface EarlyRun {
  readonly reads: ReadSet;
  /** One for each log concerned. */
  readonly checks: readonly CheckRecord[];
  /** Whether the check in the log of its home has passed the gate. */
  isPlaced: boolean;
  hasFailed: boolean;
}

/** A read whose marker has passed, or that has none. The other fields are of `shouldRetry`. */
interface PartitionRead {
  readonly id: OperationId;
  readonly submission: Submission;
  readonly home: number;
  answer: ReplyOrError | undefined;
  /** By partition: the checks of the last execution that have not passed. */
  readonly checks: Map<number, CheckRecord>;
  /** Its execution without a marker, until that has failed. */
  early: EarlyRun | undefined;
  attempt: number;
  uncountedRejections: number;
  conflict: Conflict | undefined;
  readonly record: undefined;
  readonly run: undefined;
  rejectedAtMs: number | undefined;
  heldAtMs: number | undefined;
  /** The execution whose hold it waits for, while it does. */
  heldBy: ExecutionName | undefined;
}

export class PartitionReads {
  readonly #core: SiteCore;
  readonly #globals: GlobalRequests;
  readonly #lanes: Lanes;
  readonly #reads = new Map<OperationId, PartitionRead>();
  /** The operations whose last execution read rows of several partitions. */
  readonly #spread = new Set<string>();

  constructor(core: SiteCore, globals: GlobalRequests, lanes: Lanes) {
    this.#core = core;
    this.#globals = globals;
    this.#lanes = lanes;
  }

  /**
   * Begins a read without a marker if its operation had rows of several partitions last time, so
   * that it takes one trip. Returns whether it does.
   */
  // @rule PART-G10a
  tryBeginEarly(id: OperationId, submission: Submission, home: number): boolean {
    if (!this.#spread.has(submission.plan.name)) return false;
    if (!this.#core.coverage.isCovered(submission.sessionVector)) return false;
    const run = this.#core.state.readInOrder(submission, home);
    const partitions = [home, ...run.others];
    const canCheck = partitions.every(
      (partition) =>
        this.#lanes.at(partition).admission.obstacle === undefined &&
        !this.#globals.isReadHeld(partition, run.reads),
    );
    if (run.others.length === 0 || !canCheck) return false;

    const read = this.#add(id, submission, home);
    this.#check(read, run, partitions);
    read.early = {
      reads: run.reads,
      checks: [...read.checks.values()],
      isPlaced: false,
      hasFailed: false,
    };
    return true;
  }

  /** Executes a read whose marker has passed in the log of its home. */
  begin(id: OperationId, submission: Submission, home: number): void {
    this.#execute(this.#add(id, submission, home));
  }

  #add(id: OperationId, submission: Submission, home: number): PartitionRead {
    const read: PartitionRead = {
      id,
      submission,
      home,
      answer: undefined,
      checks: new Map(),
      early: undefined,
      attempt: 0,
      uncountedRejections: 0,
      conflict: undefined,
      record: undefined,
      run: undefined,
      rejectedAtMs: undefined,
      heldAtMs: undefined,
      heldBy: undefined,
    };
    this.#reads.set(id, read);
    this.#lanes.at(home).reads.executing.add(id);
    return read;
  }

  /** A check has passed in the log of a partition. */
  // @rule PART-G10
  onChecked(record: CheckRecord, conflict: Conflict | undefined): void {
    const read = this.#reads.get(record.id);
    const partition = getPartition(record);
    const awaited = read?.checks.get(partition);
    if (read === undefined || awaited === undefined) return;
    // It may be of another site, or of an earlier execution.
    const { site, attempt } = awaited;
    if (site !== record.site || attempt !== record.attempt) return;
    read.checks.delete(partition);
    if (read.early !== undefined) this.#onEarlyChecked(read, read.early, partition, conflict);
    else if (conflict !== undefined) this.#retry(read, conflict);
    else if (read.checks.size === 0) this.#end(read, read.answer);
  }

  /**
   * If a check has failed, the read is executed again once it has a place in its home, which its
   * check there gives it.
   */
  #onEarlyChecked(
    read: PartitionRead,
    early: EarlyRun,
    partition: number,
    conflict: Conflict | undefined,
  ): void {
    if (conflict !== undefined) early.hasFailed = true;
    if (partition === read.home) {
      early.isPlaced = true;
      if (!early.hasFailed) this.#readAtPlace(read, early);
    }
    if (!early.isPlaced) return;
    if (early.hasFailed) {
      this.#withdrawChecks(read);
      read.early = undefined;
      // It was executed before it had a place, so that does not count.
      read.uncountedRejections += 1;
      this.#execute(read);
    } else if (read.checks.size === 0) this.#end(read, read.answer);
  }

  /**
   * Executes the read at its place in its home, so that it shows the blue operations that are
   * causes of earlier records there. What it reads of the red order must be as it was on the
   * snapshot of the checks.
   */
  #readAtPlace(read: PartitionRead, early: EarlyRun): void {
    const { answer, reads } = this.#core.state.readInOrder(read.submission, read.home);
    early.hasFailed = !isReadBy(early.reads, reads) || this.#hasChanged(early.checks);
    read.answer = answer;
  }

  /** Whether a record that is here has changed something since the snapshot. */
  #hasChanged(checks: readonly CheckRecord[]): boolean {
    return checks.some((check) => {
      const { certifier } = this.#lanes.at(getPartition(check)).order;
      const decision = certifier.decide(check);
      return decision.kind !== 'check' || decision.conflict !== undefined;
    });
  }

  /** No caller waits for the read any more. Returns whether it was here. */
  abandon(id: OperationId): boolean {
    const read = this.#reads.get(id);
    if (read === undefined) return false;
    this.#end(read, abandonedError(read.submission));
    return true;
  }

  /** Nothing can be ordered for now in the red log of a partition. */
  endWaiting(partition: number, error: CorrectableError): void {
    for (const read of this.#reads.values()) {
      const { checks, heldBy } = read;
      const isHeld = heldBy !== undefined && this.#globals.concerns(heldBy, partition);
      if (isHeld || checks.has(partition)) this.#end(read, error);
    }
  }

  #execute(read: PartitionRead): void {
    if (this.#reads.get(read.id) !== read) return;
    const { submission, home } = read;
    const run = this.#core.state.readInOrder(submission, home);
    const { name } = submission.plan;
    if (run.others.length > 0) this.#spread.add(name);
    else this.#spread.delete(name);
    const partitions = [home, ...run.others];
    const waiter = {
      isOver: () => this.#reads.get(read.id) !== read,
      run: () => this.#execute(read),
    };
    for (const partition of partitions) {
      read.heldBy = this.#globals.readsHeld(partition, run.reads, waiter);
      if (read.heldBy !== undefined) return;
    }

    if (run.others.length === 0) return this.#end(read, run.answer);

    for (const partition of partitions) {
      const { obstacle } = this.#lanes.at(partition).admission;
      if (obstacle !== undefined) return this.#end(read, obstacle);
    }
    this.#check(read, run, partitions);
  }

  #check(
    read: PartitionRead,
    { answer, reads: { names, ranges } }: ReadRun,
    partitions: readonly number[],
  ): void {
    const { state, options } = this.#core;
    read.attempt += 1;
    read.answer = answer;
    const inMain: CheckRecord = {
      kind: 'check',
      id: read.id,
      site: options.site,
      attempt: read.attempt,
      snapshot: state.takeSnapshot(),
      reads: [...names],
      ...(ranges.length > 0 && { ranges }),
    };
    for (const partition of partitions) {
      const record = partition === 0 ? inMain : { ...inMain, partition };
      read.checks.set(partition, record);
      this.#core.outputs.propose(record);
    }
  }

  #retry(read: PartitionRead, conflict: Conflict): void {
    this.#withdrawChecks(read);
    if (shouldRetry(this.#core, read, conflict)) this.#execute(read);
    else this.#end(read, conflictError(read));
  }

  #end(read: PartitionRead, answer: ReplyOrError | undefined): void {
    this.#reads.delete(read.id);
    this.#lanes.at(read.home).reads.executing.delete(read.id);
    this.#withdrawChecks(read);
    if (answer !== undefined) this.#core.reply(read.submission, 'strong', answer);
  }

  #withdrawChecks({ checks }: PartitionRead): void {
    for (const record of checks.values()) this.#core.outputs.withdraw(record);
    checks.clear();
  }
}

/** Whether the first one has all that the second one has. */
function isReadBy(all: ReadSet, { names, ranges }: ReadSet): boolean {
  for (const name of names) if (!all.names.has(name)) return false;
  return ranges.every((range) =>
    all.ranges.some(
      ({ table, field, from, before, upTo }) =>
        table === range.table &&
        field === range.field &&
        from === range.from &&
        before === range.before &&
        upTo === range.upTo,
    ),
  );
}
