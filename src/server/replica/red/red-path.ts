/**
 * Red operations at one site (RedBlue, OSDI 2012, §6.1, with certification
 * instead of a serial number): the red order as this site takes it in
 * (`order/`), and the requests that the site itself has in it (`requests/`).
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { Conflict } from '../../records/certification-result.ts';
import type { GateItem } from '../../records/checkpoint.ts';
import {
  abandonedError,
  callerLeftError,
  droppedError,
  expiredError,
  redAwayError,
  redAwayUnknownError,
  replicaBehindError,
  toError,
  toFailure,
} from '../../records/failures.ts';
import type { GeneratorOutcome } from '../../generator/generator-runner.ts';
import type { Origin } from '../../records/origin.ts';
import type {
  CloseRecord,
  OperationId,
  RedOperation,
  RedRecord,
} from '../../records/records.ts';
import type { ReplyOrError } from '../../records/reply.ts';
import type { SubmissionIdentity, Submission } from '../core/submissions.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import { EXPIRED } from '../exactly-once/id-table.ts';
import { RedOrder } from './order/red-order.ts';
import { isClientFull, RedAdmission } from './requests/red-admission.ts';
import { Executions } from './requests/executions.ts';
import { OutcomeWaiters } from './requests/outcome-waiters.ts';
import { Pipeline } from './requests/pipeline.ts';
import { Proposals } from './requests/proposals.ts';
import {
  RedRequests,
  type RedRequest,
  type StartOptions,
} from './requests/red-requests.ts';
import { conflictError } from './requests/retry-policy.ts';
import { StrongReads } from './requests/strong-reads.ts';
import { ThrottledRequests } from './requests/throttled-requests.ts';

export class RedPath {
  readonly order: RedOrder;
  readonly admission: RedAdmission;
  /** Own operations that others depend on. It learns of each blue one. */
  readonly pipeline: Pipeline;
  readonly #core: ReplicaCore;
  readonly #requests = new RedRequests();
  readonly #reads = new StrongReads();
  readonly #throttled: ThrottledRequests;
  readonly #proposals: Proposals;
  readonly #executions: Executions;
  readonly #outcomeWaiters: OutcomeWaiters;

  constructor(
    core: ReplicaCore,
    order: RedOrder = new RedOrder(core.options, core.state),
    pipeline: Pipeline = new Pipeline(core),
  ) {
    this.#core = core;
    this.order = order;
    this.pipeline = pipeline;
    const { options } = core;
    this.#throttled = new ThrottledRequests(options.service, options.origins);
    this.admission = new RedAdmission(
      options,
      this.#requests,
      this.#reads,
      this.#throttled,
    );
    this.#proposals = new Proposals(core, this.#requests);
    this.#executions = new Executions(
      core,
      {
        requests: this.#requests,
        proposals: this.#proposals,
        throttled: this.#throttled,
        pipeline,
      },
      (request) => this.close(request),
    );
    this.#outcomeWaiters = new OutcomeWaiters((...reply) =>
      core.reply(...reply),
    );
  }

  get isBusy(): boolean {
    return (
      this.#requests.size > 0 ||
      this.#reads.waitedCount > 0 ||
      !this.order.isGateEmpty
    );
  }

  /**
   * When `admitWaiting` has something to do though nothing happens; undefined
   * if there is no such time.
   */
  get wakeAtMs(): number | undefined {
    return this.#throttled.wakeAtMs;
  }

  /** Red operations of this site that have not ended. */
  get inFlightIds(): Iterable<OperationId> {
    return [...this.#requests.ids, ...this.#proposals.ownIds];
  }

  isInFlight(id: OperationId): boolean {
    return (
      this.#requests.get(id) !== undefined || this.#proposals.ownIds.has(id)
    );
  }

  /** Whether the operation is in flight here, or has ended. */
  hasOperation(id: OperationId): boolean {
    return (
      this.#requests.get(id) !== undefined ||
      this.order.certifier.getOutcome(id) !== undefined
    );
  }

  /**
   * Whether one more red operation would cost its client one that it may still
   * retry.
   */
  isFullFor(identity: SubmissionIdentity): boolean {
    const { certifier, outcomes } = this.order;
    return isClientFull(
      [certifier.outcomes, outcomes.table],
      this.#requests,
      identity,
    );
  }

  /**
   * Begins a red operation: it gets a preview, and enters the log once it has a
   * slot and is known to be red for ever.
   */
  begin(
    id: OperationId,
    submission: Submission,
    outcome: GeneratorOutcome,
    { isUndecided, rightsWaitedMs = 0 }: StartOptions,
  ): void {
    const request = this.#requests.begin(id, submission);
    request.blockers = isUndecided ? 2 : 1;
    request.rightsWaitedMs = rightsWaitedMs;
    this.#executions.begin(request, outcome);
  }

  /**
   * The hand-over of the operation that was begun by this submission is synced.
   * The operation may have been given up since.
   */
  release(id: OperationId, serial: number): void {
    const request = this.#requests.get(id);
    if (request?.submission.serial === serial)
      this.#executions.release(request);
  }

  /** Ends an operation that cannot be executed, also for later retries. */
  fail(
    id: OperationId,
    submission: Submission,
    failure: CorrectableError,
  ): void {
    const request = this.#requests.begin(id, submission);
    request.failure = failure;
    this.close(request);
  }

  /**
   * Answers a submission of an operation that is known here. Returns whether it
   * is known.
   */
  join(id: OperationId, submission: Submission): boolean {
    const request = this.#requests.get(id);
    if (request !== undefined) {
      this.#replyLeft(this.#requests.join(request, submission));
      return true;
    }
    const ending = this.order.certifier.getOutcome(id);
    if (ending === undefined) return false;
    if (ending === EXPIRED)
      this.#core.reply(submission, 'strong', expiredError());
    else this.#replyEnded(id, submission);
    return true;
  }

  /** A strong read is a marker in the red order, and is executed there. */
  read(id: OperationId, submission: Submission): void {
    const { site } = this.#core.options;
    this.#proposals.propose(this.#reads.begin(id, site, submission));
  }

  /**
   * Proposes an operation of the site itself, without a caller. If there is no
   * room, or if it is rejected, it is dropped.
   */
  proposeOwn(id: OperationId, outcome: GeneratorOutcome): void {
    if (!this.admission.isFull) this.#proposals.proposeOwn(id, outcome);
  }

  /**
   * Returns whether a marker of this start has passed. Then no proposal of an
   * earlier start is to come. Proposes the marker once.
   */
  ensureMarkerPassed(marker: OperationId): boolean {
    return this.#proposals.ensureMarkerPassed(marker);
  }

  /**
   * Proposes what waited for other sites to have this one's blue operations.
   */
  releaseDurable(): void {
    this.#proposals.releaseDurable();
  }

  admitWaiting(): void {
    this.#executions.admitWaiting();
  }

  /**
   * No caller waits for the submission any more. If it was not sent to the
   * leader, it leaves no trace.
   */
  abandon(id: OperationId, serial: number): void {
    const read = this.#reads.abandon(id);
    if (read !== undefined) {
      const { submission, record } = read;
      this.#core.emit({ kind: 'withdraw', record });
      this.#core.reply(submission, 'strong', abandonedError(submission));
      return;
    }
    const request = this.#requests.findBySubmission(serial);
    if (request === undefined) return;
    if (request.waiters.length > 1)
      this.#replyLeft(this.#requests.removeWaiter(request, serial));
    else this.#withdraw(request);
  }

  /**
   * Nothing can be ordered for now. Reads, and operations that were not
   * proposed, end with nothing done. With `endsProposed` the callers of all
   * others are notified that the outcome is unknown.
   */
  endWaiting(endsProposed: boolean): void {
    for (const { submission, record } of this.#reads.takeAll()) {
      this.#core.emit({ kind: 'withdraw', record });
      this.#core.reply(submission, 'strong', this.admission.fullError());
    }
    // The last first: an operation must not go on because one before it ended.
    for (const id of [...this.#requests.ids].toReversed()) {
      const request = this.#requests.get(id);
      if (request === undefined || request.waiters.length === 0) continue;
      if (endsProposed || !request.isProposed) this.#withdraw(request);
    }
  }

  /**
   * The record may have left this site. Only the red order decides about it
   * now, and no caller waits for that.
   */
  onNotWithdrawn({ id }: RedRecord): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    for (const { serial } of request.waiters.slice())
      this.#replyLeft(this.#requests.removeWaiter(request, serial));
  }

  /** The record has not left this site, and never will. */
  onWithdrawn({ id }: RedRecord): void {
    this.#reads.end(id);
    const request = this.#requests.get(id);
    if (request !== undefined) this.#drop(request);
  }

  /**
   * Takes all records from the gate that may pass. Returns whether there were
   * any.
   */
  applyPassable(): boolean {
    let moved = false;
    for (
      let next = this.order.takePassable();
      next !== undefined;
      next = this.order.takePassable()
    ) {
      this.#pass(next);
      moved = true;
    }
    return moved;
  }

  #pass({ record, decision }: GateItem): void {
    const { id } = record;
    this.#proposals.onDecided(id);
    switch (decision.kind) {
      case 'commit':
        return this.#commit(record as RedOperation, decision.stamp);
      case 'reject':
        return this.#reject(record as RedOperation, decision.conflict);
      case 'closed':
        return this.end(id, toError((record as CloseRecord).failure));
      case 'void':
        return this.#endVoid(id);
      case 'expired':
        return this.end(id, expiredError());
      case 'marker':
        return this.#passMarker(id);
    }
  }

  #commit(operation: RedOperation, stamp: number): void {
    const { rights, options, state } = this.#core;
    this.#executions.onCommitting(operation);
    const answer = this.order.apply(operation, stamp);
    rights?.onApplied(operation);
    options.observer?.onApplied?.(operation, state);
    this.end(operation.id, answer, operation.site);
  }

  #reject(operation: RedOperation, conflict: Conflict | undefined): void {
    this.#core.options.observer?.onRejected?.(operation, conflict);
    this.#executions.onRejected(operation, conflict);
  }

  #endVoid(id: OperationId): void {
    const answer = this.order.outcomes.get(id);
    if (answer === undefined || answer === EXPIRED) return;
    if (this.#requests.get(id) !== undefined) this.end(id, answer);
  }

  #passMarker(id: OperationId): void {
    this.#proposals.onMarker(id);
    const submission = this.#reads.end(id);
    if (submission !== undefined) this.replyToRead(submission);
  }

  protected replyToRead(submission: Submission): void {
    const { coverage, nowMs, options, state } = this.#core;
    coverage.runWhenCovered(submission.sessionVector, {
      untilMs: nowMs + options.sessionTimeoutMs,
      run: () => this.#core.reply(submission, 'strong', state.read(submission)),
      late: () =>
        this.#core.reply(submission, 'strong', replicaBehindError(options)),
      submission,
    });
  }

  /**
   * Ends a request by a record. The request has ended once that record is
   * delivered.
   */
  protected close(request: RedRequest): void {
    const { id } = request;
    const { site } = this.#core.options;
    const failure = toFailure(request.failure ?? conflictError(request));
    const record: RedRecord = { kind: 'close', id, site, failure };
    request.record = record;
    this.#proposals.propose(record);
  }

  /**
   * An operation has ended at all sites.
   *
   * @param site where the record comes from that ended it, if it was proposed
   * by a site
   */
  protected end(id: OperationId, answer: ReplyOrError, site?: Origin): void {
    this.order.outcomes.set(id, answer);
    this.#outcomeWaiters.onEnded(id, answer);
    this.#executions.onEnded(id);
    const request = this.#requests.get(id);
    if (request === undefined) return;

    this.#executions.remove(request, site === this.#core.options.site);
    for (const waiter of request.waiters)
      this.#core.reply(waiter, 'strong', answer);
    for (const follower of this.#requests.end(request))
      this.#executions.release(follower);
  }

  /** Drops a request, or requests its last record back if it was proposed. */
  #withdraw(request: RedRequest): void {
    if (!request.isProposed) this.#drop(request);
    else if (request.record !== undefined)
      this.#core.emit({ kind: 'withdraw', record: request.record });
  }

  /**
   * Ends an operation of which nothing has been proposed: it is as if it had
   * never come.
   */
  #drop(request: RedRequest): void {
    this.#executions.remove(request, false);
    // Another copy that waits here may still be executed.
    const isAllKnown =
      this.#proposals.hasMarkerPassed && !this.#core.hasWaiter(request.id);
    for (const waiter of request.waiters)
      this.#replyDropped(waiter, isAllKnown);
    for (const follower of this.#requests.drop(request))
      this.#executions.release(follower);
    this.#proposals.dropUnwanted();
  }

  #replyDropped(submission: Submission, isAllKnown: boolean): void {
    const { waitsFor } = this.admission;
    if (waitsFor === undefined) {
      const error = droppedError(submission, isAllKnown);
      this.#core.reply(submission, 'strong', error);
      return;
    }
    const isSure =
      submission.identity === undefined ||
      (submission.identity.hop === 0 && isAllKnown);
    // The red log does not have it: a retry with the same key is executed.
    const error = isSure
      ? redAwayError(waitsFor)
      : redAwayUnknownError(waitsFor);
    this.#core.reply(submission, 'committed', error);
  }

  /** Only the latest waiters are answered when an operation ends. */
  #replyLeft(submission: Submission | undefined): void {
    if (submission === undefined) return;
    const { waitsFor } = this.admission;
    const error =
      waitsFor === undefined
        ? callerLeftError()
        : redAwayUnknownError(waitsFor);
    this.#core.reply(submission, 'strong', error);
  }

  #replyEnded(id: OperationId, submission: Submission): void {
    const answer = this.order.outcomes.get(id);
    if (answer !== undefined && answer !== EXPIRED)
      this.#core.reply(submission, 'strong', answer);
    // An operation that has ended and is not behind the gate has an answer,
    // unless the answers of its client have been forgotten.
    else if (answer === undefined && this.order.isAtGate(id))
      this.#outcomeWaiters.add(id, submission);
    else this.#core.reply(submission, 'strong', expiredError());
  }
}
