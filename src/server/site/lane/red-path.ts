/**
 * Red operations at one site (RedBlue, OSDI 2012, §6.1, with certification instead of a serial
 * number): the red log of each partition as this site takes it in (`order/`), and the requests that
 * the site itself has (`requests/`).
 */
import type { Settling, SitePart } from '../core/site-part.ts';
import type { Section } from '../../service/records/checkpoint.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import type {
  CertificationDecision,
  Conflict,
} from '../../service/records/certification-result.ts';
import type { GateItem, SavedCommittedGlobal } from '../../service/records/checkpoint.ts';
import {
  abandonedError,
  expiredError,
  replicaBehindError,
  toError,
  toFailure,
} from '../../service/records/failures.ts';
import type { GeneratorOutcome } from '../../service/generator/generator-runner.ts';
import type { Origin } from '../../service/records/origin.ts';
import {
  getPartition,
  type BlueOperation,
  type CheckRecord,
  type CloseRecord,
  type OperationId,
  type RedOperation,
  type RedRecord,
} from '../../service/records/records.ts';
import type { ReplyOrError } from '../../service/records/reply.ts';
import type { SubmissionIdentity, Submission } from '../core/submissions.ts';
import type { SiteCore } from '../core/site-core.ts';
import { EXPIRED } from '../parts/lookups/id-table.ts';
import { ORDER_PARTS, RedOrder } from './order/red-order.ts';
import { isClientFull, type RedAdmission } from './requests/red-admission.ts';
import { Executions } from './requests/executions.ts';
import { GlobalCoordinator } from './requests/global-coordinator.ts';
import { GlobalRequests } from './requests/global-requests.ts';
import { PartitionReads } from './requests/partition-reads.ts';
import { Lane, Lanes } from './lane.ts';
import { OutcomeWaiters } from './requests/outcome-waiters.ts';
import { Pipeline } from './requests/pipeline.ts';
import { Proposals } from './requests/proposals.ts';
import { RedRequests, type RedRequest, type StartOptions } from './requests/red-requests.ts';
import { getStampOf } from '../../service/records/vector.ts';
import { conflictError } from './requests/retry-policy.ts';
import { RequestWithdrawals } from './requests/request-withdrawals.ts';

/** The parts of a submission that decide its home. */
export type Homed = Pick<Submission, 'plan' | 'args'>;

/** The classes of the parts of a `RedPath`, and of their parts. Tests replace some. */
export const RED_PARTS = {
  RedOrder,
  ...ORDER_PARTS,
  Pipeline,
  GlobalRequests,
  GlobalCoordinator,
};

/** Another red log did not grant a hold of a global in time. */
const ABORTED: Conflict = { reason: 'aborted' };

export class RedPath implements SitePart, Settling {
  /** Whether a record waits at a gate. */
  isDue = true;
  readonly lanes: Lanes;
  readonly proposals: Proposals;
  readonly executions: Executions;
  readonly #core: SiteCore;
  readonly #requests = new RedRequests();
  readonly #withdrawals: RequestWithdrawals;
  readonly #outcomeWaiters: OutcomeWaiters;
  /** `undefined` if there is one lane only. */
  readonly #globals: GlobalRequests | undefined;
  /** `undefined` if there is one lane only. */
  readonly #partitionReads: PartitionReads | undefined;

