/**
 * Certification of the red operations of one partition. It is a function of the prefix of its red
 * log alone, so that every site decides alike without messages (deferred update replication, SDUR,
 * DSN 2013; RedBlue, OSDI 2012, §6.1). An operation commits if no red operation that committed
 * after its snapshot has written what it read. The operations that it depends on are an exception:
 * they must have committed in the executions that it names. Commit stamps grow with the log.
 * Rejected and repeated operations get none.
 */
import { RED, type Origin } from '../../../service/records/origin.ts';
import { Fifo } from '../../../service/collections/fifo.ts';
import {
  RowChanges,
  type SavedRow,
  type Section,
  type SectionRows,
} from '../../../service/records/checkpoint.ts';
import type { Effect } from '../../../service/records/effect.ts';
import { EXPIRED, ID_TABLE_LIMITS, IdTable } from '../../parts/lookups/id-table.ts';
import type { CertifierLimits } from '../../../service/records/retention-limits.ts';
import type { ReadRange } from '../../../service/records/read-range.ts';
import { getClient } from '../../core/operation-id.ts';
import { isRangeChanged, findWrittenNames } from '../../../service/generator/read-set.ts';
import { measurePlainData } from '../../../../values/estimate-bytes.ts';
import type {
  Execution,
  OpeningRecord,
  OperationId,
  RedOperation,
  RedRecord,
} from '../../../service/records/records.ts';
import { getStampOf, type Vector } from '../../../service/records/vector.ts';
import type {
  Conflict,
  CertificationDecision,
  OperationOutcome,
  RepeatedDecision,
} from '../../../service/records/certification-result.ts';

export const CERTIFIER_LIMITS: CertifierLimits = {
  maxWindowCommits: 10_000,
  maxWindowBytes: 256 << 20,
  maxOutcomes: ID_TABLE_LIMITS,
};

/** What a commit takes in memory beside its effects, and the name of what it has written. */
const COMMIT_BYTES = 400;
const NAME_BYTES = 120;

/** The execution of an operation that has committed. */
export interface CommittedExecution {
  readonly id: OperationId;
  readonly site: Origin;
  readonly attempt: number;
  readonly epoch: number;
  readonly dependencies?: readonly Execution[];
}

/** What an execution has written, and the names of rows that are new by it. */
export interface Writing {
  readonly by: CommittedExecution;
  readonly effects: readonly Effect[];
  readonly created: ReadonlySet<string>;
}

/** What was read, and on which snapshot. */
export type CertifiedReads = Pick<RedOperation, 'reads' | 'ranges' | 'snapshot'>;

interface CommitRecord extends Writing {
  readonly stamp: number;
  readonly names: readonly string[];
  readonly bytes: number;
}

type SavedCommit = readonly [
  effects: readonly Effect[],
  created: readonly string[],
  by: CommittedExecution,
];

const NO_NAMES: ReadonlySet<string> = new Set();

