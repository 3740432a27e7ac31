/**
 * The red path of a replica: an operation is executed on the stable snapshot, takes its place in the red log, and
 * commits where the log's prefix lets it (RedBlue, OSDI 2012, §6.1, with certification instead of a serial). Rejected, it
 * is executed again on the fresher state.
 */
import { isCorrectableError, type CorrectableError } from '../../../correctable/errors.ts';
import { Chain, executionsOf } from './chain.ts';
import { Certifier } from './certifier.ts';
import type { Conflict } from '../../records/verdict.ts';
import type { GateItem, SavedRedPath, Section } from '../../records/checkpoint.ts';
import { Contention } from './contention.ts';
import { conflictError } from './conflict.ts';
import type { Effect } from '../../records/effect.ts';
import {
  abandonedError,
  droppedError,
  errorOf,
  expiredError,
  failureOf,
  leftError,
  redFullError,
  sessionBehindError,
} from '../../records/failure.ts';
import { Gate } from './gate.ts';
import { Footings, runOf } from './footing.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import { InTurn } from '../../collections/in-turn.ts';
import { EXPIRED } from '../once/id-table.ts';
import { clientOf } from '../../records/operation-id.ts';
import { RED, type Origin } from '../../records/origin.ts';
import type { CloseRecord, OperationId, RedOperation, RedRecord } from '../../records/records.ts';
import { PacedRequests } from './paced.ts';
import { Previews } from './previews.ts';
import { RedEndings } from './red-endings.ts';
import { isAwaited, Lacking } from './lacking.ts';
import { isLastOf, ownDraft, recordOf } from './red-record.ts';
import { RedRequests, takeFollowers, waitFor, type BegunAs, type RedRequest } from './red-requests.ts';
import type { RememberedInLog } from '../once/remembered.ts';
import type { RedPathHost } from './red-path-host.ts';
import type { Lack } from '../core/rights-port.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Identity, Submission } from '../../records/submissions.ts';
import type { Answer } from '../../records/reply.ts';
import { isFull, isFullFor } from './room.ts';
import { StartMarker } from './start-marker.ts';
import { StrongReads } from './strong-reads.ts';
import { triesAgain } from './tries.ts';
import { UndurableRecords } from './undurable.ts';
import { isCovered } from '../../records/vector.ts';

