/**
 * The red path of a replica: an operation is executed on the stable snapshot,
 * takes its place in the red log, and commits where the log's prefix lets it
 * (RedBlue, OSDI 2012, §6.1, with certification instead of a serial). Rejected,
 * it is executed again on the fresher state.
 */
import {
  isCorrectableError,
  type CorrectableError,
} from '../../../correctable/errors.ts';
import { Pipeline, getExecutions } from './pipeline.ts';
import { Certifier } from './certifier.ts';
import type { Conflict } from '../../records/certification-result.ts';
import type {
  GateItem,
  SavedRedPath,
  Section,
} from '../../records/checkpoint.ts';
import { Contention } from './contention.ts';
import type { Effect } from '../../records/effect.ts';
import {
  abandonedError,
  droppedError,
  toError,
  expiredError,
  toFailure,
  callerLeftError,
  redAwayError,
  redAwayUnknownError,
  redFullError,
  replicaBehindError,
} from '../../records/failures.ts';
import { DependencyResolver, toStableRun } from './read-dependencies.ts';
import type { GeneratorOutcome } from '../../generator/generator-runner.ts';
import { Fifo, RunQueue } from '../../collections/fifo.ts';
import { EXPIRED, type RetainedReplyStats } from '../exactly-once/id-table.ts';
import { getClient } from '../../records/operation-id.ts';
import { RED, type Origin } from '../../records/origin.ts';
import type {
  CloseRecord,
  OperationId,
  RedOperation,
  RedRecord,
} from '../../records/records.ts';
import { ThrottledRequests } from './throttled-requests.ts';
import { PreliminaryResults } from './preliminary-results.ts';
import { RedOutcomes } from './red-outcomes.ts';
import { isWaitedFor, RightsWaiters } from './rights-waiters.ts';
import { isLastAttempt, createOwnDraft, createRecord } from './red-record.ts';
import {
  RedRequests,
  takeProposalWaiters,
  waitFor,
  type StartOptions,
  type RedRequest,
} from './red-requests.ts';
import type { RightsShortfall } from '../core/rights-port.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type {
  SubmissionIdentity,
  Submission,
} from '../../records/submissions.ts';
import type { ReplyOrError } from '../../records/reply.ts';
import { isRedFull, isClientFull } from './admission-limits.ts';
import { StrongReads } from './strong-reads.ts';
import { conflictError, shouldRetry } from './retry-policy.ts';
import { isCovered } from '../../records/vector.ts';

interface PendingRecord {
  readonly record: RedOperation;
  /** The last own blue operation that the record depends on. */
  readonly sequence: number;
}