/** The state that the red log's prefix determines. */
export class Certifier implements Section {
  readonly #limits: CertifierLimits;
  readonly #log: Origin;
  readonly #lastWrite = new Map<string, number>();
  readonly outcomes: IdTable<OperationOutcome>;
  readonly #window = new Fifo<CommitRecord>();
  #windowBytes = 0;
  /** Snapshots below this stamp are older than the window. */
  #windowStart = 0;
  #lastStamp = 0;
  readonly #changes = new RowChanges<number>({
    listKeys: () => this.#window.slice().map(({ stamp }) => stamp),
    save: (stamp) => this.#savedCommit(stamp),
  });

  /** @param log the origin of the red log. Default: that of `main` */
  constructor(limits: CertifierLimits = CERTIFIER_LIMITS, log: Origin = RED) {
    this.#limits = limits;
    this.#log = log;
    this.outcomes = new IdTable(limits.maxOutcomes);
  }

  /** Returns how the operation ended, if it did and has not expired. */
  getOutcome(id: OperationId): OperationOutcome | typeof EXPIRED | undefined {
    return this.outcomes.get(id);
  }

  decide(record: RedRecord): CertificationDecision {
    if (record.kind === 'opening') return { kind: 'open', stamp: this.open(record), restated: [] };
    if (record.kind !== 'operation' && record.kind !== 'close') return { kind: 'marker' };
    if (record.kind === 'operation') this.expire(record);
    if (this.isDecided(record.id)) return this.decideAgain(record.id);
    if (record.kind === 'close') {
      this.outcomes.set(record.id, 'conflict');
      return { kind: 'closed' };
    }
    const conflict = this.findConflict(record);
    if (conflict !== undefined) return { kind: 'reject', conflict };
    return { kind: 'commit', stamp: this.commit(record) };
  }

  /** Every record names the operations for which its client sends no retry any more. */
  protected expire({ id, acknowledged }: RedOperation): void {
    if (acknowledged !== undefined && acknowledged > 0)
      this.outcomes.expire(getClient(id), acknowledged);
  }

  /** About how many bytes the window takes in memory. */
  get windowBytes(): number {
    return this.#windowBytes + COMMIT_BYTES * this.#window.size + NAME_BYTES * this.#lastWrite.size;
  }

  get sections(): Readonly<Record<string, Section>> {
    return { commits: this, ...this.outcomes.sections('endings') };
  }

  /** The small part of the state. The window is saved as a section. */
  save(): unknown {
    return { lastStamp: this.#lastStamp, windowStart: this.#windowStart };
  }

  load(saved: unknown): void {
    const { lastStamp, windowStart } = saved as {
      readonly lastStamp: number;
      readonly windowStart: number;
    };
    this.#lastStamp = lastStamp;
    this.#windowStart = windowStart;
  }

  /** As a section: the commits of the window, by their stamps. */
  changeAll(): void {
    this.#changes.changeAll();
  }

  closeChanges(): void {
    this.#changes.closeChanges();
  }

  takeClosed(max: number): SavedRow[] {
    return this.#changes.takeClosed(max).map(([stamp, commit]) => [String(stamp), commit]);
  }

  restore(rows: SectionRows): void {
    const commits = [...rows].map(([stamp, saved]) => {
      const [effects, created, by] = saved as SavedCommit;
      return createCommit(Number(stamp), effects, new Set(created), by);
    });
    for (const commit of commits.toSorted((a, b) => a.stamp - b.stamp)) this.#enterWindow(commit);
  }

  /** The last stamp that the log has given. */
  protected get lastStamp(): number {
    return this.#lastStamp;
  }

  /** Whether commits after the snapshot are not known any more. */
  protected isForgotten(snapshot: Vector): boolean {
    return getStampOf(snapshot, this.#log) < this.#windowStart;
  }

  isDecided(id: OperationId): boolean {
    return this.outcomes.get(id) !== undefined;
  }

  /** Decides about a record whose operation has ended by an earlier one. */
  protected decideAgain(id: OperationId): RepeatedDecision {
    return { kind: this.outcomes.get(id) === EXPIRED ? 'expired' : 'void' };
  }

  findConflict(operation: RedOperation): Conflict | undefined {
    const { dependencies } = operation;
    return dependencies === undefined
      ? this.findReadConflict(operation)
      : this.#findDependencyConflict(operation, dependencies);
  }

  /** Returns what has changed since the snapshot of what was read on it. */
  protected findReadConflict({
    reads,
    ranges = [],
    snapshot,
  }: CertifiedReads): Conflict | undefined {
    if (reads.length === 0 && ranges.length === 0) return undefined;
    const read = getStampOf(snapshot, this.#log);
    if (this.isForgotten(snapshot)) return { reason: 'window' };
    const conflicting = reads.filter((item) => (this.#lastWrite.get(item) ?? 0) > read);
    if (conflicting.length > 0) return toNameConflict(conflicting);
    const range = ranges.find((item) => this.#hasChanged(item, read));
    return range && { reason: 'range', range };
  }

  /**
   * Returns the conflict of an operation that depends on others. It has seen those, and what they
   * depended on too: if one has committed, so have these. The list is read from its end, so that
   * all of them are known in time.
   */
  #findDependencyConflict(
    operation: RedOperation,
    after: readonly Execution[],
  ): Conflict | undefined {
    const { reads, ranges = [], snapshot } = operation;
    const read = getStampOf(snapshot, this.#log);
    if (this.isForgotten(snapshot)) return { reason: 'window' };
    const written = reads.filter((item) => (this.#lastWrite.get(item) ?? 0) > read);
    const missing = new Map(after);
    const seen = new Map(after);
    const conflicting = new Set<string>();
    let range: ReadRange | undefined;
    for (let index = this.#window.size - 1; index >= 0; index -= 1) {
      const { stamp, by, names, effects, created } = this.#window.at(index) as CommitRecord;
      if (stamp <= read) break;
      if (seen.get(by.id) === by.attempt && this.isSameStart(by, operation)) {
        missing.delete(by.id);
        for (const [id, attempt] of by.dependencies ?? []) seen.set(id, attempt);
        continue;
      }
      for (const entry of written) if (names.includes(entry)) conflicting.add(entry);
      if (conflicting.size === 0)
        range ??= ranges.find((item) =>
          effects.some((effect) => isRangeChanged(item, effect, created)),
        );
    }
    const conflict =
      toNameConflict(written.filter((item) => conflicting.has(item))) ??
      (range && { reason: 'range', range });
    return this.findUncommitted(missing) ?? conflict;
  }

  /**
   * Another start of the site, or another site, may have executed the operation as often, and with
   * other effects.
   */
  isSameStart(by: CommittedExecution, { site, epoch }: RedOperation): boolean {
    return by.site === site && by.epoch === epoch;
  }

  /** Returns the operation that this one depended on and that has not committed. */
  findUncommitted(missing: ReadonlyMap<OperationId, number>): Conflict | undefined {
    const [first] = missing.keys();
    return first === undefined ? undefined : { reason: 'predecessor', id: first };
  }

  /** Whether a commit after `read` has added a row to the interval or removed one. */
  #hasChanged(range: ReadRange, read: number): boolean {
    if ((this.#lastWrite.get(range.table) ?? 0) <= read && range.field === undefined) return false;
    for (let index = this.#window.size - 1; index >= 0; index -= 1) {
      const { stamp, effects, created } = this.#window.at(index) as CommitRecord;
      if (stamp <= read) return false;
      if (effects.some((effect) => isRangeChanged(range, effect, created))) return true;
    }
    return false;
  }

  /** Takes a stamp that is not below what the lost end of the log had. */
  protected open({ id, site, stamp }: OpeningRecord): number {
    const by = { id, site, attempt: 0, epoch: 0 };
    return this.enter({ effects: [], created: NO_NAMES, by }, stamp);
  }

  protected commit(record: RedOperation): number {
    const { effects, id, site, epoch, attempt, dependencies } = record;
    const created = record.created === undefined ? NO_NAMES : new Set(record.created);
    // These are literals because copies of objects cost several times more, and this runs for every
    // record.
    const by =
      dependencies === undefined
        ? { id, site, attempt, epoch }
        : { id, site, attempt, dependencies, epoch };
    const stamp = this.enter({ effects, created, by }, record.clock);
    this.outcomes.set(record.id, { stamp });
    return stamp;
  }

  /** Gives the next stamp, at least `least`, to what was written, and keeps that in the window. */
  protected enter({ effects, created, by }: Writing, least: number): number {
    const stamp = Math.max(this.#lastStamp + 1, least);
    this.#lastStamp = stamp;
    this.#changes.note(stamp);
    this.#enterWindow(createCommit(stamp, effects, created, by));
    this.#trimWindow();
    return stamp;
  }

  /** Stamps up to this one have left the window. */
  protected onTrimmed?(stamp: number): void;

  #enterWindow(commit: CommitRecord): void {
    for (const name of commit.names) this.#lastWrite.set(name, commit.stamp);
    this.#window.push(commit);
    this.#windowBytes += commit.bytes;
  }

  /**
   * Returns what a commit of the window wrote, as it is saved. It is `undefined` if the commit has
   * left the window.
   */
  #savedCommit(stamp: number): SavedCommit | undefined {
    if (stamp <= this.#windowStart) return undefined;
    const commit = this.#window.at(this.#window.findIndex((item) => item.stamp >= stamp));
    if (commit?.stamp !== stamp) return undefined;
    const { effects, created, by } = commit;
    return [effects, [...created], by];
  }

  #trimWindow(): void {
    const { maxWindowCommits, maxWindowBytes = Infinity } = this.#limits;
    while (
      this.#window.size > maxWindowCommits ||
      (this.#windowBytes > maxWindowBytes && this.#window.size > 1)
    ) {
      const oldest = this.#window.first as CommitRecord;
      this.#changes.note(oldest.stamp);
      this.#window.shift();
      this.#windowBytes -= oldest.bytes;
      this.#windowStart = oldest.stamp;
      this.onTrimmed?.(oldest.stamp);
      for (const name of oldest.names)
        if (this.#lastWrite.get(name) === oldest.stamp) this.#lastWrite.delete(name);
    }
  }
}

/**
 * Returns all names that were read and have changed. A rejected operation may need more than one.
 */
function toNameConflict([name, ...others]: readonly string[]): Conflict | undefined {
  if (name === undefined) return undefined;
  return others.length === 0 ? { reason: 'name', name } : { reason: 'name', name, others };
}

function createCommit(
  stamp: number,
  effects: readonly Effect[],
  created: ReadonlySet<string>,
  by: CommittedExecution,
): CommitRecord {
  const bytes =
    measurePlainData(effects) +
    (by.dependencies === undefined ? 0 : measurePlainData(by.dependencies));
  return {
    stamp,
    by,
    names: findWrittenNames(effects, created),
    effects,
    created,
    bytes,
  };
}
