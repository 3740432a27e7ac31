/**
 * Runs one site in a process: gives it what callers and links bring, answers submitters, and
 * reports what operators see. `Turns` gives it the time and applies what it returns.
 */
// This is imported because a global would be looked up at each call.
import { performance } from 'node:perf_hooks';
import type { MemberChange, OperationId } from '../service/records/records.ts';
import { SIGNAL_CHECK_DELAY_MS } from '../../correctable/binding.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { ContractInfo } from '../../contract/contract.ts';
import { SequenceMap } from '../../protocol/sequence-map.ts';
import { createEpoch } from '../log/epoch.ts';
import type { ServerReply } from '../log/red-log.ts';
import {
  backlogError,
  fullError,
  interruptedError,
  overloadedError,
  siteStoppedError,
  type SiteFailure,
} from './submission/submission-errors.ts';
import type { SessionTokens } from './submission/site-session.ts';
import type { SubmissionPort } from './submission/site-binding.ts';
import { type Submitter, deliverFailure, deliverView } from './submission/submitter.ts';
import { getOperationPlans, type OperationPlans } from '../service/operation-plan.ts';
import { Site } from '../site/site.ts';
import type { SiteOptions } from '../site/site-options.ts';
import { Turns, type EventLoopTurn, type TurnOptions } from './turn.ts';
import type { Envelope, RejectedMessageError } from '../site/wire/envelope.ts';
import type { Origin, Origins } from '../service/records/origin.ts';
import type { RedHalt } from '../log/red-log-consumer.ts';
import type { Answer, FailedAnswer, ViewAnswer } from '../site/answer.ts';
import type { LostRight, MemberEvent } from '../site/site-event.ts';
import type { SiteEvent } from '../site/ready.ts';

export type RedLogServerOutput = Extract<SiteEvent, { kind: 'unavailable' | 'available' | 'full' }>;

export interface SiteDriverOptions extends Omit<SiteOptions, 'epoch'>, TurnOptions {
  /** The maximum of submissions in flight. More fail with `OVERLOADED`. */
  readonly maxInFlight: number;
  /**
   * The maximum of entries that are kept for sites that lack them. Beyond it updates fail with
   * `OVERLOADED`.
   */
  readonly maxBacklogEntries: number;
  readonly tokens: SessionTokens;
  /** Called when the members have changed, and when this site was closed. */
  readonly onMembership?: ((event: MemberEvent) => void) | undefined;
  /** The site has ended, and was not closed. */
  readonly onEnded?: (() => void) | undefined;
  /** The server of the red log cannot be reached, or has little room left, or is well again. */
  readonly onRedLogServer?: ((output: RedLogServerOutput) => void) | undefined;
  /** The site takes no more records of the red log. */
  readonly onRedHalted?: ((halt: RedHalt) => void) | undefined;
  /**
   * Another node of this site has gone on, so that this one has ended. If `peer` is set, a node of
   * that site was overtaken, and its messages are not taken.
   */
  readonly onForked?: ((message: string, peer?: Origin) => void) | undefined;
  /** Another site was closed, and its rights to bounded fields are lost. */
  readonly onRightsLost?: ((origin: Origin, lost: readonly LostRight[]) => void) | undefined;
  /** A newer version is in force than the one that the site runs. The site has ended. */
  readonly onOutdated?: ((message: string) => void) | undefined;
  /** A read of the rows has found damage. The site has ended. */
  readonly onDamaged?: ((problem: string) => void) | undefined;
  /** No other site has confirmed the start for long. Updates are refused until one has. */
  readonly onAlone?: (() => void) | undefined;
}

const SEED_RANGE = 2 ** 32;

/** What an operator has to do with a node that others have overtaken. */
const REBUILD_ADVICE =
  'use another site. Start this one on its newest data directory, or with --rebuild';