  constructor(core: SiteCore, parts: typeof RED_PARTS) {
    this.#core = core;
    const requests = this.#requests;
    const { logs } = core.options.origins;
    const share = 1 / logs.length;
    const createLane = (partition: number): Lane =>
      new Lane(core, {
        order: new parts.RedOrder(core.options, core.state, partition, parts),
        pipeline: new parts.Pipeline(core),
        requests,
        share,
      });
    const others = [...logs.keys()].slice(1);
    this.lanes = new Lanes(createLane(0), others.map(createLane));
    const { lanes } = this;
    this.proposals = new Proposals(core, requests);
    const tables = lanes.all.flatMap(({ order }) => order.holds ?? []);
    this.#globals =
      tables.length === lanes.count
        ? new parts.GlobalRequests(core, tables, lanes, parts.GlobalCoordinator)
        : undefined;
    this.#partitionReads = this.#globals && new PartitionReads(core, this.#globals, lanes);
    const shared = { requests, proposals: this.proposals, lanes, globals: this.#globals };
    this.executions = new Executions(core, shared, (request) => this.close(request));
    this.#withdrawals = new RequestWithdrawals(core, { ...shared, executions: this.executions });
    const reply: SiteCore['reply'] = (...parts) => core.reply(...parts);
    this.#outcomeWaiters = new OutcomeWaiters(reply);
  }

  /** Returns the ordinal of the partition that orders a submission. */
  homeOf({ plan, args }: Homed): number {
    return this.#core.options.partitions?.homeOf(plan, args) ?? 0;
  }

  /** Whether red operations whose home is that of the submission may begin. */
  admissionOf(submission: Homed): RedAdmission {
    return this.lanes.at(this.homeOf(submission)).admission;
  }

  get isBusy(): boolean {
    if (this.#requests.size > 0 || this.isDue) return true;
    // This runs often. A callback would be allocated each time.
    for (const { reads } of this.lanes.all) if (reads.waitedCount > 0) return true;
    return false;
  }

  /** The number of red operations of this site that have not ended. */
  get requestCount(): number {
    return this.#requests.size;
  }

  /**
   * Red operations of this site that have not ended: their identifiers, and the names of executions
   * whose holds stand.
   */
  get inFlight(): Iterable<string> {
    const held = this.#globals?.ownHeld ?? [];
    return [...this.#requests.ids, ...this.proposals.ownIds, ...held];
  }

  /** @param item one of `inFlight` */
  isInFlight(item: string): boolean {
    return (
      this.#requests.get(item) !== undefined ||
      this.proposals.ownIds.has(item) ||
      this.#globals?.isHeld(item) === true
    );
  }

  /** Whether the operation is in flight here, or has ended. */
  hasOperation(id: OperationId, submission: Homed): boolean {
    return (
      this.#requests.get(id) !== undefined ||
      this.#orderOf(submission).certifier.getOutcome(id) !== undefined
    );
  }

  /** Whether one more red operation would cost its client one that it may still retry. */
  isFullFor(identity: SubmissionIdentity, submission: Homed): boolean {
    const { certifier, outcomes } = this.#orderOf(submission);
    return isClientFull([certifier.outcomes, outcomes.table], this.#requests, identity);
  }

  /**
   * Begins a red operation: it gets a preview, and enters the log once it has a slot and is known
   * to be red for ever.
   */
  begin(
    id: OperationId,
    submission: Submission,
    outcome: GeneratorOutcome,
    { isUndecided, rightsWaitedMs = 0 }: StartOptions,
  ): void {
    const home = this.homeOf(submission);
    const request = this.#requests.begin(id, submission, home);
    request.blockers = isUndecided ? 2 : 1;
    request.rightsWaitedMs = rightsWaitedMs;
    this.executions.begin(request, outcome);
  }

  /**
   * The hand-over of the operation that was begun by this submission is synced. The operation may
   * have been given up since.
   */
  release(id: OperationId, serial: number): void {
    const request = this.#requests.get(id);
    if (request?.submission.serial === serial) this.executions.release(request);
  }

  /** Ends an operation that cannot be executed, also for later retries. */
  fail(id: OperationId, submission: Submission, failure: CorrectableError): void {
    const home = this.homeOf(submission);
    const request = this.#requests.begin(id, submission, home);
    request.failure = failure;
    this.close(request);
  }

  /** Answers a submission of an operation that is known here. Returns whether it is known. */
  join(id: OperationId, submission: Submission): boolean {
    const request = this.#requests.get(id);
    if (request !== undefined) {
      this.#withdrawals.replyLeft(this.#requests.join(request, submission), request.partition);
      return true;
    }
    const order = this.#orderOf(submission);
    const ending = order.certifier.getOutcome(id);
    if (ending === undefined) return false;
    if (ending === EXPIRED) this.#core.reply(submission, 'strong', expiredError());
    else this.#replyEnded(order, id, submission);
    return true;
  }

  /** A strong read is a marker in the red order, and is executed there. */
  read(id: OperationId, submission: Submission): void {
    const { site } = this.#core.options;
    const home = this.homeOf(submission);
    if (this.#partitionReads?.tryBeginEarly(id, submission, home) === true) return;
    this.proposals.propose(this.lanes.at(home).reads.begin(id, site, submission));
  }

  /**
   * Proposes an operation of the site itself on one row, without a caller. If there is no room, or
   * if it is rejected, it is dropped.
   */
  proposeOwn(id: OperationId, outcome: GeneratorOutcome): void {
    const { partitions } = this.#core.options;
    const [row] = outcome.choice?.effects ?? [];
    const home = (row && partitions?.ofRow(row.table, row.key)) ?? 0;
    if (!this.lanes.at(home).admission.isFull) this.proposals.proposeOwn(id, outcome, home);
  }

  /**
   * Returns whether a marker of this start has passed in the red log of a partition. Then no
   * proposal of an earlier start is to come there. Proposes the marker once.
   */
  ensureMarkerPassed(marker: OperationId, partition: number): boolean {
    return this.proposals.ensureMarkerPassed(marker, partition);
  }

  /** The same for the red logs of all partitions. */
  ensureMarkersPassed(marker: OperationId): boolean {
    let areAll = true;
    for (const { partition } of this.lanes.all)
      if (!this.ensureMarkerPassed(marker, partition)) areAll = false;
    return areAll;
  }

  /**
   * Whether no execution of an earlier start of this site can commit any more. Its holds may still
   * come to any log, and while one stands, another site may end its global. Proposes the markers
   * once.
   */
  areEarlierStartsOver(id: OperationId, marker: OperationId): boolean {
    return this.ensureMarkersPassed(marker) && this.#globals?.hasHolds(id) !== true;
  }

  get sections(): Readonly<Record<string, Section>> {
    return Object.assign({}, ...this.lanes.all.map(({ order }) => order.sections)) as Record<
      string,
      Section
    >;
  }

  /** Takes a record of the red log of a lane. It waits at the gate of the lane. */
  deliver({ order }: Lane, record: RedRecord): void {
    order.deliver(record);
    if (!order.isGateEmpty) this.isDue = true;
  }

  /**
   * No caller waits for the submission any more. If it was not sent to the leader, it leaves no
   * trace.
   */
  abandon(id: OperationId, serial: number): void {
    for (const { reads } of this.lanes.all) {
      const read = reads.abandon(id);
      if (read === undefined) continue;
      const { submission, record } = read;
      this.#core.outputs.withdraw(record);
      this.#core.reply(submission, 'strong', abandonedError(submission));
      return;
    }
    if (this.#partitionReads?.abandon(id) === true) return;
    const request = this.#requests.findBySubmission(serial);
    if (request === undefined) return;
    if (request.waiters.length > 1)
      this.#withdrawals.replyLeft(this.#requests.removeWaiter(request, serial), request.partition);
    else this.#withdrawals.withdraw(request);
  }

  /**
   * Nothing can be ordered for now in the red log of a partition. Reads, and operations that were
   * not proposed, end with nothing done, also those of other partitions that wait for it. With
   * `endsProposed` the callers of all others are notified that the outcome is unknown.
   */
  endWaiting(endsProposed: boolean, partition: number): void {
    const { reads, admission } = this.lanes.at(partition);
    for (const { submission, record } of reads.takeAll()) {
      this.#core.outputs.withdraw(record);
      this.#core.reply(submission, 'strong', admission.fullError());
    }
    this.#partitionReads?.endWaiting(partition, admission.fullError());
    this.#withdrawals.endBlocked(endsProposed, partition);
  }

  /**
   * The record may have left this site. Only the red order decides about it now, and no caller
   * waits for that.
   */
  onNotWithdrawn({ id }: RedRecord): void {
    const request = this.#requests.get(id);
    if (request !== undefined) this.#withdrawals.replyAllLeft(request);
  }

  /** The record has not left this site, and never will. */
  onWithdrawn(record: RedRecord): void {
    const { id } = record;
    this.lanes.at(getPartition(record)).reads.end(id);
    const request = this.#requests.get(id);
    if (request !== undefined) this.#withdrawals.drop(request);
  }

  /** Takes all records from the gate that may pass. Returns whether there were any. */
  settle(): boolean {
    let moved = false;
    let isWaiting = false;
    for (const { order } of this.lanes.all) {
      for (let next = order.takePassable(); next !== undefined; next = order.takePassable()) {
        this.#pass(order, next);
        moved = true;
      }
      if (!order.isGateEmpty) isWaiting = true;
    }
    this.isDue = isWaiting;
    return moved;
  }

  /** A blue operation was applied. */
  onBlueApplied(operation: BlueOperation): void {
    for (const { pipeline } of this.lanes.all) pipeline.onChanged(operation.effects);
    this.#globals?.onBlueApplied(operation);
  }

  /** Whether a record at a gate waits for operations of another log. */
  waitsForLog(log: Origin): boolean {
    const applied = getStampOf(this.#core.state.stable, log);
    return this.lanes.all.some(
      ({ order: { next, log: own } }) =>
        own !== log && next?.kind === 'operation' && getStampOf(next.snapshot, log) > applied,
    );
  }

  #orderOf(submission: Homed): RedOrder {
    return this.lanes.at(this.homeOf(submission)).order;
  }

  #pass(order: RedOrder, { record, decision }: GateItem): void {
    const { id } = record;
    this.proposals.onDecided(id);
    if (decision.kind !== 'commit' && 'stamp' in decision && decision.stamp !== undefined)
      order.advance(decision.stamp);
    this.#passGlobal(order, record, decision);
    switch (decision.kind) {
      case 'commit':
        return this.#commit(order, record as RedOperation, decision.stamp);
      case 'reject':
        return this.#reject(record as RedOperation, decision.conflict);
      case 'closed':
        return this.end(order, id, toError((record as CloseRecord).failure));
      case 'void':
        return this.#endVoid(order, id);
      case 'expired':
        return this.end(order, id, expiredError());
      case 'marker':
        return this.#passMarker(order, id);
      case 'check':
        return this.#partitionReads?.onChecked(record as CheckRecord, decision.conflict);
      // All that these need is done already.
      case 'grant':
      case 'refuse':
      case 'release':
      case 'abort':
      case 'open':
        return undefined;
    }
  }

  /** With one log there are no globals. */
  #passGlobal(order: RedOrder, record: RedRecord, decision: CertificationDecision): void {
    if (this.#globals === undefined) return;
    const ended = this.#globals.onPassed(order, record, decision);
    const passed = { partition: order.partition, record, decision, ended };
    this.#core.options.observer?.onRedPassed?.(passed);
    const isRefused = decision.kind === 'refuse' || decision.kind === 'abort';
    // The record of the operation itself ends or rejects the request.
    if (ended === undefined || !isRefused) return;
    const conflict = decision.kind === 'refuse' ? decision.conflict : ABORTED;
    this.#reject(ended, conflict);
  }

  #commit(order: RedOrder, operation: RedOperation, stamp: number): void {
    const { rights, options, state } = this.#core;
    this.executions.onCommitting(operation);
    const answer = order.apply(operation, stamp);
    rights?.onApplied(operation);
    options.observer?.onApplied?.(operation, state);
    this.end(order, operation.id, answer, operation.site);
  }

  #reject(operation: RedOperation, conflict: Conflict | undefined): void {
    this.#core.options.observer?.onRejected?.(operation, conflict);
    this.executions.onRejected(operation, conflict);
  }

  #endVoid(order: RedOrder, id: OperationId): void {
    const answer = order.outcomes.get(id);
    if (answer === undefined || answer === EXPIRED) return;
    if (this.#requests.get(id) !== undefined) this.end(order, id, answer);
  }

  #passMarker({ partition }: RedOrder, id: OperationId): void {
    this.proposals.onMarker(id, partition);
    const submission = this.lanes.at(partition).reads.end(id);
    if (submission !== undefined) this.replyToRead(id, submission);
  }

  replyToRead(id: OperationId, submission: Submission): void {
    const { coverage, nowMs, options } = this.#core;
    coverage.runWhenCovered(submission.sessionVector, {
      untilMs: nowMs + options.sessionTimeoutMs,
      run: () => this.#readAtPlace(id, submission),
      late: () => this.#core.reply(submission, 'strong', replicaBehindError(options)),
      submission,
    });
  }

  #readAtPlace(id: OperationId, submission: Submission): void {
    if (this.#partitionReads !== undefined) {
      const home = this.homeOf(submission);
      return this.#partitionReads.begin(id, submission, home);
    }
    const answer = this.#core.state.read(submission);
    this.#core.reply(submission, 'strong', answer);
  }

  /** Ends a request by a record. The request has ended once that record is delivered. */
  close(request: RedRequest): void {
    const { id, partition } = request;
    const { site } = this.#core.options;
    const failure = toFailure(request.failure ?? conflictError(request));
    const close = { kind: 'close', id, site, failure } as const;
    const record: RedRecord = partition === 0 ? close : { ...close, partition };
    request.record = record;
    this.proposals.propose(record);
  }

  /**
   * An operation has ended at all sites, in the red log of its home.
   *
   * @param site where the record comes from that ended it, if it was proposed by a site
   */
  end(
    { outcomes, partition }: RedOrder,
    id: OperationId,
    answer: ReplyOrError,
    site?: Origin,
  ): void {
    outcomes.set(id, answer);
    this.#outcomeWaiters.onEnded(id, answer);
    this.executions.onEnded(id, partition);
    const request = this.#requests.get(id);
    if (request === undefined) return;

    this.executions.remove(request, site === this.#core.options.site);
    for (const waiter of request.waiters) this.#core.reply(waiter, 'strong', answer);
    for (const follower of this.#requests.end(request)) this.executions.release(follower);
  }

  /** The part of a checkpoint that no log has. */
  saveGlobals(): { readonly globals?: readonly SavedCommittedGlobal[] } {
    const globals = this.#globals?.save() ?? [];
    return globals.length === 0 ? {} : { globals };
  }

  loadGlobals(saved: readonly SavedCommittedGlobal[]): void {
    this.#globals?.load(saved);
  }

  #replyEnded(order: RedOrder, id: OperationId, submission: Submission): void {
    const answer = order.outcomes.get(id);
    if (answer !== undefined && answer !== EXPIRED) this.#core.reply(submission, 'strong', answer);
    // An operation that has ended and is not behind the gate has an answer, unless the answers of
    // its client have been forgotten.
    else if (answer === undefined && order.isAtGate(id)) this.#outcomeWaiters.add(id, submission);
    else this.#core.reply(submission, 'strong', expiredError());
  }
}
