/**
 * One red log as this site takes it in: deliver, certify, wait at the gate,
 * apply. The outcome of a record follows from the log's prefix alone, so that
 * all sites come to the same one. Nothing here knows the site's own requests.
 */
import { Fifo } from '../../../collections/fifo.ts';
import type {
  GateItem,
  SavedRedPath,
  Section,
} from '../../../records/checkpoint.ts';
import { getClient } from '../../../records/operation-id.ts';
import { RED, type Origin, type Origins } from '../../../records/origin.ts';
import type {
  OperationId,
  RedOperation,
  RedRecord,
} from '../../../records/records.ts';
import type { ReplyOrError } from '../../../records/reply.ts';
import type { CertifierLimits } from '../../../records/retention-limits.ts';
import { isCovered } from '../../../records/vector.ts';
import type { SiteState } from '../../core/site-state.ts';
import { Certifier } from './certifier.ts';
import { RedOutcomes } from './red-outcomes.ts';

export interface RedOrderOptions {
  readonly origins: Origins;
  readonly retentionLimits?: CertifierLimits | undefined;
}

export class RedOrder {
  readonly certifier: Certifier;
  readonly outcomes: RedOutcomes;
  readonly #origins: Origins;
  readonly #state: SiteState;
  /**
   * A record passes the gate once its blue dependencies are visible here, so
   * that no snapshot lacks them.
   */
  readonly #gate = new Fifo<GateItem>();
  #deliveredCount = 0;

  constructor(
    { origins, retentionLimits }: RedOrderOptions,
    state: SiteState,
    certifier: Certifier = new Certifier(retentionLimits),
  ) {
    this.#origins = origins;
    this.#state = state;
    this.certifier = certifier;
    this.outcomes = new RedOutcomes(retentionLimits);
  }

  /** Records that were taken from the log, from its beginning. */
  get deliveredCount(): number {
    return this.#deliveredCount;
  }

  get isGateEmpty(): boolean {
    return this.#gate.isEmpty;
  }

  get sections(): Readonly<Record<string, Section>> {
    return { ...this.certifier.sections, ...this.outcomes.sections };
  }

  save(): SavedRedPath {
    return {
      deliveredCount: this.#deliveredCount,
      gate: this.#gate.slice(),
      certifier: this.certifier.save(),
    };
  }

  load({ deliveredCount, gate, certifier }: SavedRedPath): void {
    this.#deliveredCount = deliveredCount;
    for (const item of gate) this.#gate.push(item);
    this.certifier.load(certifier);
  }

  deliver(record: RedRecord): void {
    this.#deliveredCount += 1;
    // These count at once, whatever waits at the gate.
    if (record.kind === 'member' || record.kind === 'activate') return;

    const decision = this.isVoid(record)
      ? ({ kind: 'void' } as const)
      : this.certifier.decide(record);
    this.#gate.push({ record, decision });
  }

  /** Takes the next record from the gate, if it may pass. */
  takePassable(): GateItem | undefined {
    const next = this.#gate.first;
    if (next === undefined || !this.mayPass(next.record)) return undefined;
    return this.#gate.shift();
  }

  /** Applies an operation that commits, and returns its answer. */
  apply(operation: RedOperation, stamp: number): ReplyOrError {
    const { id, acknowledged } = operation;
    if (acknowledged !== undefined && acknowledged > 0)
      this.outcomes.expire(getClient(id), acknowledged);
    return this.#state.applyRed(operation, stamp);
  }

  /** Whether the record of this identifier waits at the gate. */
  isAtGate(id: OperationId): boolean {
    return this.#gate.slice().some(({ record }) => record.id === id);
  }

  /** Whether records that this site has proposed wait at the gate. */
  hasRecordsFrom(site: Origin): boolean {
    return this.#gate.slice().some(({ record }) => record.site === site);
  }

  /**
   * A proposal of a closed site comes too late, and no site can have seen a
   * record without an origin.
   */
  protected isVoid(record: RedRecord): boolean {
    return (
      !this.#origins.isMember(record.site) ||
      (record.kind === 'operation' &&
        record.snapshot.length > this.#origins.size)
    );
  }

  protected mayPass(record: RedRecord): boolean {
    if (record.kind !== 'operation') return true;
    return isCovered(
      record.snapshot,
      this.#state.stable,
      RED,
      this.#origins.finals,
    );
  }
}