export class SiteDriver implements SubmissionPort {
  readonly contract: ContractInfo;
  readonly plans: OperationPlans;
  readonly site: Origin;
  readonly origins: Origins;
  readonly tokens: SessionTokens;
  readonly #options: SiteDriverOptions;
  /** The site itself, for those who only read. The driver alone gives it inputs. */
  readonly machine: Site;
  readonly #turns: Turns;
  /** Why updates are refused in the current turn, if they are. */
  #writeRejection: CorrectableError | undefined;
  readonly #submitters = new SequenceMap<Submitter>();
  /**
   * By serial: removes the abort listener of a submission. Only submissions that were in flight for
   * long have one.
   */
  readonly #removeListeners = new Map<number, () => void>();
  #nextSerial = 1;
  /**
   * The next serial at the last tick, and at the one before. A submission that has waited for a
   * tick may be given up.
   */
  #tickedAtSerial = 1;
  #checkedBefore = 1;
  #end: SiteFailure | undefined;
  #closed = false;

  constructor(options: SiteDriverOptions) {
    this.#options = options;
    this.contract = options.service.contract;
    this.plans = getOperationPlans(options.service);
    this.site = options.site;
    this.origins = options.origins;
    this.tokens = options.tokens;
    const { storage } = options;
    this.machine = new Site(
      { ...options, epoch: createEpoch(storage.term, Math.random()) },
      storage.stored,
      performance.now(),
      Date.now(),
    );
    this.#turns = new Turns(this.machine, options, {
      deliver: (answer, nowMs) => this.#deliver(answer, nowMs),
      report: (event) => this.#report(event),
      onTick: () => this.#checkAbandoned(),
      onFenced: (cause) =>
        this.#endWith({
          reason: `The site has stopped, because another one has its data (${cause.message})`,
          cause,
        }),
      onStorageFailed: (cause) => this.#stop(cause),
      onDamaged: (damage) => this.onDamaged(damage),
    });
  }

  get failure(): CorrectableError | undefined {
    return this.#end?.cause === undefined ? undefined : siteStoppedError(this.#end);
  }

  /** Why all updates are refused for now although the site runs, if they are. */
  get writeRefusal(): CorrectableError | undefined {
    return this.#findWriteRejection() ?? this.machine.writeRefusal;
  }

  /** The number of holds that stand in each red log, by its partition. */
  get standingHolds(): readonly number[] {
    const { lanes } = this.machine.red;
    return lanes.all.map(({ order }) => order.holds?.standing.size ?? 0);
  }

  /** What red operations wait for, if none can be ordered for now. */
  get redProblem(): string | undefined {
    return this.redProblems.find((problem) => problem !== undefined);
  }

  /** The same for the red log of each partition, by its ordinal. */
  get redProblems(): readonly (string | undefined)[] {
    return this.machine.redLogs.findProblems(performance.now());
  }

  /** Whether a message of this origin was ever taken. */
  hasHeardOf(origin: Origin): boolean {
    return this.machine.starts.epochs.has(origin);
  }

  setConnected(site: Origin, isConnected: boolean): void {
    this.#turns.input(() => this.machine.setConnected(site, isConnected, performance.now()));
    this.#turns.runAfterInput();
  }

  /** A message of another site could not be decoded. It is counted and reported. */
  rejectMessage(rejection: RejectedMessageError): void {
    this.machine.door.filter.reject(rejection);
    this.#turns.run();
  }

  /**
   * Starts the site. Operations that were in flight when it was stopped go on. It has to be called
   * once all sites can receive. Before that nothing is changed.
   */
  start(): void {
    this.#turns.start();
  }

  submit(submission: Submitter): void {
    const turn = this.#turns.current ?? this.#beginTurn();
    const rejection = this.#getRejection(submission);
    if (rejection !== undefined) {
      submission.onFailure(rejection, undefined);
      return;
    }
    const serial = this.#nextSerial++;
    submission.serial = serial;
    submission.seed = Math.floor(Math.random() * SEED_RANGE);
    submission.submittedAtMs = turn.wallMs;
    submission.acceptedAtMs = turn.nowMs;
    this.#submitters.set(serial, submission);
    try {
      this.machine.submit(submission, turn.nowMs, turn.wallMs);
    } catch (error) {
      if (this.machine.damage !== undefined) return this.onDamaged(this.machine.damage);
      // An error of the service outside of its generators fails only that operation.
      this.#forget(serial);
      submission.onFailure(error, undefined);
    }
  }

  receive(envelopes: readonly Envelope[]): void {
    if (this.#closed) return;
    const { storage } = this.#options;
    this.#turns.input(() => {
      for (const envelope of envelopes)
        this.machine.receive(envelope, performance.now(), Date.now(), !storage.isStuck);
    });
    this.#turns.run();
  }

  /** @param partition the ordinal of the partition whose log gets the reply */
  onReply(reply: ServerReply, partition: number): void {
    if (this.#closed) return;
    this.#turns.input(() => this.machine.onReply(reply, performance.now(), Date.now(), partition));
    this.#turns.runAfterInput();
  }

  endSubmissions(handle: object): void {
    const value = this.#interrupt(
      { reason: 'The client was closed before the operation ended' },
      (submitter) => submitter.handle === handle,
    );
    if (this.#closed) return;
    // An operation that has not left the site frees its slot.
    for (const serial of value) this.machine.abandon(serial);
    this.#turns.run();
  }

  /**
   * Proposes that the version of this site comes into force. `onMembership` reports the outcome
   * under the returned name.
   */
  proposeActivation(): OperationId {
    if (this.#end !== undefined) throw siteStoppedError(this.#end);
    if (this.#turns.current === undefined) this.#beginTurn();
    return this.machine.activation.propose();
  }

  /**
   * Proposes a change of the members. `onMembership` reports the outcome under the returned name.
   */
  proposeChange(change: MemberChange): OperationId {
    if (this.#end !== undefined) throw siteStoppedError(this.#end);
    const { nowMs } = this.#turns.current ?? this.#beginTurn();
    return this.machine.proposeChange(change, nowMs);
  }

  /** Ends the site. Its storage is closed after it. */
  close(): void {
    this.#end ??= {
      reason: 'The site was closed',
      advice: 'make a new deployment and a new client',
    };
    this.#endWith(this.#end);
  }

  #getRejection({ plan }: Submitter): CorrectableError | undefined {
    const { maxInFlight } = this.#options;
    if (this.#end !== undefined) return siteStoppedError(this.#end);
    if (this.#submitters.size >= maxInFlight) return overloadedError(maxInFlight);
    return plan.isRead ? undefined : this.#writeRejection;
  }

  endTurn(): void {
    this.#turns.end();
  }

  #beginTurn(): EventLoopTurn {
    this.#writeRejection = this.#findWriteRejection();
    return this.#turns.begin();
  }

  #findWriteRejection(): CorrectableError | undefined {
    const { maxBacklogEntries, storage, absence } = this.#options;
    const { fullReason } = storage;
    if (fullReason !== undefined) return fullError(fullReason);
    const isBacklogFull =
      this.machine.isBacklogFull ||
      (absence === undefined && this.machine.backlogLength >= maxBacklogEntries);
    if (isBacklogFull) return backlogError(maxBacklogEntries);
    return this.machine.isConfirmed ? undefined : this.machine.writeRefusal;
  }

  /**
   * Entries that are not on the disk by now may never be. The site must not go on as if they were.
   */
  #stop(cause: Error): void {
    this.#endWith({
      reason: `The site has stopped, because its log cannot be written (${cause.message})`,
      cause,
    });
  }

  /** A read has found damage. Nothing that was read since can be trusted, so none is answered. */
  onDamaged(cause: Error): void {
    if (this.#closed) return;
    this.#options.onDamaged?.(cause.message);
    const advice = 'use another site. Rebuild this one, or put a backup back';
    this.#endFor(`, because its rows are damaged (${cause.message})`, cause.message, advice);
  }

  #onForked(message: string): void {
    this.#options.onForked?.(message);
    this.#endFor(
      `, because another node has gone on as this site (${message})`,
      message,
      REBUILD_ADVICE,
    );
  }

  #endFor(reason: string, cause: string, advice: string): void {
    this.#endWith({
      reason: `The site has stopped${reason}`,
      cause: new Error(cause),
      advice,
    });
  }

  #endWith(end: SiteFailure): void {
    if (this.#closed) return;
    this.#closed = true;
    const isClosed = this.#end !== undefined;
    this.#end = end;
    this.#turns.close();
    this.#interrupt(end, () => true);
    if (!isClosed) this.#options.onEnded?.();
  }

  /** Fails the submissions for which `ends` is true. Returns their serials. */
  #interrupt(
    { reason, cause }: SiteFailure,
    ends: (submitter: Submitter) => boolean,
  ): readonly number[] {
    const ended: number[] = [];
    this.#submitters.forEach((submitter, serial) => {
      if (!ends(submitter)) return;
      ended.push(serial);
      this.#forget(serial);
      deliverFailure(submitter, interruptedError(submitter.plan.access, reason, cause), undefined);
    });
    return ended;
  }

  #report(event: SiteEvent): void {
    switch (event.kind) {
      case 'halted':
        return this.#options.onRedHalted?.(event.halt);
      case 'retired':
        this.#options.onMembership?.(event);
        return this.#endFor(`: ${event.message}`, event.message, 'use another site');
      case 'members':
      case 'changed':
      case 'behind':
        return this.#options.onMembership?.(event);
      case 'forked':
        return this.#onForked(event.message);
      case 'outdated':
        this.#options.onOutdated?.(event.message);
        return this.#endFor(`, since ${event.message}`, event.message, 'use another site');
      case 'peer-forked':
        return this.#options.onForked?.(event.message, event.peer);
      case 'rights-lost':
        return this.#options.onRightsLost?.(event.origin, event.lost);
      case 'alone':
        return this.#options.onAlone?.();
      case 'unavailable':
      case 'available':
      case 'full':
        return this.#options.onRedLogServer?.(event);
    }
  }

  #getSubmitter(serial: number, isLast: boolean): Submitter | undefined {
    return isLast ? this.#forget(serial) : this.#submitters.get(serial);
  }

  #forget(serial: number): Submitter | undefined {
    if (this.#removeListeners.size > 0) {
      this.#removeListeners.get(serial)?.();
      this.#removeListeners.delete(serial);
    }
    return this.#submitters.remove(serial);
  }

  #deliver(answer: Answer, nowMs: number): void {
    if (answer.kind === 'view') this.#deliverView(answer, nowMs);
    else this.#deliverFailure(answer);
  }

  /** Delivers a view. A client that has left does not get the view of a read that took long. */
  #deliverView(view: ViewAnswer, nowMs: number): void {
    const submitter = this.#getSubmitter(view.serial, view.isLast);
    if (submitter === undefined) return;
    if (submitter.plan.isRead && isLongRunning(submitter, nowMs) && submitter.signal.aborted)
      return;
    deliverView(submitter, view);
  }

  #deliverFailure({ serial, error, stage }: FailedAnswer): void {
    const submitter = this.#getSubmitter(serial, stage === undefined);
    if (submitter !== undefined) deliverFailure(submitter, error, stage);
  }

  /**
   * Gives up submissions for which no caller waits any more. Most submissions end before a tick.
   * Only the others are checked, so that the first cost no signal.
   */
  #checkAbandoned(): void {
    // This is a tick later than the deadline, so that the client reports the timeout first. The
    // client knows best what was sent.
    const overBefore = Date.now() - this.#options.tickIntervalMs;
    this.#submitters.forEach((submitter, serial) => {
      if (serial >= this.#tickedAtSerial) return;
      if ((submitter.deadlineAt ?? Infinity) <= overBefore) {
        submitter.hasExpired = true;
        return this.machine.abandon(serial);
      }
      if (serial < this.#checkedBefore) return;
      const { signal } = submitter;
      if (signal.aborted) this.machine.abandon(serial);
      else this.#listen(signal, serial);
    });
    this.#checkedBefore = this.#tickedAtSerial;
    this.#tickedAtSerial = this.#nextSerial;
  }

  #listen(signal: AbortSignal, serial: number): void {
    const abandon = (): void => this.#abandon(serial);
    signal.addEventListener('abort', abandon, { once: true });
    this.#removeListeners.set(serial, () => signal.removeEventListener('abort', abandon));
  }

  #abandon(serial: number): void {
    if (this.#closed || this.#submitters.get(serial) === undefined) return;
    this.machine.abandon(serial);
    this.#turns.run();
  }
}

/** Whether an operation took so long that a check of its abort signal costs little beside it. */
function isLongRunning({ acceptedAtMs = 0 }: Submitter, nowMs: number): boolean {
  return nowMs - acceptedAtMs > SIGNAL_CHECK_DELAY_MS;
}
