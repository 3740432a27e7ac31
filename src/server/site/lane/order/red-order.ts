/**
 * One red log as this site takes it in: deliver, certify, wait at the gate, apply. The outcome of a
 * record follows from the log's prefix alone, so that all sites come to the same one. Nothing here
 * knows the site's own requests.
 */
import { Fifo } from '../../../service/collections/fifo.ts';
import type {
  GateItem,
  SavedMembers,
  SavedRedPath,
  Section,
} from '../../../service/records/checkpoint.ts';
import { getProposer } from '../global-records.ts';
import { getClient } from '../../core/operation-id.ts';
import { RED, type Origin, type Origins } from '../../../service/records/origin.ts';
import {
  getPartition,
  type ActivateRecord,
  type MemberRecord,
  type OpeningRecord,
  type OperationId,
  type RedOperation,
  type RedRecord,
} from '../../../service/records/records.ts';
import type { ReplyOrError } from '../../../service/records/reply.ts';
import { shareRetention, type CertifierLimits } from '../../../service/records/retention-limits.ts';
import { getStampOf, isCovered, type Vector } from '../../../service/records/vector.ts';
import type { SiteState } from '../../core/site-state.ts';
import { Certifier, CERTIFIER_LIMITS } from './certifier.ts';
import { findAwaitedStamps } from './global-gate.ts';
import { HoldTable, type RowPartitions } from './hold-table.ts';
import { PartitionCertifier } from './partition-certifier.ts';
import { RedOutcomes } from './red-outcomes.ts';

export interface RedOrderOptions {
  readonly origins: Origins;
  readonly partitions?: RowPartitions | undefined;
  readonly retentionLimits?: CertifierLimits | undefined;
}

/** The classes of the parts of a `RedOrder`. Tests replace some. */
export const ORDER_PARTS = { Certifier, PartitionCertifier, HoldTable };

/** The ordinal of the partition `main`. */
const MAIN = 0;

export class RedOrder {
  readonly certifier: Certifier;
  readonly outcomes: RedOutcomes;
  /** The holds of globals; `undefined` if there is one log only. */
  readonly holds: HoldTable | undefined;
  /** The ordinal of its partition, and the origin of its log. */
  readonly partition: number;
  readonly log: Origin;
  /**
   * The members as the prefix of this log has them: the table of the site for `main`, and the last
   * copy of it for another log. Two sites that have got as far here may have got unequally far in
   * `main`.
   */
  readonly members: Origins;
  readonly #origins: Origins;
  readonly #state: SiteState;
  #copied: SavedMembers | undefined;
  #activatedPlace = 0;
  /**
   * A record passes the gate once its blue dependencies, and those in other logs, are visible here,
   * so that no snapshot lacks them.
   */
  readonly #gate = new Fifo<GateItem>();
  #deliveredCount = 0;

  constructor(
    { origins, partitions, retentionLimits = CERTIFIER_LIMITS }: RedOrderOptions,
    state: SiteState,
    partition: number,
    parts: typeof ORDER_PARTS,
  ) {
    this.partition = partition;
    this.log = origins.logs[partition] ?? RED;
    this.#origins = origins;
    this.members = partition === MAIN ? origins : origins.copyFounders();
    this.#state = state;
    const limits = shareRetention(retentionLimits, origins.logs.length);
    // With one log there are no globals, and a checkpoint has no holds.
    const isOneOfSeveral = partitions !== undefined && origins.logs.length > 1;
    this.holds = isOneOfSeveral ? new parts.HoldTable(partitions, partition) : undefined;
    this.certifier =
      this.holds === undefined
        ? new parts.Certifier(limits, this.log)
        : new parts.PartitionCertifier(limits, this.log, this.holds);
    this.outcomes = new RedOutcomes(limits);
  }

  /** The place in `main` up to which this log has the members. It is 0 before the first copy. */
  get membersPlace(): number {
    return this.#copied?.place ?? 0;
  }

  /**
   * The place in `main` of the last activation of which this log has a copy. It is 0 before the
   * first one.
   */
  get activatedPlace(): number {
    return this.#activatedPlace;
  }

  /** Records that were taken from the log, from its beginning. */
  get deliveredCount(): number {
    return this.#deliveredCount;
  }

  /** The number of records that wait at the gate. */
  get waitingCount(): number {
    return this.#gate.size;
  }

  get isGateEmpty(): boolean {
    return this.#gate.isEmpty;
  }

  /** What waits at the gate. */
  get waiting(): readonly GateItem[] {
    return this.#gate.slice();
  }

  /** The record that passes the gate next, if there is one. */
  get next(): RedRecord | undefined {
    return this.#gate.first?.record;
  }

  get sections(): Readonly<Record<string, Section>> {
    const sections = { ...this.certifier.sections, ...this.outcomes.sections };
    if (this.partition === MAIN) return sections;
    return Object.fromEntries(
      Object.entries(sections).map(([name, section]) => [`${name}-${this.partition}`, section]),
    );
  }