/** Red operations of this site, and the red order as this site takes it in. */
export class RedPath {
  /** Why nothing more comes of the red log: then nothing more begins, and what waits for it goes on waiting. */
  halted: CorrectableError | undefined;
  protected readonly certifier: Certifier;
  readonly #host: RedPathHost;
  readonly #core: ReplicaCore;
  readonly #requests = new RedRequests();
  readonly #chain: Chain;
  readonly #contention: Contention;
  readonly #footings: Footings;
  readonly #lacking: Lacking;
  readonly #paced: PacedRequests;
  readonly #gate = new Gate();
  readonly #endings: RedEndings;
  #delivered = 0;
  readonly #ready = new InTurn<RedRequest>((request) => {
    // It may have ended meanwhile, by a record that another site proposed.
    if (!request.isOver) this.#execute(request);
  });
  readonly #undurable = new UndurableRecords();
  readonly #reads = new StrongReads();
  /** What the site has proposed by itself and is not decided. */
  readonly #own = new Set<OperationId>();
  readonly #previews: Previews;
  readonly #marker = new StartMarker();

  constructor(host: RedPathHost, certifier: Certifier = new Certifier(host.core.options.remembers)) {
    this.#host = host;
    this.#core = host.core;
    this.certifier = certifier;
    this.#endings = new RedEndings(host);
    this.#paced = new PacedRequests(host.core.options.service, host.core.options.origins.sites.length);
    this.#previews = new Previews(host, this.#requests, this.#paced);
    this.#chain = this.createChain();
    this.#contention = new Contention(host.core);
    this.#footings = new Footings(host.core, this.#chain, this.#contention);
    this.#lacking = new Lacking(host.core, this.#requests);
  }

  get busy(): boolean {
    return this.#requests.size > 0 || this.#reads.awaited > 0 || this.#gate.size > 0;
  }

  /** Whether as much waits for the red order as may. */
  get isFull(): boolean {
    return this.halted !== undefined || isFull(this.#core.options, this.#requests, this.#reads);
  }

  /** What is told where it `isFull`. */
  fullError(): CorrectableError {
    return this.halted ?? redFullError(this.#core.options.redInFlightMax ?? Infinity);
  }

  /** Why no more of this operation may begin here, if that is so; to be asked before anything of it is decided. */
  refusalOf(operation: string): CorrectableError | undefined {
    if (this.isFull) return this.fullError();
    return this.#paced.refusalOf(operation);
  }

  /**
   * Nobody waits for what was submitted under this serial any more. What has not been sent to the leader gives its place
   * back at once, and is as if it had never come; what has been goes on.
   */
  abandon(id: OperationId, serial: number): void {
    const read = this.#reads.leave(id);
    if (read !== undefined) {
      this.#core.emit({ kind: 'withdraw', record: read.record });
      return this.#host.answer(read.submission, 'strong', abandonedError());
    }
    const request = this.#requests.askedBy(serial);
    if (request === undefined) return;
    if (request.askers.length > 1) return this.#leave(this.#requests.leave(request, serial));
    if (!request.isProposed) this.#drop(request);
    else if (request.record !== undefined) this.#core.emit({ kind: 'withdraw', record: request.record });
  }

  /** The record may have left this site: what becomes of it only the red order says, and nobody waits for that. */
  notWithdrawn({ id }: RedRecord): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    for (const { serial } of request.askers.slice()) this.#leave(this.#requests.leave(request, serial));
  }

  /** The record has not left this site, and never will. */
  withdrawn({ id }: RedRecord): void {
    this.#reads.end(id);
    const request = this.#requests.get(id);
    if (request !== undefined) this.#drop(request);
  }

  /** Ends an operation of which nothing has been proposed: it is as if it had never come. */
  #drop(request: RedRequest): void {
    this.#previews.takeOff(request);
    this.#chain.forsake(request);
    this.#paced.leave(request, this.#core.nowMs, false);
    // Another copy that waits here may still be executed.
    const isAllKnown = this.#marker.hasPassed && !this.#core.isWaitedFor(request.id);
    for (const asker of request.askers) this.#host.answer(asker, 'strong', droppedError(asker, isAllKnown));
    for (const follower of this.#requests.drop(request)) this.#letGo(follower);
    this.#undurable.keep((record) => this.#isMeant(record));
  }

  /** Whether the operation is under way here, or has ended. */
  knows(id: OperationId): boolean {
    return this.#requests.get(id) !== undefined || this.certifier.endingOf(id) !== undefined;
  }

  /** Whether one more red operation would cost its client one that it may ask for. */
  isFullFor(identity: Identity): boolean {
    return isFullFor([this.certifier, this.#endings], this.#requests, identity);
  }

  /** Red operations of this site that have not ended. */
  get underWay(): Iterable<OperationId> {
    return [...this.#requests.ids, ...this.#own];
  }

  isUnderWay(id: OperationId): boolean {
    return this.#requests.get(id) !== undefined || this.#own.has(id);
  }

  /** Proposes what the site does by itself. Nobody waits for it: where there is no room, or it is rejected, it is not. */
  proposeOwn(id: OperationId, outcome: GeneratorOutcome): void {
    if (this.isFull) return;
    this.#own.add(id);
    this.#proposeWhenDurable(recordOf(this.#core, ownDraft(id, outcome), runOf(this.#core, outcome), []));
  }

  /**
   * Whether a marker of this start, of that name, has passed: then whatever earlier starts had proposed has, or never
   * will. Proposes it when it is first asked.
   */
  order(marker: OperationId): boolean {
    const propose = (): void => this.#propose({ kind: 'marker', id: marker, site: this.#core.options.site });
    return this.#marker.isThrough(marker, propose);
  }

  /** Answers a submission of an operation that is known here; says whether it was. */
  join(id: OperationId, submission: Submission): boolean {
    const request = this.#requests.get(id);
    if (request !== undefined) {
      this.#leave(this.#requests.join(request, submission));
      return true;
    }
    const ending = this.certifier.endingOf(id);
    if (ending === undefined) return false;
    if (ending === EXPIRED) this.#host.answer(submission, 'strong', expiredError());
    else if (!this.#endings.tell(id, submission)) this.#askBehindGate(id, submission);
    return true;
  }

  /** What has ended and is not behind the gate has an answer, unless the answers of its client have been forgotten. */
  #askBehindGate(id: OperationId, submission: Submission): void {
    if (this.#gate.holds(id)) this.#endings.tellLater(id, submission);
    else this.#host.answer(submission, 'strong', expiredError());
  }

  /** Of those who ask again the latest is answered by the operation's end. */
  #leave(asker: Submission | undefined): void {
    if (asker !== undefined) this.#host.answer(asker, 'strong', leftError());
  }

  /**
   * Begins a red operation: a preview, then its way into the log; at once, unless it is paced and there is no place for
   * it. `isHeld` until `release`, when it is known to be red for ever.
   */
  begin(id: OperationId, submission: Submission, outcome: GeneratorOutcome, { isHeld, lackedMs = 0 }: BegunAs): void {
    const request = this.#requests.begin(id, submission);
    request.holds = isHeld ? 2 : 1;
    request.lackedMs = lackedMs;
    try {
      if (this.#paced.enter(request, this.#core.nowMs)) this.#enter(request, outcome);
    } catch (error) {
      this.#giveUp(request, error);
    }
  }

  /** Begins what has waited for a place, as far as there are places now, and what has given way to another site. */
  admit(): void {
    for (const heir of this.#contention.takeHeirs()) this.#letGo(heir);
    const { state, nowMs } = this.#core;
    for (let next = this.#paced.next(nowMs); next !== undefined; next = this.#paced.next(nowMs)) {
      try {
        this.#enter(next, state.run(next.submission));
      } catch (error) {
        this.#giveUp(next, error);
      }
    }
  }

  /** When `admit` has something to do though nothing happens; undefined if there is no such time. */
  get wakeAtMs(): number | undefined {
    return this.#paced.wakeAtMs;
  }

  /** The hand-over of the operation that was begun by this submission is synced; it may have been given up since. */
  release(id: OperationId, serial: number): void {
    const request = this.#requests.get(id);
    if (request?.submission.serial === serial) this.#letGo(request);
  }

  /** Ends an operation that cannot be executed, for all who ever ask for it. */
  fail(id: OperationId, submission: Submission, failure: CorrectableError): void {
    const request = this.#requests.begin(id, submission);
    request.failure = failure;
    this.close(request);
  }

  /** A strong read: it takes a place in the red order and is executed there. */
  read(id: OperationId, submission: Submission): void {
    this.#propose(this.#reads.begin(id, this.#core.options.site, submission));
  }

  /** Records taken from the red log, from its beginning. */
  get delivered(): number {
    return this.#delivered;
  }

  get remembered(): RememberedInLog {
    return this.#endings.remembered;
  }

  /** The parts of the state that are saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return { ...this.certifier.sections, ...this.#endings.sections };
  }

  save(): SavedRedPath {
    return { delivered: this.#delivered, gate: this.#gate.items(), certifier: this.certifier.save() };
  }

  load({ delivered, gate, certifier }: SavedRedPath): void {
    this.#delivered = delivered;
    for (const item of gate) this.#gate.push(item);
    this.certifier.load(certifier);
  }

  /** Takes the next record of the red log. */
  deliver(record: RedRecord): void {
    this.#delivered += 1;
    this.#gate.push({ record, decision: this.certifier.decide(record) });
  }

  /** Applies what may pass the gate; says whether anything has. */
  pump(): boolean {
    return this.#gate.pump(
      (record) => this.mayPass(record),
      (item) => this.#pass(item),
    );
  }

  /** Proposes what waited for other sites to have this one's blue operations. */
  releaseDurable(): void {
    if (this.#undurable.size === 0) return;
    for (const record of this.#undurable.take(this.#host.ownBlue().durable)) {
      if (this.#isMeant(record)) this.#propose(record);
    }
  }

  protected createChain(): Chain {
    return new Chain(this.#core);
  }

  protected mayPass(record: RedRecord): boolean {
    if (record.kind !== 'operation') return true;
    return isCovered(record.snapshot, this.#core.state.stable, RED);
  }

  #enter(request: RedRequest, outcome: GeneratorOutcome): void {
    request.run = runOf(this.#core, outcome);
    const writer = this.#requests.writerOf(request.run.reads, request);
    request.mayStand = writer !== undefined;
    this.#previews.give(request, outcome);
    if (writer !== undefined && isAwaited(writer)) waitFor(request, writer, 'followers');
    this.#letGo(request);
  }

  #letGo(request: RedRequest): void {
    request.holds -= 1;
    if (request.holds === 0) this.#ready.add(request);
  }

  /** Proposes what comes of the generator on the stable snapshot as it is now, with what lies under it. */
  #execute(request: RedRequest): void {
    const lack = this.#tryExecute(request);
    if (lack === undefined) return;
    const behind = this.#lacking.wait(request, lack, {
      retry: () => this.#tryExecute(request),
      late: (error) => this.#giveUp(request, error),
    });
    for (const each of behind) this.#letGo(each);
  }

  /** Says what it lacks, where it has to wait for rights. */
  #tryExecute(request: RedRequest): Lack | undefined {
    const { state } = this.#core;
    try {
      if (request.run?.version !== state.version) request.run = runOf(this.#core, state.run(request.submission));
      const still = this.#lacking.stillOf(request, request.run.outcome);
      if (still !== undefined) return still;
      if (this.#lacking.comesBehind(request, request.run.reads)) return undefined;
      const { run, after, waitsFor, lack } = this.#footings.of(request, request.run);
      if (waitsFor !== undefined) waitFor(request, waitsFor, 'heirs');
      if (waitsFor !== undefined || lack !== undefined) return lack;
      const record = recordOf(this.#core, request, run, executionsOf(after));
      this.#chain.lay(request, record, after);
      this.#proposeWhenDurable(record);
      for (const follower of takeFollowers(request)) this.#letGo(follower);
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
   * A record must not commit while it depends on a blue operation that could be lost with this site: every site would
   * wait for that operation for ever.
   */
  #proposeWhenDurable(record: RedOperation): void {
    const { applied, durable } = this.#host.ownBlue();
    const request = this.#requests.get(record.id);
    if (request !== undefined) {
      request.record = record;
      request.isProposed = false;
    }
    // One behind another: what stands on an operation must not come before it.
    if (applied <= durable && this.#undurable.size === 0) this.#propose(record);
    else this.#undurable.add(record, applied);
  }

  /** Whether it is still to be proposed: who waited for it may have given up. */
  #isMeant(record: RedOperation): boolean {
    return this.#requests.get(record.id)?.record === record || this.#own.has(record.id);
  }

  /** Ends a request by a record: only its delivery is told. */
  protected close(request: RedRequest): void {
    const { id } = request;
    const failure = failureOf(request.failure ?? conflictError(request));
    const record: RedRecord = { kind: 'close', id, site: this.#core.options.site, failure };
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
        return this.end(record.id, errorOf((record as CloseRecord).failure));
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
    if (acknowledged !== undefined && acknowledged > 0) this.#endings.expire(clientOf(id), acknowledged);
    const request = this.#requests.get(id);
    // Out of the overlays before it is in the store: its effects are never seen twice.
    if (request !== undefined) this.#previews.takeOff(request);
    if (request?.laid !== undefined && isLastOf(request, operation, this.#core.options)) {
      this.#chain.settle(request);
      this.#footings.grow();
    } else {
      if (request !== undefined) this.#chain.forsake(request);
      this.#chain.onChanged(operation.effects);
    }
    const answer = this.#core.state.applyRed(operation, stamp);
    this.#core.rights?.applied(operation);
    this.#core.options.observer?.applied?.(operation, this.#core.state);
    this.end(id, answer, operation.site);
  }

  #onReject(operation: RedOperation, conflict: Conflict | undefined): void {
    this.#core.options.observer?.rejected?.(operation, conflict);
    if (operation.site !== this.#core.options.site) this.#contention.meet(operation, conflict);
    const request = this.#requests.get(operation.id);
    if (request === undefined || !isLastOf(request, operation, this.#core.options)) return;
    if (this.#chain.forsake(request) > 0) this.#footings.shrink();
    // Nothing of it is under way until it is executed again, which may have to wait.
    request.isProposed = false;
    request.mayStand = true;
    // Everything before this record has passed the gate, so the state now holds what it conflicted with.
    if (triesAgain(this.#core, request, conflict)) this.#execute(request);
    else this.close(request);
  }

  /** A blue operation has become visible. */
  onBlueApplied(effects: readonly Effect[]): void {
    this.#chain.onChanged(effects);
  }

  #onVoid(id: OperationId): void {
    const answer = this.#endings.of(id);
    if (answer !== undefined && this.#requests.get(id) !== undefined) this.end(id, answer);
  }

  #onMarker(id: OperationId): void {
    this.#marker.pass(id);
    const submission = this.#reads.end(id);
    if (submission !== undefined) this.answerRead(submission);
  }

  /** Executes a strong read on the stable snapshot. */
  protected answerRead(submission: Submission): void {
    const { coverage, nowMs, options, state } = this.#core;
    coverage.when(submission.after, {
      untilMs: nowMs + options.sessionWaitMs,
      run: () => this.#host.answer(submission, 'strong', state.read(submission)),
      late: () => this.#host.answer(submission, 'strong', sessionBehindError(options)),
      submission,
    });
  }

  /** @param site where the record comes from that ended it, if it was proposed by a site */
  protected end(id: OperationId, answer: Answer, site?: Origin): void {
    this.#endings.end(id, answer);
    this.#contention.end(id);
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#previews.takeOff(request);
    this.#chain.forsake(request);
    this.#paced.leave(request, this.#core.nowMs, site === this.#core.options.site);
    for (const asker of request.askers) this.#host.answer(asker, 'strong', answer);
    for (const follower of this.#requests.end(request)) this.#letGo(follower);
  }
}
