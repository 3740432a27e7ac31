/**
 * Certification in one of several red logs. A global is certified in each log with rows of it: its
 * holds in the other logs, its record in its home. While a hold stands, what overlaps it is
 * rejected. So a global happens when its record is appended, in all its partitions (SDUR, DSN 2013,
 * without votes: each site has all logs).
 */
import type {
  CertificationDecision,
  Conflict,
} from '../../../service/records/certification-result.ts';
import type { Section } from '../../../service/records/checkpoint.ts';
import { getExecutionName, isGlobal } from '../global-records.ts';
import type { Origin } from '../../../service/records/origin.ts';
import type {
  AbortRecord,
  CheckRecord,
  ExecutionName,
  GlobalOperation,
  HoldRecord,
  OpeningRecord,
  RedOperation,
  RedRecord,
  ReleaseRecord,
} from '../../../service/records/records.ts';
import type { CertifierLimits } from '../../../service/records/retention-limits.ts';
import { Certifier, type CommittedExecution } from './certifier.ts';
import type { HoldTable } from './hold-table.ts';

const NOTHING = { effects: [], created: new Set<string>() } as const;

export class PartitionCertifier extends Certifier {
  readonly holds: HoldTable;

  constructor(limits: CertifierLimits, log: Origin, holds: HoldTable) {
    super(limits, log);
    this.holds = holds;
  }

  override get sections(): Readonly<Record<string, Section>> {
    return { ...super.sections, holds: this.holds };
  }

  override decide(record: RedRecord): CertificationDecision {
    switch (record.kind) {
      case 'hold':
        return this.#decideHold(record);
      case 'release':
        return this.#decideRelease(record);
      case 'abort':
        return this.#decideAbort(record);
      case 'opening':
        return this.#decideOpening(record);
      case 'operation':
        if (isGlobal(record)) return this.#decideGlobal(record);
        return super.decide(record);
      case 'check':
        return { kind: 'check', conflict: this.findCheckConflict(record) };
      case 'close':
      case 'marker':
      case 'member':
      case 'activate':
        return super.decide(record);
    }
  }

  override findConflict(operation: RedOperation): Conflict | undefined {
    return (
      this.holds.findOverlap(operation, getExecutionName(operation)) ??
      super.findConflict(operation)
    );
  }

  /** What a hold writes may be committed in its home already. */
  findCheckConflict(check: CheckRecord): Conflict | undefined {
    return this.holds.findOverlap({ ...check, effects: [] }) ?? this.findReadConflict(check);
  }

  /**
   * The end of an execution is forgotten with the window. So a record of a global whose snapshot is
   * older is rejected, also if it read nothing here. Otherwise a late copy would commit after its
   * holds have ended.
   */
  findGlobalConflict(operation: GlobalOperation): Conflict | undefined {
    if (this.isForgotten(operation.snapshot)) return { reason: 'window' };
    return this.findConflict(operation);
  }

  protected override onTrimmed(stamp: number): void {
    this.holds.forget(stamp);
  }

  /** Only the first hold of an execution counts. A copy may come late. */
  #decideHold({ operation }: HoldRecord): CertificationDecision {
    const execution = getExecutionName(operation);
    if (this.holds.isKnown(execution)) return { kind: 'void' };
    const conflict = this.findGlobalConflict(operation);
    const stamp = this.#mark(operation);
    if (conflict === undefined) {
      this.holds.add(operation, stamp);
      return { kind: 'grant', stamp };
    }
    this.holds.end(execution, 'refused', stamp);
    return { kind: 'refuse', stamp, conflict };
  }

  /** The release counts as the writing of the rows that were held. */
  #decideRelease(record: ReleaseRecord): CertificationDecision {
    const { execution } = record;
    const hold = this.holds.standing.get(execution);
    if (hold === undefined) return { kind: 'void' };
    const stamp =
      record.stamp === undefined
        ? this.#mark(hold.operation)
        : this.#write(hold.operation, record.stamp + 1);
    this.holds.end(execution, 'released', stamp);
    return { kind: 'release', stamp };
  }

  #decideAbort({ id, site, execution }: AbortRecord): CertificationDecision {
    if (this.holds.isKnown(execution)) return { kind: 'void' };
    const stamp = this.#mark({ id, site, attempt: 0, epoch: 0 });
    this.holds.end(execution, 'never', stamp);
    return { kind: 'abort', stamp };
  }

  /**
   * A hold with a later stamp than all of this log is lost. It was granted, and its global may have
   * committed, so it stands again whatever it meets here.
   */
  #decideOpening(record: OpeningRecord): CertificationDecision {
    const last = this.lastStamp;
    const stamp = this.open(record);
    const restated: ExecutionName[] = [];
    for (const { operation, stamp: named } of record.holds) {
      const execution = getExecutionName(operation);
      if (named <= last || this.holds.isKnown(execution)) continue;
      this.holds.add(operation, stamp);
      restated.push(execution);
    }
    return { kind: 'open', stamp, restated };
  }

  /**
   * The first of the record and the abort counts. A rejection is as final as an abort: its holds
   * end, and a copy of the record may come after what it met has gone.
   */
  #decideGlobal(operation: GlobalOperation): CertificationDecision {
    const execution = getExecutionName(operation);
    this.expire(operation);
    if (this.holds.isKnown(execution)) return { kind: 'void' };
    // The operation was closed, or another execution of it has committed.
    if (this.isDecided(operation.id)) {
      const stamp = this.#mark(operation);
      this.holds.end(execution, 'never', stamp);
      return { ...this.decideAgain(operation.id), stamp };
    }
    const conflict = this.findGlobalConflict(operation);
    if (conflict !== undefined) {
      const stamp = this.#mark(operation);
      this.holds.end(execution, 'never', stamp);
      return { kind: 'reject', conflict, stamp };
    }
    const stamps = (operation.holds ?? []).map(([, stamp]) => stamp + 1);
    const stamp = this.#write(operation, Math.max(operation.clock, ...stamps));
    this.outcomes.set(operation.id, { stamp });
    this.holds.end(execution, 'committed', stamp);
    return { kind: 'commit', stamp };
  }

  /** Takes a stamp, so that the window remembers the execution. */
  #mark({ id, site, attempt, epoch }: CommittedExecution): number {
    return this.enter({ ...NOTHING, by: { id, site, attempt, epoch } }, 0);
  }

  #write(operation: GlobalOperation, least: number): number {
    const { id, site, attempt, epoch } = operation;
    const { effects, created } = this.holds.getFootprint(operation);
    const by = { id, site, attempt, epoch };
    return this.enter({ effects, created, by }, least);
  }
}