  save(): SavedRedPath {
    return {
      deliveredCount: this.#deliveredCount,
      gate: this.#gate.slice(),
      certifier: this.certifier.save(),
      ...(this.#copied && { members: this.#copied }),
      ...(this.#activatedPlace > 0 && { activatedPlace: this.#activatedPlace }),
    };
  }

  load(saved: SavedRedPath): void {
    const { deliveredCount, gate, certifier, members, activatedPlace } = saved;
    if (members !== undefined) this.#setMembers(members);
    this.#activatedPlace = activatedPlace ?? 0;
    this.#deliveredCount = deliveredCount;
    for (const item of gate) this.#gate.push(item);
    this.certifier.load(certifier);
  }

  deliver(record: RedRecord): void {
    this.#deliveredCount += 1;
    // These count at once, whatever waits at the gate.
    if (record.kind === 'activate') return this.#deliverActivation(record);
    if (record.kind === 'member') return this.#deliverMembers(record);

    const decision = this.isVoid(record)
      ? ({ kind: 'void' } as const)
      : this.certifier.decide(record);
    this.#gate.push({ record, decision });
  }

  /**
   * The first copy of each place counts. The leader's site may append one again after a restart.
   */
  #deliverMembers(record: MemberRecord): void {
    if (record.action !== 'copy' || record.partition !== this.partition) return;
    if (record.place <= this.membersPlace) return;
    this.#setMembers({ place: record.place, origins: record.origins });
  }

  /** The record in `main` is no copy: it has no place. */
  #deliverActivation({ partition, place = 0 }: ActivateRecord): void {
    if (partition === this.partition && place > this.#activatedPlace) this.#activatedPlace = place;
  }

  #setMembers(members: SavedMembers): void {
    this.members.load(members.origins);
    this.#copied = members;
  }

  /** Takes the next record from the gate, if it may pass. */
  takePassable(): GateItem | undefined {
    const next = this.#gate.first;
    if (next === undefined || !this.mayPass(next.record)) return undefined;
    // With one log no record waits for another log.
    if (this.holds !== undefined && !this.#hasAwaited(next)) return undefined;
    return this.#gate.shift();
  }

  /** Applies an operation that commits, and returns its answer. */
  apply(operation: RedOperation, stamp: number): ReplyOrError {
    const { id, acknowledged } = operation;
    if (acknowledged !== undefined && acknowledged > 0)
      this.outcomes.expire(getClient(id), acknowledged);
    return this.#state.applyRed(operation, stamp);
  }

  /**
   * A record of a global that writes nothing here has passed: snapshots from now on count as taken
   * after it.
   */
  advance(stamp: number): void {
    this.#state.advanceRed(this.log, stamp);
  }

  findAwaitedStamps(
    ...passing: Parameters<typeof findAwaitedStamps>
  ): ReturnType<typeof findAwaitedStamps> {
    return findAwaitedStamps(...passing);
  }

  /** Whether the records of other logs are applied that it has to follow. */
  #hasAwaited({ record, decision }: GateItem): boolean {
    return this.findAwaitedStamps(record, decision).every(
      ([partition, stamp]) =>
        getStampOf(this.#state.stable, this.#origins.logs[partition] as Origin) >= stamp,
    );
  }

  /** Whether the record of this identifier waits at the gate. */
  isAtGate(id: OperationId): boolean {
    return this.#gate.slice().some(({ record }) => record.id === id);
  }

  /** Whether records of this site may still come, or wait at the gate. */
  mayHaveRecordsFrom(site: Origin): boolean {
    return (
      this.members.isMember(site) || this.#gate.slice().some(({ record }) => record.site === site)
    );
  }

  /**
   * A proposal of a closed site comes too late, and no site can have seen a record without an
   * origin. A record of another partition is in the wrong log.
   */
  isVoid(record: RedRecord): boolean {
    return (
      !this.members.isMember(getProposer(record)) ||
      getPartition(record) !== this.partition ||
      (record.kind === 'operation' && !this.#isKnown(record)) ||
      (record.kind === 'hold' && !this.#isKnown(record.operation)) ||
      (record.kind === 'opening' && !this.#hasHolds(record)) ||
      (record.kind === 'check' && !this.#isVector(record.snapshot))
    );
  }

  /** Whether its snapshot names no origin that is not known. A global needs several logs. */
  #isKnown({ snapshot, others }: RedOperation): boolean {
    const isGlobal = others !== undefined;
    return this.#isVector(snapshot) && !(isGlobal && this.holds === undefined);
  }

  /**
   * Whether holds can be restated here. They may name origins that this log has lost with its copy
   * of the members.
   */
  #hasHolds({ holds }: OpeningRecord): boolean {
    return holds.length === 0 || this.holds !== undefined;
  }

  /** Whether it names this log, and no origin that is not known. */
  #isVector({ length }: Vector): boolean {
    return length > this.log && length <= this.members.size;
  }

  /**
   * Whether the snapshot of a record is covered, without the entry of its own log. A cause in that
   * log was applied before the record was appended. So the gates of two logs never wait for each
   * other.
   */
  mayPass(record: RedRecord): boolean {
    // This log has the origin of a site that joins before `main` has it here.
    if (getProposer(record) >= this.#origins.size) return false;
    if (record.kind !== 'operation') return true;
    return isCovered(record.snapshot, this.#state.stable, this.log, this.#origins.finals);
  }
}
