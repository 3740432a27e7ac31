/**
 * Updates at one site. Each is executed at its slot, and a log entry answers it
 * (docs/spec/exactly-once.md).
 */
import type { SitePart } from '../core/site-part.ts';
import { isCorrectableError, type CorrectableError } from '../../../correctable/errors.ts';
import { Fifo } from '../../service/collections/fifo.ts';
import type { BluePath } from './blue/blue-path.ts';
import { formatOperationId, isKeyed } from '../core/operation-id.ts';
import {
  toFailure,
  mayHaveStartedError,
  redAwayUnknownError,
  replicaBehindError,
  unacknowledgedError,
} from '../../service/records/failures.ts';
import type { GeneratorOutcome } from '../../service/generator/generator-runner.ts';
import type { ReplyRecord, BlueOperation } from '../../service/records/records.ts';
import type { RedPath } from '../lane/red-path.ts';
import type { SiteCore } from '../core/site-core.ts';
import { RightsShortfall, type OtherEnd } from '../core/rights-port.ts';
import type { SubmissionIdentity, Submission } from '../core/submissions.ts';
import type { ReplyOrError } from '../../service/records/reply.ts';
import type { OperationPlan } from '../../service/operation-plan.ts';
import { DedupSlots, type DedupSlot } from './lookups/dedup-slots.ts';
import {
  OperationLookups,
  type OperationLookup,
  type OperationLookupHost,
} from './lookups/operation-lookup.ts';

/** Receives the outcome of a generator, and how long the operation has waited for rights. */
type OnOutcome = (outcome: GeneratorOutcome | CorrectableError, lackedMs?: number) => void;

function isOutcome(
  executed: GeneratorOutcome | CorrectableError | RightsShortfall,
): executed is GeneratorOutcome {
  return 'reads' in executed;
}

/**
 * Refuses an operation that may not begin, and returns whether it did. The outcome is there once
 * the generator has run.
 */
type IsRefused = (outcome?: GeneratorOutcome) => boolean;

/** A submission that is answered once its own blue operation is visible. */
interface UnansweredWrite {
  /** The sequence number of the operation in the stream of this site. */
  readonly sequence: number;
  readonly submission: Submission;
  /** The slot that the operation decides. It is `undefined` for an operation without a name. */
  readonly slot: DedupSlot | undefined;
}

/** The classes of the parts of `Writes`. Tests replace some. */
export const WRITES_PARTS = { OperationLookups, DedupSlots };

export class Writes implements OperationLookupHost, SitePart {
  readonly core: SiteCore;
  readonly lookups: OperationLookups;
  /**
   * Why no operation that may be blue begins here any more. Operations that have begun still get
   * their result.
   */
  rejection: CorrectableError | undefined;
  readonly #blue: BluePath;
  readonly #red: RedPath;
  /** The name of this start of the site, from which operations get theirs. */
  readonly #startName: string;
  /** Own blue operations become visible in the order in which they were made. */
  readonly #unanswered = new Fifo<UnansweredWrite>();

  constructor(
    core: SiteCore,
    blue: BluePath,
    red: RedPath,
    startName: string,
    parts: typeof WRITES_PARTS,
  ) {
    this.core = core;
    this.#blue = blue;
    this.#red = red;
    this.#startName = startName;
    const slots = new parts.DedupSlots(core.options.retentionLimits?.maxOutcomes);
    this.lookups = new parts.OperationLookups(this, slots);
  }