/** Red operations of this site, and the red order as this site takes it in. */
export class RedPath {
  /**
   * Why no more comes of the red log. Then no operation begins, and pending
   * ones go on waiting.
   */
  halted: CorrectableError | undefined;
  /** Why the red log takes nothing new for now. */
  overload: CorrectableError | undefined;
  /** What red operations wait for, if none can be ordered for now. */
  #waitsFor: string | undefined;
  #away: CorrectableError | undefined;
  protected readonly certifier: Certifier;
  readonly #core: ReplicaCore;
  readonly #requests = new RedRequests();
  readonly #pipeline: Pipeline;
  readonly #contention: Contention;
  readonly #dependencyResolver: DependencyResolver;
  readonly #rightsWaiters: RightsWaiters;
  readonly #throttled: ThrottledRequests;
  /**
   * The gate: a record passes once its blue dependencies are visible here, so
   * that no snapshot lacks them.
   */
  readonly #gate = new Fifo<GateItem>();
  readonly #outcomes: RedOutcomes;
  #delivered = 0;
  readonly #ready = new RunQueue<RedRequest>((request) => {
    // It may have ended meanwhile, by a record that another site proposed.
    if (!request.isOver) this.#execute(request);
  });
  /**
   * Records that wait until their blue dependencies are durable at a second
   * site, in order.
   */
  readonly #pendingDurability = new Fifo<PendingRecord>();
  readonly #reads = new StrongReads();
  /** What the site has proposed by itself and is not decided. */
  readonly #own = new Set<OperationId>();
  readonly #preliminaryResults: PreliminaryResults;
  /** The marker that this start has put into the red order. */
  #marker: OperationId | undefined;
  #hasMarkerPassed = false;

  constructor(
    core: ReplicaCore,
    certifier: Certifier = new Certifier(core.options.retentionLimits),
  ) {
    this.#core = core;
    this.certifier = certifier;
    this.#outcomes = new RedOutcomes(core);
    this.#throttled = new ThrottledRequests(
      core.options.service,
      core.options.origins,
    );
    this.#preliminaryResults = new PreliminaryResults(
      core,
      this.#requests,
      this.#throttled,
    );
    this.#pipeline = this.createPipeline();
    this.#contention = new Contention(core);
    this.#dependencyResolver = new DependencyResolver(
      core,
      this.#pipeline,
      this.#contention,
    );
    this.#rightsWaiters = new RightsWaiters(core, this.#requests);
  }

  get isBusy(): boolean {
    return (
      this.#requests.size > 0 ||
      this.#reads.waitedCount > 0 ||
      this.#gate.size > 0
    );
  }

  /**
   * What red operations wait for, if none can be ordered for now. Then none
   * begins.
   */
  get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  set waitsFor(waitsFor: string | undefined) {
    if (waitsFor === this.#waitsFor) return;
    this.#waitsFor = waitsFor;
    this.#away = waitsFor === undefined ? undefined : redAwayError(waitsFor);
  }

  /**
   * Whether this is why no red operation begins, and a retry may be executed
   * later.
   */
  isTemporary(failure: unknown): boolean {
    return (
      failure !== undefined &&
      (failure === this.halted || failure === this.#away)
    );
  }

  /** Whether as much waits for the red order as may. */
  get isFull(): boolean {
    const isClosed = [this.halted, this.overload, this.#away].some(
      (item) => item !== undefined,
    );
    if (isClosed) return true;
    return isRedFull(this.#core.options, this.#requests, this.#reads);
  }

  /** Returns the error of an operation that comes while `isRedFull`. */
  fullError(): CorrectableError {
    return (
      this.halted ??
      this.overload ??
      this.#away ??
      redFullError(this.#core.options.maxRedInFlight ?? Infinity)
    );
  }

  /**
   * Why no more of this operation may begin here, if that is so; to be asked
   * before anything of it is decided.
   */
  getRejection(operation: string): CorrectableError | undefined {
    if (this.isFull) return this.fullError();
    return this.#throttled.getRejection(operation);
  }

  /**
   * No caller waits for the submission any more: if it was not sent to the
   * leader, it leaves no trace.
   */
  abandon(id: OperationId, serial: number): void {
    const read = this.#reads.abandon(id);
    if (read !== undefined) {
      this.#core.emit({ kind: 'withdraw', record: read.record });
      return this.#core.reply(
        read.submission,
        'strong',
        abandonedError(read.submission),
      );
    }
    const request = this.#requests.findBySubmission(serial);
    if (request === undefined) return;
    if (request.waiters.length > 1)
      return this.#leave(this.#requests.removeWaiter(request, serial));
    if (!request.isProposed) this.#drop(request);
    else if (request.record !== undefined)
      this.#core.emit({ kind: 'withdraw', record: request.record });
  }

  /**
   * Nothing can be ordered for now: what was not proposed, and reads, end with
   * nothing done. With `endsProposed` the callers of all others hear that the
   * outcome is not known.
   */
  endWaiting(endsProposed: boolean): void {
    for (const { submission, record } of this.#reads.takeAll()) {
      this.#core.emit({ kind: 'withdraw', record });
      this.#core.reply(submission, 'strong', this.fullError());
    }
    // The last first: none is to go on because one before it has ended.
    const ids = [...this.#requests.ids].toReversed();
    for (const id of ids) {
      const request = this.#requests.get(id);
      if (request === undefined || request.waiters.length === 0) continue;
      if (!request.isProposed) this.#drop(request);
      else if (endsProposed && request.record !== undefined)
        this.#core.emit({ kind: 'withdraw', record: request.record });
    }
  }

  /**
   * The record may have left this site: only the red order decides about it,
   * and no caller waits for that.
   */
  onNotWithdrawn({ id }: RedRecord): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    for (const { serial } of request.waiters.slice())
      this.#leave(this.#requests.removeWaiter(request, serial));
  }

  /** The record has not left this site, and never will. */
  onWithdrawn({ id }: RedRecord): void {
    this.#reads.end(id);
    const request = this.#requests.get(id);
    if (request !== undefined) this.#drop(request);
  }

  /**
   * Ends an operation of which nothing has been proposed: it is as if it had
   * never come.
   */
  #drop(request: RedRequest): void {
    this.#preliminaryResults.remove(request);
    this.#pipeline.onNotCommitted(request);
    this.#throttled.release(request, this.#core.nowMs, false);
    // Another copy that waits here may still be executed.
    const isAllKnown =
      this.#hasMarkerPassed && !this.#core.hasWaiter(request.id);
    for (const requester of request.waiters)
      this.#replyDropped(requester, isAllKnown);
    for (const follower of this.#requests.drop(request))
      this.#release(follower);
    this.#pendingDurability.filter(({ record }) => this.#isStillWanted(record));
  }

  #replyDropped(requester: Submission, isAllKnown: boolean): void {
    if (this.#waitsFor === undefined)
      return this.#core.reply(
        requester,
        'strong',
        droppedError(requester, isAllKnown),
      );
    const isSure =
      requester.identity === undefined ||
      (requester.identity.hop === 0 && isAllKnown);
    // The red log says nothing of it: a retry with the same key is executed.
    const error = isSure
      ? redAwayError(this.#waitsFor)
      : redAwayUnknownError(this.#waitsFor);
    this.#core.reply(requester, 'committed', error);
  }

  /** Whether the operation is in flight here, or has ended. */
  hasOperation(id: OperationId): boolean {
    return (
      this.#requests.get(id) !== undefined ||
      this.certifier.getOutcome(id) !== undefined
    );
  }

  /**
   * Whether one more red operation would cost its client one that it may ask
   * for.
   */
  isFullFor(identity: SubmissionIdentity): boolean {
    return isClientFull(
      [this.certifier.outcomes, this.#outcomes.table],
      this.#requests,
      identity,
    );
  }

  /** Red operations of this site that have not ended. */
  get inFlightIds(): Iterable<OperationId> {
    return [...this.#requests.ids, ...this.#own];
  }

  isInFlight(id: OperationId): boolean {
    return this.#requests.get(id) !== undefined || this.#own.has(id);
  }

  /**
   * Proposes an operation of the site itself, without a caller. Without room,
   * or if rejected, it is dropped.
   */
  proposeOwn(id: OperationId, outcome: GeneratorOutcome): void {
    if (this.isFull) return;
    this.#own.add(id);
    this.#proposeWhenDurable(
      createRecord(
        this.#core,
        createOwnDraft(id, outcome),
        toStableRun(this.#core, outcome),
        [],
      ),
    );
  }

  /**
   * Whether a marker of this start has passed: then nothing that earlier starts
   * proposed is to come. Proposes it once.
   */
  ensureMarkerPassed(marker: OperationId): boolean {
    if (this.#marker === undefined) {
      this.#marker = marker;
      this.#propose({
        kind: 'marker',
        id: marker,
        site: this.#core.options.site,
      });
    }
    return this.#hasMarkerPassed;
  }

  /**
   * Answers a submission of an operation that is known here; says whether it
   * was.
   */
  join(id: OperationId, submission: Submission): boolean {
    const request = this.#requests.get(id);
    if (request !== undefined) {
      this.#leave(this.#requests.join(request, submission));
      return true;
    }
    const ending = this.certifier.getOutcome(id);
    if (ending === undefined) return false;
    if (ending === EXPIRED)
      this.#core.reply(submission, 'strong', expiredError());
    else if (!this.#outcomes.notify(id, submission)) {
      // What has ended and is not behind the gate has an answer, unless the
      // answers of its client have been forgotten.
      const isBehindGate = this.#gate
        .slice()
        .some(({ record }) => record.id === id);
      if (isBehindGate) this.#outcomes.notifyLater(id, submission);
      else this.#core.reply(submission, 'strong', expiredError());
    }
    return true;
  }

  /** Of those who retry the latest is answered by the operation's end. */
  #leave(requester: Submission | undefined): void {
    if (requester === undefined) return;
    const error =
      this.#waitsFor === undefined
        ? callerLeftError()
        : redAwayUnknownError(this.#waitsFor);
    this.#core.reply(requester, 'strong', error);
  }

  /**
   * Begins a red operation: a preview, then its way into the log, as soon as it
   * has a place and is not undecided.
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
    try {
      if (this.#throttled.enter(request, this.#core.nowMs))
        this.#enter(request, outcome);
    } catch (error) {
      this.#giveUp(request, error);
    }
  }

  /**
   * Begins what has waited for a place, as far as there are places now, and
   * what has given way to another site.
   */
  admitWaiting(): void {
    for (const heir of this.#contention.takeWaiters()) this.#release(heir);
    const { state, nowMs } = this.#core;
    for (
      let next = this.#throttled.takeNext(nowMs);
      next !== undefined;
      next = this.#throttled.takeNext(nowMs)
    ) {
      try {
        this.#enter(next, state.run(next.submission));
      } catch (error) {
        this.#giveUp(next, error);
      }
    }
  }

  /**
   * When `admit` has something to do though nothing happens; undefined if there
   * is no such time.
   */
  get wakeAtMs(): number | undefined {
    return this.#throttled.wakeAtMs;
  }

  /**
   * The hand-over of the operation that was begun by this submission is synced;
   * it may have been given up since.
   */
  release(id: OperationId, serial: number): void {
    const request = this.#requests.get(id);
    if (request?.submission.serial === serial) this.#release(request);
  }

  /** Ends an operation that cannot be executed, for all who ever ask for it. */
  fail(
    id: OperationId,
    submission: Submission,
    failure: CorrectableError,
  ): void {
    const request = this.#requests.begin(id, submission);
    request.failure = failure;
    this.close(request);
  }

  /** A strong read: it takes a place in the red order and is executed there. */
  read(id: OperationId, submission: Submission): void {
    this.#propose(this.#reads.begin(id, this.#core.options.site, submission));
  }

  /** Records taken from the red log, from its beginning. */
  get deliveredCount(): number {
    return this.#delivered;
  }

  get retainedReplies(): RetainedReplyStats {
    return this.#outcomes.retainedReplies;
  }

  get sections(): Readonly<Record<string, Section>> {
    return { ...this.certifier.sections, ...this.#outcomes.sections };
  }

  save(): SavedRedPath {
    return {
      deliveredCount: this.#delivered,
      gate: this.#gate.slice(),
      certifier: this.certifier.save(),
    };
  }

  load({ deliveredCount, gate, certifier }: SavedRedPath): void {
    this.#delivered = deliveredCount;
    for (const item of gate) this.#gate.push(item);
    this.certifier.load(certifier);
  }

  deliver(record: RedRecord): void {
    this.#delivered += 1;
    // These count at once, whatever the gate still holds.
    if (record.kind === 'member' || record.kind === 'activate') return;
    this.#gate.push({
      record,
      decision: this.isVoid(record)
        ? { kind: 'void' }
        : this.certifier.decide(record),
    });
  }

  /**
   * A proposal of a closed site comes too late, and no site can have seen a
   * record without an origin.
   */
  protected isVoid(record: RedRecord): boolean {
    const { origins } = this.#core.options;
    return (
      !origins.isMember(record.site) ||
      (record.kind === 'operation' && record.snapshot.length > origins.size)
    );
  }

  /** Whether records that this site has proposed wait at the gate. */
  hasRecordsFrom(site: Origin): boolean {
    return this.#gate.slice().some(({ record }) => record.site === site);
  }

  applyPassable(): boolean {
    let moved = false;
    for (
      let next = this.#gate.at(0);
      next !== undefined && this.mayPass(next.record);
      next = this.#gate.at(0)
    ) {
      this.#gate.shift();
      this.#pass(next);
      moved = true;
    }
    return moved;
  }

  /**
   * Proposes what waited for other sites to have this one's blue operations.
   */
  releaseDurable(): void {
    if (this.#pendingDurability.size === 0) return;
    const { durable } = this.#core.ownBlueProgress();
    while ((this.#pendingDurability.at(0)?.sequence ?? Infinity) <= durable) {
      const { record } = this.#pendingDurability.shift() as PendingRecord;
      if (this.#isStillWanted(record)) this.#propose(record);
    }
  }

  protected createPipeline(): Pipeline {
    return new Pipeline(this.#core);
  }

  protected mayPass(record: RedRecord): boolean {
    if (record.kind !== 'operation') return true;
    return isCovered(
      record.snapshot,
      this.#core.state.stable,
      RED,
      this.#core.options.origins.finals,
    );
  }

  #enter(request: RedRequest, outcome: GeneratorOutcome): void {
    request.run = toStableRun(this.#core, outcome);
    const writer = this.#requests.findLastWriter(request.run.reads, request);
    request.canDepend = writer !== undefined;
    this.#preliminaryResults.deliver(request, outcome);
    if (writer !== undefined && isWaitedFor(writer))
      waitFor(request, writer, 'proposalWaiters');
    this.#release(request);
  }

  #release(request: RedRequest): void {
    request.blockers -= 1;
    if (request.blockers === 0) this.#ready.add(request);
  }

  /**
   * Proposes what comes of the generator on the stable snapshot as it is now,
   * with what lies under it.
   */
  #execute(request: RedRequest): void {
    const shortfall = this.#tryExecute(request);
    if (shortfall === undefined) return;
    const behind = this.#rightsWaiters.wait(request, shortfall, {
      onRetry: () => this.#tryExecute(request),
      onTimeout: (error) => this.#giveUp(request, error),
    });
    for (const item of behind) this.#release(item);
  }

  /** Says what it lacks, where it has to wait for rights. */
  #tryExecute(request: RedRequest): RightsShortfall | undefined {
    const { state } = this.#core;
    try {
      if (request.run?.version !== state.version)
        request.run = toStableRun(this.#core, state.run(request.submission));
      const still = this.#rightsWaiters.findRemainingShortfall(
        request,
        request.run.outcome,
      );
      if (still !== undefined) return still;
      if (this.#rightsWaiters.queuesBehind(request, request.run.reads))
        return undefined;
      const { run, dependencies, waitsFor, shortfall } =
        this.#dependencyResolver.resolve(request, request.run);
      if (waitsFor !== undefined) waitFor(request, waitsFor, 'endWaiters');
      if (waitsFor !== undefined || shortfall !== undefined) return shortfall;
      const record = createRecord(
        this.#core,
        request,
        run,
        getExecutions(dependencies),
      );
      this.#pipeline.add(request, record, dependencies);
      this.#proposeWhenDurable(record);
      for (const follower of takeProposalWaiters(request))
        this.#release(follower);
    } catch (error) {
      this.#giveUp(request, error);
    }
    return undefined;
  }

  #giveUp(request: RedRequest, error: unknown): void {
    if (!isCorrectableError(error)) throw error;
    request.failure = error;
    this.close(request);
  }

  /**
   * A record must not depend on a blue operation that could be lost with this
   * site: all would wait for that forever.
   */
  #proposeWhenDurable(record: RedOperation): void {
    const { applied, durable } = this.#core.ownBlueProgress();
    const request = this.#requests.get(record.id);
    if (request !== undefined) {
      request.record = record;
      request.isProposed = false;
    }
    // One behind another: what stands on an operation must not come before it.
    if (applied <= durable && this.#pendingDurability.size === 0)
      this.#propose(record);
    else this.#pendingDurability.push({ record, sequence: applied });
  }

  /** Whether it is still to be proposed: its callers may have given up. */
  #isStillWanted(record: RedOperation): boolean {
    return (
      this.#requests.get(record.id)?.record === record ||
      this.#own.has(record.id)
    );
  }

  /**
   * Ends a request by a record. Only the delivery of the record reports the
   * end.
   */
  protected close(request: RedRequest): void {
    const { id } = request;
    const failure = toFailure(request.failure ?? conflictError(request));
    const record: RedRecord = {
      kind: 'close',
      id,
      site: this.#core.options.site,
      failure,
    };
    request.record = record;
    this.#propose(record);
  }

  #propose(record: RedRecord): void {
    const request = this.#requests.get(record.id);
    if (request !== undefined) request.isProposed = true;
    this.#core.emit({ kind: 'propose', record });
  }

  #pass({ record, decision }: GateItem): void {
    this.#own.delete(record.id);
    switch (decision.kind) {
      case 'commit':
        return this.#onCommit(record as RedOperation, decision.stamp);
      case 'reject':
        return this.#onReject(record as RedOperation, decision.conflict);
      case 'closed':
        return this.end(record.id, toError((record as CloseRecord).failure));
      case 'void':
        return this.#onVoid(record.id);
      case 'expired':
        return this.end(record.id, expiredError());
      case 'marker':
        return this.#onMarker(record.id);
    }
  }

  #onCommit(operation: RedOperation, stamp: number): void {
    const { id, acknowledged } = operation;
    if (acknowledged !== undefined && acknowledged > 0)
      this.#outcomes.expire(getClient(id), acknowledged);
    const request = this.#requests.get(id);
    // Out of the overlays before it is in the store: its effects are never seen
    // twice.
    if (request !== undefined) this.#preliminaryResults.remove(request);
    if (
      request?.pipelined !== undefined &&
      isLastAttempt(request, operation, this.#core.options)
    ) {
      this.#pipeline.onCommitted(request);
      this.#dependencyResolver.grow();
    } else {
      if (request !== undefined) this.#pipeline.onNotCommitted(request);
      this.#pipeline.onChanged(operation.effects);
    }
    const answer = this.#core.state.applyRed(operation, stamp);
    this.#core.rights?.onApplied(operation);
    this.#core.options.observer?.onApplied?.(operation, this.#core.state);
    this.end(id, answer, operation.site);
  }

  #onReject(operation: RedOperation, conflict: Conflict | undefined): void {
    this.#core.options.observer?.onRejected?.(operation, conflict);
    if (operation.site !== this.#core.options.site)
      this.#contention.onRejected(operation, conflict);
    const request = this.#requests.get(operation.id);
    if (
      request === undefined ||
      !isLastAttempt(request, operation, this.#core.options)
    )
      return;
    if (this.#pipeline.onNotCommitted(request) > 0)
      this.#dependencyResolver.shrink();
    // Nothing of it is under way until it is executed again, which may have to
    // wait.
    request.isProposed = false;
    request.canDepend = true;
    // Everything before this record has passed the gate, so the state now holds
    // what it conflicted with.
    if (shouldRetry(this.#core, request, conflict)) this.#execute(request);
    else this.close(request);
  }

  onBlueApplied(effects: readonly Effect[]): void {
    this.#pipeline.onChanged(effects);
  }

  #onVoid(id: OperationId): void {
    const answer = this.#outcomes.get(id);
    if (answer !== undefined && this.#requests.get(id) !== undefined)
      this.end(id, answer);
  }

  #onMarker(id: OperationId): void {
    if (id === this.#marker) this.#hasMarkerPassed = true;
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
   * @param site where the record comes from that ended it, if it was proposed
   * by a site
   */
  protected end(id: OperationId, answer: ReplyOrError, site?: Origin): void {
    this.#outcomes.end(id, answer);
    this.#contention.onEnded(id);
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#preliminaryResults.remove(request);
    this.#pipeline.onNotCommitted(request);
    this.#throttled.release(
      request,
      this.#core.nowMs,
      site === this.#core.options.site,
    );
    for (const requester of request.waiters)
      this.#core.reply(requester, 'strong', answer);
    for (const follower of this.#requests.end(request)) this.#release(follower);
  }
}
