/**
 * Updates at one site: executed where their slot is, on a state that holds what their session has seen, and answered by
 * an entry in a log (docs/spec/exactly-once.md).
 */
import { isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import { Fifo } from '../collections/fifo.ts';
import type { BluePath } from './causal/blue-path.ts';
import { isKeyed } from '../records/operation-id.ts';
import { failureOf, mayHaveBegunError, sessionBehindError, unacknowledgedError } from '../records/failure.ts';
import type { GeneratorOutcome } from '../generator/generator-run.ts';
import type { AnswerRecord, BlueOperation } from '../records/records.ts';
import type { RedPath } from './red/red-path.ts';
import type { ReplicaCore } from './core/replica-port.ts';
import { Lack, type RightsWaiter } from './core/rights-port.ts';
import type { Identity, Stage, Submission } from '../records/submissions.ts';
import type { Answer } from '../records/reply.ts';
import type { Slot } from './once/slots.ts';
import { Walks, type Walk, type WalkHost } from './once/walks.ts';

/** Names the marker of this start: submissions have serials from 1 on. */
const NO_TOKEN = 0;

/** What updates need from the rest of their replica. */
export interface UpdatesHost {
  readonly core: ReplicaCore;
  readonly blue: BluePath;
  readonly red: RedPath;
  /** A name for an operation that nobody else has one for. */
  idOf(serial: number): string;
  answer(submission: Submission, stage: Stage, answer: Answer): void;
}

/** Told what comes of a generator, and for how long that has waited for rights. */
type End = (outcome: GeneratorOutcome | CorrectableError, lackedMs?: number) => void;

/** Whether it came to its end. */
function isOutcome(ran: GeneratorOutcome | CorrectableError | Lack): ran is GeneratorOutcome {
  return 'reads' in ran;
}

/** Who is answered once an own blue operation is visible. */
interface Unanswered {
  /** Of the operation, in the stream of this site. */
  readonly sequence: number;
  readonly submission: Submission;
  /** The slot that it decides; none of an operation without a name. */
  readonly slot: Slot | undefined;
}

/** The updates under way at one site. */
export class Updates implements WalkHost {
  readonly core: ReplicaCore;
  readonly walks: Walks;
  /** Why nothing begins here any more that may be blue; what has begun is told what became of it. */
  refusal: CorrectableError | undefined;
  readonly #host: UpdatesHost;
  /** Own blue operations become visible in the order in which they were made. */
  readonly #unanswered = new Fifo<Unanswered>();

  constructor(host: UpdatesHost) {
    this.#host = host;
    this.core = host.core;
    this.walks = this.createWalks();
  }

  /** An own blue operation has become visible. */
  onVisible({ id, sequence, reply }: BlueOperation): void {
    // One from before a restart has nobody who waits for it.
    if (this.#unanswered.at(0)?.sequence !== sequence) return;
    const { submission, slot } = this.#unanswered.shift() as Unanswered;
    this.#host.answer(submission, 'committed', reply);
    if (slot !== undefined) this.walks.slots.settle(id, slot);
  }

  /** What may be red is remembered in the red log too. */
  isFullFor({ operation, identity }: Submission): boolean {
    return identity !== undefined && this.isCertified(operation) && this.#host.red.isFullFor(identity);
  }

  answerCommitted(submission: Submission, answer: Answer): void {
    this.#host.answer(submission, 'committed', answer);
  }

  protected createWalks(): Walks {
    return new Walks(this);
  }

  submit(submission: Submission): void {
    const { identity, serial, operation } = submission;
    // What a key names is decided in one log, whatever is asked under it: at its home.
    const hasKey = identity !== undefined && isKeyed(identity.id);
    if (this.core.options.service.alwaysRed.has(operation) && !hasKey) this.#begin(submission);
    else if (this.refusal !== undefined && !this.#hasBegun(identity)) this.#refuse(submission, this.refusal);
    else if (identity !== undefined) this.walks.begin(submission, identity);
    else this.whenSeen(submission, () => this.#executeUnnamed(submission, serial));
  }

  /** What asks for the first time is not begun where too much waits already; what is known is only asked for. */
  #begin(submission: Submission): void {
    const { red } = this.#host;
    const { identity } = submission;
    if (identity !== undefined && red.knows(identity.id)) return this.goRed(submission);
    // Asked once more when its turn has come: others may have taken all places while it waited for its session.
    const isRefused = (): boolean => {
      const refusal = this.#refusalOf(submission);
      if (refusal === undefined) return false;
      const isSure = identity === undefined || (this.#cannotHaveBegun(identity) && !this.core.isWaitedFor(identity.id));
      this.answerCommitted(submission, isSure ? refusal : mayHaveBegunError());
      return true;
    };
    if (!isRefused()) this.goRed(submission, isRefused);
  }

  /** Why nothing of it is to begin here, if that is so. */
  #refusalOf({ identity, operation }: Submission): CorrectableError | undefined {
    const { red } = this.#host;
    // The newcomer, rather than what its client may still ask for.
    if (identity?.hop === 0 && red.isFullFor(identity)) return unacknowledgedError(this.walks.slots.limits);
    // A no that is no entry would be untrue once the client asks again: the red order says it, where there is room.
    return identity !== undefined && !red.isFull ? undefined : red.refusalOf(operation);
  }

  /** What may be blue has begun here or at a site that it was sent to before, or nowhere. */
  #refuse(submission: Submission, refusal: CorrectableError): void {
    const hasMoved = submission.identity !== undefined && submission.identity.hop > 0;
    this.answerCommitted(submission, hasMoved ? mayHaveBegunError() : refusal);
  }

  /** Whether this site knows of it: then it is asked for again, or waits here. */
  #hasBegun(identity: Identity | undefined): boolean {
    if (identity === undefined) return false;
    const { id, home, hop } = identity;
    if (this.#host.red.knows(id) || this.core.isWaitedFor(id)) return true;
    return this.walks.slots.find(id, home === this.core.options.site ? 0 : hop) !== undefined;
  }

  /** Whether it was sent to no other site before, and what earlier starts of this one have proposed is all known. */
  #cannotHaveBegun({ hop }: Identity): boolean {
    return hop === 0 && this.#host.red.order(this.#host.idOf(NO_TOKEN));
  }

  /** Nobody can ask for this again: its answer need not be remembered. */
  #executeUnnamed(submission: Submission, serial: number): void {
    this.#runWithRights(submission, (outcome, lackedMs) => this.#endUnnamed(submission, serial, outcome, lackedMs));
  }

  /**
   * Runs the generator, and again once rights have come where some are lacking; `end` is told what comes of it, unless it
   * has ended `otherwise` while it waited.
   */
  #runWithRights(submission: Submission, end: End, otherwise: Pick<RightsWaiter, 'isOver' | 'over'> = {}): void {
    const sinceMs = this.core.nowMs;
    const run = (): Lack | undefined => {
      const outcome = this.#runIfRoom(submission);
      if (outcome instanceof Lack) return outcome;
      end(outcome, this.core.nowMs - sinceMs);
      return undefined;
    };
    const lack = run();
    if (lack === undefined) return;
    const { rights } = this.core;
    if (rights?.refusal !== undefined) end(rights.refusal);
    else rights?.wait(lack, { submission, ...otherwise, retry: run, late: end });
  }

  #endUnnamed(
    submission: Submission,
    serial: number,
    outcome: GeneratorOutcome | CorrectableError,
    lackedMs?: number,
  ): void {
    const id = this.#host.idOf(serial);
    if (!isOutcome(outcome)) return this.#host.answer(submission, 'committed', outcome);
    const { choice, reply } = outcome;
    if (this.#isRed(submission, outcome))
      return this.#host.red.begin(id, submission, outcome, { isHeld: false, lackedMs });
    if (choice === undefined) return this.#host.answer(submission, 'committed', outcome.refusal ?? reply);
    const { sequence } = this.#host.blue.commit({ id, hop: undefined, choice, reply });
    this.#unanswered.push({ sequence, submission, slot: undefined });
  }

  /** The operation has come to an open slot of this site's log: what happens here decides it. */
  executeIn(walk: Walk): void {
    if (this.core.coverage.has(walk.submission.after)) this.#execute(walk);
    else this.#executeOnceSeen(walk);
  }

  #execute(walk: Walk): void {
    // Nearly all services have no rights: then nothing of it can wait.
    if (this.core.rights === undefined)
      return this.#decide(walk, this.#runIfRoom(walk.submission) as GeneratorOutcome, 0);
    return this.#runWithRights(walk.submission, (outcome, lackedMs) => this.#decide(walk, outcome, lackedMs), {
      isOver: () => this.#isDecided(walk),
      over: () => this.walks.step(walk),
    });
  }

  /** Who waits may find the slot decided: another site has claimed it, a retry was executed. */
  #isDecided({ identity, hop }: Walk): boolean {
    const { slots } = this.walks;
    return slots.find(identity.id, hop) !== undefined || slots.rivalOf(identity.id) !== undefined;
  }

  #executeOnceSeen(walk: Walk): void {
    const ifOpen = (execute: () => void): void => (this.#isDecided(walk) ? this.walks.step(walk) : execute());
    const run = (): void => ifOpen(() => this.#execute(walk));
    this.whenSeen(walk.submission, run, () => ifOpen(() => this.#decide(walk, sessionBehindError(this.core.options))));
  }

  /** The operation is red for ever: in the red log its identifier alone counts. */
  goRed(submission: Submission, isRefused: () => boolean = () => this.#isHalted(submission)): void {
    const id = submission.identity?.id ?? this.#host.idOf(submission.serial);
    if (this.#host.red.join(id, submission)) return;
    const begin = (outcome: GeneratorOutcome | CorrectableError): void => {
      if (this.#host.red.join(id, submission) || isRefused()) return;
      if (isCorrectableError(outcome)) this.#host.red.fail(id, submission, outcome);
      else this.#host.red.begin(id, submission, outcome, { isHeld: false });
    };
    const late = (): void => begin(sessionBehindError(this.core.options));
    this.whenSeen(submission, () => begin(this.#run(submission)), late);
  }

  /** Of what was handed over earlier nothing comes here any more: somebody may have brought it into the red log. */
  #isHalted(submission: Submission): boolean {
    if (this.#host.red.halted === undefined) return false;
    this.answerCommitted(submission, mayHaveBegunError());
    return true;
  }

  /**
   * Whether the outcome has to be certified. What changes nothing says "no" by what it has read, and its site may be the
   * last to hear of the yes: so it is, where some path of the operation is red, unless its generator says that the site's
   * own snapshot will do.
   */
  #isRed({ operation }: Submission, { choice, isLocal }: GeneratorOutcome): boolean {
    if (this.core.options.service.alwaysRed.has(operation)) return true;
    if (choice !== undefined) return choice.colour === 'red';
    return this.isCertified(operation) && isLocal !== true;
  }

  protected isCertified(operation: string): boolean {
    return this.core.options.service.maybeRed.has(operation);
  }

  /** Appends the entry that decides an open slot of this site's log. */
  #decide(walk: Walk, outcome: GeneratorOutcome | CorrectableError, lackedMs?: number): void {
    const { submission, identity, hop } = walk;
    const { stable } = this.core.state;
    if (outcome === this.#host.red.halted) return this.#leaveOpen(walk, outcome);
    // A retry with the same key has to be able to succeed.
    if (isCorrectableError(outcome) && outcome.retryable && isKeyed(identity.id)) return this.#leaveOpen(walk, outcome);
    if (!isOutcome(outcome)) {
      return this.record(walk, { kind: 'record', failure: failureOf(outcome), vector: stable.slice() });
    }
    const { choice, reply, refusal } = outcome;
    if (this.#isRed(submission, outcome)) return this.handOver(walk, outcome, lackedMs);
    if (choice === undefined) {
      const answer = refusal === undefined ? { reply } : { failure: failureOf(refusal) };
      return this.record(walk, { kind: 'record', ...answer, vector: stable.slice() });
    }
    const { sequence, vector } = this.#host.blue.commit({ id: identity.id, hop, choice, reply });
    const slot = this.walks.slots.decide(identity.id, hop, { kind: 'record', reply, vector });
    this.#unanswered.push({ sequence, submission, slot });
  }

  /**
   * What only a red log that has halted is in the way of is no answer, nor is a passing failure of an operation with a key:
   * the slot stays open, so that whoever asks again once that is repaired is executed. Until then nothing of it is done,
   * unless another copy that waits here gets its way.
   */
  #leaveOpen({ submission, identity: { id } }: Walk, failure: CorrectableError): void {
    this.answerCommitted(submission, this.core.isWaitedFor(id) ? mayHaveBegunError() : failure);
  }

  /** An answer without effects: once told, no late copy of the request may find out otherwise. */
  protected record(walk: Walk, answer: AnswerRecord): void {
    this.walks.store(walk, answer);
  }

  /** Its slot says that it is red before it goes to the red log: its retry must not turn blue. */
  protected handOver({ submission, identity: { id }, hop }: Walk, outcome: GeneratorOutcome, lackedMs?: number): void {
    const decision = { kind: 'handover' } as const;
    const slot: Slot = this.walks.slots.decide(id, hop, decision);
    const isKnown = this.#host.red.join(id, submission);
    if (!isKnown) this.#host.red.begin(id, submission, outcome, { isHeld: true, lackedMs });
    this.core.store({ kind: 'slot', id, hop, decision }, () => {
      this.walks.slots.settle(id, slot);
      if (!isKnown) this.#host.red.release(id, submission.serial);
    });
  }

  /**
   * The same, as the site's rights let it, and where what comes of it may not be red while too much waits for the red
   * order, or for its turn.
   */
  #runIfRoom(submission: Submission): GeneratorOutcome | CorrectableError | Lack {
    const ran = this.#run(submission);
    if (!isOutcome(ran)) return ran;
    const { rights } = this.core;
    const outcome = rights === undefined ? ran : rights.decided(ran);
    if (!isOutcome(outcome) || !this.#isRed(submission, outcome)) return outcome;
    return this.#host.red.refusalOf(submission.operation) ?? outcome;
  }

  /** Runs the generator on the stable snapshot. */
  #run(submission: Submission): GeneratorOutcome | CorrectableError {
    try {
      return this.core.state.run(submission);
    } catch (error) {
      if (isCorrectableError(error)) return error;
      throw error;
    }
  }

  /** Runs `run` once the site has what the submission's session has seen; else `late`, or tells that it has not. */
  whenSeen(submission: Submission, run: () => void, late: () => void = () => this.#tellBehind(submission)): void {
    const { nowMs, options, coverage } = this.core;
    coverage.when(submission.after, { untilMs: nowMs + options.sessionWaitMs, run, late, submission });
  }

  #tellBehind(submission: Submission): void {
    this.answerCommitted(submission, sessionBehindError(this.core.options));
  }
}