  /** Answers the caller of an own operation. One from before a restart has no caller. */
  onBlueApplied({ id, site, sequence, reply }: BlueOperation): void {
    if (site !== this.core.options.site || this.#unanswered.first?.sequence !== sequence) return;
    const { submission, slot } = this.#unanswered.shift() as UnansweredWrite;
    this.core.reply(submission, 'committed', reply);
    if (slot !== undefined) this.lookups.slots.finalize(id, slot);
  }

  /** Outcomes of operations that may be red are kept in the red log too. */
  isFullFor(submission: Submission): boolean {
    const { plan, identity } = submission;
    return (
      identity !== undefined && this.isCertified(plan) && this.#red.isFullFor(identity, submission)
    );
  }

  replyCommitted(submission: Submission, answer: ReplyOrError): void {
    this.core.reply(submission, 'committed', answer);
  }

  joinRed(submission: Submission): boolean {
    return submission.identity !== undefined && this.#red.join(submission.identity.id, submission);
  }

  submit(submission: Submission): void {
    const { identity, plan } = submission;
    // An idempotency key is decided in the log of its home, whichever operation is called with it.
    const hasKey = identity !== undefined && isKeyed(identity.id);
    const { memory } = this.core;
    memory.noteBegun();
    const rejection = this.rejection ?? memory.fullRejection;
    if (plan.isAlwaysRed && !hasKey) this.#begin(submission);
    else if (rejection !== undefined && !this.#isKnown(submission))
      this.refuse(submission, rejection);
    else if (identity !== undefined) this.lookups.begin(submission, identity);
    else {
      // A retry cannot name the operation, so its reply need not be kept.
      const end: OnOutcome = (outcome, lackedMs) =>
        this.#replyUnnamed(submission, outcome, lackedMs);
      this.runWhenSeen(submission, () => this.#runWithRights(submission, end));
    }
  }

  /**
   * Begins an operation that is certain to be red. A new one is refused if too much waits already.
   * A known one only waits for its result.
   */
  #begin(submission: Submission): void {
    const red = this.#red;
    const { identity } = submission;
    if (identity !== undefined && red.hasOperation(identity.id, submission))
      return this.escalateToRed(submission);
    // This is checked again when its session is covered: others may have taken all slots meanwhile.
    const isRefused: IsRefused = (outcome) => {
      const rejection = this.#getRejection(submission, outcome);
      if (rejection === undefined) return false;
      const isSure =
        identity === undefined ||
        (this.#isCertainlyNew(identity) && !this.core.hasWaiter(identity.id));
      const { waitsFor } = red.admissionOf(submission);
      const unsure = waitsFor === undefined ? mayHaveStartedError() : redAwayUnknownError(waitsFor);
      this.replyCommitted(submission, isSure ? rejection : unsure);
      return true;
    };
    if (!isRefused()) this.escalateToRed(submission, isRefused);
  }

  /** Returns why the operation must not begin here, if so. */
  #getRejection(
    submission: Submission,
    outcome: GeneratorOutcome | undefined,
  ): CorrectableError | undefined {
    const { identity, plan } = submission;
    const { memory } = this.core;
    const full = memory.redRejection ?? (outcome && memory.findRejection(outcome));
    if (full !== undefined) return full;
    const red = this.#red;
    const admission = red.admissionOf(submission);
    // A new operation is refused, so that the client keeps those for which it may send retries.
    if (identity?.hop === 0 && red.isFullFor(identity, submission))
      return unacknowledgedError(this.lookups.slots.limits);
    // A rejection that is not in the log would be wrong once the client retries. If there is room,
    // the red order has to reject.
    return identity !== undefined && !admission.isFull ? undefined : admission.getRejection(plan);
  }

  /**
   * Refuses an operation. It may have begun before, here or at a site that it was sent to earlier.
   */
  refuse(submission: Submission, rejection: CorrectableError): void {
    const { identity } = submission;
    const hasBegun = identity !== undefined && (identity.hop > 0 || this.#isKnown(submission));
    this.replyCommitted(submission, hasBegun ? mayHaveStartedError() : rejection);
  }

  /** Whether this site knows the operation, so that a retry waits for its result. */
  #isKnown(submission: Submission): boolean {
    const { identity } = submission;
    if (identity === undefined) return false;
    const { id, home, hop } = identity;
    if (this.#red.hasOperation(id, submission) || this.core.hasWaiter(id)) return true;
    return this.lookups.slots.find(id, home === this.core.options.site ? 0 : hop) !== undefined;
  }

  /**
   * Whether no other site can have the operation, and all proposals of earlier starts of this site
   * are known.
   */
  #isCertainlyNew({ id, hop }: SubmissionIdentity): boolean {
    // This is the name of the marker. Submissions have serials from 1 on.
    const marker = formatOperationId(this.#startName, 0);
    return hop === 0 && this.#red.areEarlierStartsOver(id, marker);
  }

  /**
   * Runs the generator, and again when lacking rights have come, unless the operation has ended
   * meanwhile.
   */
  #runWithRights(submission: Submission, end: OnOutcome, otherwise: OtherEnd = {}): void {
    const sinceMs = this.core.nowMs;
    const run = (): RightsShortfall | undefined => {
      const outcome = this.#runIfRoom(submission);
      if (outcome instanceof RightsShortfall) return outcome;
      end(outcome, this.core.nowMs - sinceMs);
      return undefined;
    };
    const shortfall = run();
    if (shortfall === undefined) return;
    const { rights } = this.core;
    if (rights?.rejection !== undefined) end(rights.rejection);
    else
      rights?.wait(shortfall, {
        submission,
        ...otherwise,
        onRetry: run,
        onTimeout: end,
      });
  }

  #replyUnnamed(
    submission: Submission,
    outcome: GeneratorOutcome | CorrectableError,
    rightsWaitedMs?: number,
  ): void {
    const id = formatOperationId(this.#startName, submission.serial);
    if (!isOutcome(outcome)) return this.core.reply(submission, 'committed', outcome);
    const { choice, reply } = outcome;
    if (this.#mustCertify(submission, outcome))
      return this.#red.begin(id, submission, outcome, {
        isUndecided: false,
        rightsWaitedMs,
      });
    if (choice === undefined)
      return this.core.reply(submission, 'committed', outcome.domainError ?? reply);
    const { sequence } = this.#blue.commit({
      id,
      hop: undefined,
      choice,
      reply,
    });
    this.#unanswered.push({ sequence, submission, slot: undefined });
  }

  /** The lookup has come to an open slot of this site's log: the operation is executed here. */
  executeIn(lookup: OperationLookup): void {
    const { sessionVector } = lookup.submission;
    // Most submissions come outside of a session.
    if (sessionVector === undefined || this.core.coverage.isCovered(sessionVector))
      this.#execute(lookup);
    else this.#executeWhenSeen(lookup);
  }

  #execute(lookup: OperationLookup): void {
    // Almost no service has bounded fields. Without them nothing can wait for rights.
    if (this.core.rights === undefined)
      return this.#decide(lookup, this.#runIfRoom(lookup.submission) as GeneratorOutcome, 0);
    return this.#runWithRights(
      lookup.submission,
      (outcome, lackedMs) => this.#decide(lookup, outcome, lackedMs),
      {
        isOver: () => this.#isDecided(lookup),
        onOver: () => this.lookups.step(lookup),
      },
    );
  }

  /**
   * The slot may be decided while an operation waits: another site has claimed it, or a retry was
   * executed.
   */
  #isDecided({ identity, hop }: OperationLookup): boolean {
    const { slots } = this.lookups;
    return slots.find(identity.id, hop) !== undefined || slots.rivalOf(identity.id) !== undefined;
  }

  #executeWhenSeen(lookup: OperationLookup): void {
    const ifOpen = (execute: () => void): void =>
      this.#isDecided(lookup) ? this.lookups.step(lookup) : execute();
    const run = (): void => ifOpen(() => this.#execute(lookup));
    this.runWhenSeen(lookup.submission, run, () =>
      ifOpen(() => this.#decide(lookup, replicaBehindError(this.core.options))),
    );
  }

  /** Sends an operation to the red log for good. There only its identifier counts. */
  escalateToRed(
    submission: Submission,
    isRefused: IsRefused = () => this.#isHalted(submission),
  ): void {
    const id = submission.identity?.id ?? formatOperationId(this.#startName, submission.serial);
    if (this.#red.join(id, submission)) return;
    const begin = (outcome: GeneratorOutcome | CorrectableError): void => {
      const isRun = !isCorrectableError(outcome);
      if (this.#red.join(id, submission) || isRefused(isRun ? outcome : undefined)) return;
      if (!isRun) this.#red.fail(id, submission, outcome);
      else this.#red.begin(id, submission, outcome, { isUndecided: false });
    };
    const late = (): void => begin(replicaBehindError(this.core.options));
    this.runWhenSeen(submission, () => begin(this.#run(submission)), late);
  }

  /**
   * An operation that was handed over has no result here for now. Another site may have brought it
   * into the red log.
   */
  #isHalted(submission: Submission): boolean {
    const { halted, waitsFor } = this.#red.admissionOf(submission);
    if (halted === undefined && waitsFor === undefined) return false;
    const error = waitsFor === undefined ? mayHaveStartedError() : redAwayUnknownError(waitsFor);
    this.replyCommitted(submission, error);
    return true;
  }

  /**
   * Whether the outcome has to be certified. An outcome without effects may be a rejection because
   * of stale reads. So it is certified if some path of the operation is red, unless its generator
   * declares that the snapshot of the site is enough.
   */
  #mustCertify({ plan }: Submission, { choice, isLocal }: GeneratorOutcome): boolean {
    if (plan.isAlwaysRed) return true;
    if (choice !== undefined) return choice.color === 'red';
    return this.isCertified(plan) && isLocal !== true;
  }

  isCertified({ mayBeRed }: OperationPlan): boolean {
    return mayBeRed;
  }

  /** Appends the entry that decides an open slot of this site's log. */
  #decide(
    lookup: OperationLookup,
    outcome: GeneratorOutcome | CorrectableError,
    lackedMs?: number,
  ): void {
    if (!isOutcome(outcome)) return this.#decideFailure(lookup, outcome);
    const { submission, identity, hop } = lookup;
    const { choice, reply, domainError } = outcome;
    if (this.#mustCertify(submission, outcome)) return this.handOver(lookup, outcome, lackedMs);
    if (choice === undefined) {
      return domainError === undefined
        ? this.#recordHere(lookup, { reply })
        : this.#recordHere(lookup, { failure: toFailure(domainError) });
    }
    const { sequence, vector } = this.#blue.commit({
      id: identity.id,
      hop,
      choice,
      reply,
    });
    const slot = this.lookups.slots.decide(identity.id, hop, {
      kind: 'record',
      reply,
      vector,
    });
    this.#unanswered.push({ sequence, submission, slot });
  }

  #decideFailure(lookup: OperationLookup, failure: CorrectableError): void {
    const { identity, submission } = lookup;
    // The obstacle may be gone when the operation is retried. A retry with the same key has to be
    // able to succeed.
    const mayPass =
      this.#red.admissionOf(submission).isTemporary(failure) ||
      this.core.memory.isRejection(failure) ||
      (failure.retryable && isKeyed(identity.id));
    if (mayPass) this.#leaveSlotOpen(lookup, failure);
    else this.#recordHere(lookup, { failure: toFailure(failure) });
  }

  /** Records a reply that holds on the snapshot of this site. */
  #recordHere(lookup: OperationLookup, answer: Omit<ReplyRecord, 'kind' | 'vector'>): void {
    const vector = this.core.state.stable.slice();
    this.recordReply(lookup, { kind: 'record', ...answer, vector });
  }

  /**
   * Leaves the slot open if only a halted red log is in the way, or if an operation with a key
   * failed temporarily. So a retry executes the operation once that is fixed. Until then nothing of
   * it is done, unless another copy is executed: one that waits here, or one that the client has
   * sent to another site before, which may claim the slot.
   */
  #leaveSlotOpen({ submission, identity }: OperationLookup, failure: CorrectableError): void {
    const { id, hop, hasMoved = hop > 0 } = identity;
    const hasCopy = hasMoved || this.core.hasWaiter(id);
    this.replyCommitted(submission, hasCopy ? mayHaveStartedError() : failure);
  }

  /** Records a reply without effects. A late copy of the request must get the same reply. */
  recordReply(lookup: OperationLookup, answer: ReplyRecord): void {
    this.lookups.store(lookup, answer);
  }

  /**
   * The slot records that the operation is red before it goes to the red log: a retry must not
   * become blue.
   */
  handOver(
    { submission, identity: { id }, hop }: OperationLookup,
    outcome: GeneratorOutcome,
    rightsWaitedMs?: number,
  ): void {
    const decision = { kind: 'handover' } as const;
    const slot: DedupSlot = this.lookups.slots.decide(id, hop, decision);
    const isKnown = this.#red.join(id, submission);
    if (!isKnown)
      this.#red.begin(id, submission, outcome, {
        isUndecided: true,
        rightsWaitedMs,
      });
    this.core.store({ kind: 'slot', id, hop, decision }, () => {
      this.lookups.slots.finalize(id, slot);
      if (!isKnown) this.#red.release(id, submission.serial);
    });
  }

  /**
   * Runs the generator within the rights of the site. A red outcome fails if too much waits for the
   * red order.
   */
  #runIfRoom(submission: Submission): GeneratorOutcome | CorrectableError | RightsShortfall {
    const executed = this.#run(submission);
    if (!isOutcome(executed)) return executed;
    const { rights } = this.core;
    const outcome = rights === undefined ? executed : rights.resolvePath(executed);
    if (!isOutcome(outcome)) return outcome;
    const { memory } = this.core;
    const rejection = memory.findRejection(outcome);
    if (rejection !== undefined) return rejection;
    if (!this.#mustCertify(submission, outcome)) return outcome;
    if (memory.redRejection !== undefined) return memory.redRejection;
    const admission = this.#red.admissionOf(submission);
    return admission.getRejection(submission.plan) ?? outcome;
  }

  #run(submission: Submission): GeneratorOutcome | CorrectableError {
    try {
      return this.core.state.run(submission);
    } catch (error) {
      if (isCorrectableError(error)) return error;
      throw error;
    }
  }

  /**
   * Runs `run` once the site has what the session of the submission has seen. If that takes too
   * long, runs `late`. Default of `late`: the submission fails
   */
  runWhenSeen(submission: Submission, run: () => void, late?: () => void): void {
    const { nowMs, options, coverage } = this.core;
    coverage.runWhenCovered(submission.sessionVector, {
      untilMs: nowMs + options.sessionTimeoutMs,
      run,
      late: late ?? (() => this.replyCommitted(submission, replicaBehindError(options))),
      submission,
    });
  }
}
