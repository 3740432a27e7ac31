/** Runs one site in a process: gives its state machine the time, its storage and its links, and answers submitters. */
// Imported: what is global is looked up anew at each call.
import { performance } from 'node:perf_hooks';
import { LOOK_AFTER_MS } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { ContractInfo } from '../../protocol/contract/contract.ts';
import { NumberedTable } from '../../protocol/numbered-table.ts';
import { epochOf } from '../records/epoch.ts';
import type { LogId } from '../log/log-id.ts';
import type { SiteStorage } from '../log/storage.ts';
import type { Remembered } from '../replica/once/remembered.ts';
import { interruptedError } from './site-binding.ts';
import type { SessionTokens, SubmissionPort, Submitter } from './site-binding.ts';
import { tellFailure, tellView } from './telling.ts';
import { SiteMachine } from './site-machine.ts';
import type { RefusedMessages, SiteOptions, SiteOutput } from './site-machine.ts';
import type { Envelope } from '../messages/envelope.ts';
import type { Origin, Origins } from '../records/origin.ts';
import type { RedHalt } from '../log/red-feed.ts';

/** What a driver needs. */
export interface SiteDriverOptions extends Omit<SiteOptions, 'epoch'> {
  readonly storage: SiteStorage;
  send(envelope: Envelope): void;
  /** How often a busy site looks for messages that were lost. */
  readonly tickMs: number;
  /** Submissions under way at most; more fail with `OVERLOADED`. */
  readonly inFlightMax: number;
  /** Entries kept for sites that lack them, at most; with more, updates fail with `OVERLOADED`. */
  readonly backlogMax: number;
  readonly tokens: SessionTokens;
  /** The clock of this machine was set, by so many milliseconds (backwards: below 0), more than is allowed between sites. */
  readonly clockSet?: ((byMs: number) => void) | undefined;
  /** Nothing more is taken of the red log. */
  readonly redHalted?: ((halt: RedHalt) => void) | undefined;
}

const SEED_RANGE = 2 ** 32;

/** What all submissions of one turn have in common. A turn is an iteration of the event loop. */
interface Turn {
  /** When it began: by the clock that only runs forward, and in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly wallMs: number;
  /** Why updates are not taken. */
  readonly updateRefusal: CorrectableError | undefined;
}

/** Why a site has ended. */
interface SiteEnd {
  readonly why: string;
  readonly cause?: Error;
  /** What to do where the site does not come back. */
  readonly advice?: string;
}

/** When to try again after a refusal for lack of room. */
const FULL_RETRY_MS = 1000;

/** A running site. */
export class SiteDriver implements SubmissionPort {
  readonly contract: ContractInfo;
  readonly site: Origin;
  readonly origins: Origins;
  readonly tokens: SessionTokens;
  readonly #options: SiteDriverOptions;
  readonly #machine: SiteMachine;
  readonly #submitters = new NumberedTable<Submitter>();
  /** What takes the listener away again from the signal of a submission, by its serial: of those that were under way long. */
  readonly #unlisten = new Map<number, () => void>();
  /** By how much the clock that people set is ahead of the one that only runs forward, when that was last noticed. */
  #wallAheadMs: number;
  #nextSerial = 1;
  /**
   * The turn in which submissions have come. What they lead to is done at its end: once for all frames of all clients that
   * came together, with one reading of the clock and one write to the log.
   */
  #turn: Turn | undefined;
  /** The next serial at the last tick, and the one before: who has waited for a tick may be given up meanwhile. */
  #tickedAtSerial = 1;
  #watchedBefore = 1;
  #ticker: NodeJS.Timeout | undefined;
  #waker: NodeJS.Timeout | undefined;
  /** Why nothing is taken any more. */
  #end: SiteEnd | undefined;
  #closed = false;
  /** Up to where the logs are synced, of which the machine has not heard. */
  readonly #synced = new Map<LogId, number>();
  #isActing = false;

  constructor(options: SiteDriverOptions) {
    this.#options = options;
    this.contract = options.service.contract;
    this.site = options.site;
    this.origins = options.origins;
    this.tokens = options.tokens;
    const { storage } = options;
    this.#machine = new SiteMachine(
      { ...options, epoch: epochOf(storage.term, Math.random()) },
      storage.stored,
      performance.now(),
      Date.now(),
    );
    this.#wallAheadMs = Date.now() - performance.now();
  }

  get failure(): CorrectableError | undefined {
    return this.#end?.cause === undefined ? undefined : refusedError(this.#end);
  }

  /** Messages of other sites that were not taken, by reason. */
  get refusedMessages(): RefusedMessages {
    return this.#machine.refusals;
  }

  get remembered(): Remembered {
    return this.#machine.replica.remembered;
  }

  /**
   * Begins: what was under way when the site was stopped goes on. To be called once all sites can receive: before that
   * nothing is changed.
   */
  start(): void {
    this.#options.storage.attach(this.#machine, {
      synced: (log, length) => {
        if (this.#closed) return;
        this.#synced.set(log, length);
        if (!this.#isActing) this.#act();
      },
      fenced: (cause) =>
        this.#endWith({ why: `The site has stopped, because another one has its data (${cause.message})`, cause }),
      failed: (error) => this.#stop(error),
    });
    this.#act();
  }

  submit(submission: Submitter): void {
    const turn = (this.#turn ??= this.#beginTurn());
    const refusal = this.#refusalOf(submission, turn);
    if (refusal !== undefined) {
      submission.failed(refusal, undefined);
      return;
    }
    const serial = this.#nextSerial++;
    submission.serial = serial;
    submission.seed = Math.floor(Math.random() * SEED_RANGE);
    submission.submittedAtMs = turn.wallMs;
    submission.takenAtMs = turn.nowMs;
    this.#submitters.set(serial, submission);
    try {
      this.#machine.submit(submission, turn.nowMs, turn.wallMs);
    } catch (error) {
      // What the code of a service throws outside of its generators costs that operation alone.
      this.#forget(serial);
      submission.failed(error, undefined);
    }
  }

  receive(envelopes: readonly Envelope[]): void {
    if (this.#closed) return;
    const { storage } = this.#options;
    for (const envelope of envelopes) {
      this.#machine.receive(envelope, performance.now(), Date.now(), !storage.isStuck);
    }
    this.#act();
  }

  endSubmissions(door: object): void {
    const given = this.#interrupt(
      { why: 'The client was closed before the operation ended' },
      (submitter) => submitter.door === door,
    );
    if (this.#closed) return;
    // What has not left the site gives its place back.
    for (const serial of given) this.#machine.abandon(serial);
    this.#act();
  }

  /** Ends the site; its storage is closed after it. */
  close(): void {
    this.#endWith({ why: 'The site was closed', advice: 'make a new deployment and a new client' });
  }

  /** Why an operation is not taken; `undefined` when it is. */
  #refusalOf({ effect }: Submitter, { updateRefusal }: Turn): CorrectableError | undefined {
    const { inFlightMax } = this.#options;
    if (this.#end !== undefined) return refusedError(this.#end);
    if (this.#submitters.size >= inFlightMax) return overloadedError(inFlightMax);
    return effect === 'read' ? undefined : updateRefusal;
  }

  #beginTurn(): Turn {
    // Runs after the messages that have already arrived were read, and before the loop waits for more.
    setImmediate(() => {
      this.#turn = undefined;
      if (!this.#closed) this.#act();
    });
    const { backlogMax, storage } = this.#options;
    const { fullBecause } = storage;
    const updateRefusal =
      fullBecause !== undefined
        ? fullError(fullBecause)
        : this.#machine.backlog >= backlogMax
          ? backlogError(backlogMax)
          : undefined;
    const [nowMs, wallMs] = [performance.now(), Date.now()];
    this.#noticeSetClock(wallMs - nowMs);
    return { nowMs, wallMs, updateRefusal };
  }

  /** Nothing waits for a clock that was set; but people should know of it. */
  #noticeSetClock(wallAheadMs: number): void {
    const byMs = wallAheadMs - this.#wallAheadMs;
    if (Math.abs(byMs) <= this.#options.maxClockSkewMs) return;
    this.#wallAheadMs = wallAheadMs;
    this.#options.clockSet?.(Math.round(byMs));
  }

  /** What is not on the disk by now may never be: the site must not go on as if it were. */
  #stop(cause: Error): void {
    this.#endWith({ why: `The site has stopped, because its log cannot be written (${cause.message})`, cause });
  }

  #endWith(end: SiteEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#end = end;
    clearInterval(this.#ticker);
    clearTimeout(this.#waker);
    this.#interrupt(end, () => true);
  }

  /** Fails what is under way and `ends`; gives the serials of it. */
  #interrupt({ why, cause }: SiteEnd, ends: (submitter: Submitter) => boolean): readonly number[] {
    const ended: number[] = [];
    this.#submitters.forEach((submitter, serial) => {
      if (!ends(submitter)) return;
      ended.push(serial);
      this.#forget(serial);
      tellFailure(submitter, interruptedError(submitter.effect, why, cause), undefined);
    });
    return ended;
  }

  #act(): void {
    // After a pause another process may have the data: nothing more is told then.
    if (this.#closed || !this.#options.storage.isHeld()) return;
    this.#isActing = true;
    try {
      let outputs: SiteOutput[];
      do {
        this.#takeSynced();
        outputs = this.#machine.takeOutputs();
        // One reading of the clock for all that is told now.
        const nowMs = outputs.length > 0 ? performance.now() : 0;
        for (const output of outputs) this.#do(output, nowMs);
      } while (this.#synced.size > 0);
    } finally {
      this.#isActing = false;
    }
    this.#tickWhileBusy();
    this.#wakeInTime();
  }

  /** Storage in memory reports within `append`: what that leads to is answered together with the rest of the turn. */
  #takeSynced(): void {
    for (const [log, length] of this.#synced) this.#machine.onSynced(log, length, performance.now(), Date.now());
    this.#synced.clear();
  }

  #do(output: SiteOutput, nowMs: number): void {
    switch (output.kind) {
      case 'send':
        // Sites of one process share its clock: none of them is ahead of another, and no envelope says what it shows.
        return this.#options.send(output.envelope);
      case 'store':
        return this.#options.storage.append(output.log, output.entries);
      case 'halted':
        return this.#options.redHalted?.(output.halt);
      case 'view':
        return this.#tell(output, nowMs);
      case 'failed':
        return this.#tellFailure(output);
    }
  }

  #submitterOf(serial: number, isLast: boolean): Submitter | undefined {
    return isLast ? this.#forget(serial) : this.#submitters.get(serial);
  }

  #forget(serial: number): Submitter | undefined {
    if (this.#unlisten.size > 0) {
      this.#unlisten.get(serial)?.();
      this.#unlisten.delete(serial);
    }
    return this.#submitters.take(serial);
  }

  /** A read that took its time is told to nobody who has left. */
  #tell(view: Extract<SiteOutput, { kind: 'view' }>, nowMs: number): void {
    const submitter = this.#submitterOf(view.serial, view.last);
    if (submitter === undefined) return;
    if (submitter.effect === 'read' && isLate(submitter, nowMs) && submitter.signal.aborted) return;
    tellView(submitter, view);
  }

  #tellFailure({ serial, error, stage }: Extract<SiteOutput, { kind: 'failed' }>): void {
    const submitter = this.#submitterOf(serial, stage === undefined);
    if (submitter !== undefined) tellFailure(submitter, error, stage);
  }

  /** Somebody waits for a moment that no message tells. */
  #wakeInTime(): void {
    const { wakeAtMs } = this.#machine;
    if (this.#waker !== undefined || wakeAtMs === undefined || this.#closed) return;
    this.#waker = setTimeout(
      () => {
        this.#waker = undefined;
        this.#machine.tick(performance.now(), Date.now());
        this.#act();
      },
      Math.max(0, wakeAtMs - performance.now()),
    );
  }

  /**
   * Gives up what nobody waits for any more. Most submissions end before a tick: only those that have not are looked at,
   * so that the others cost no signal.
   */
  #watch(): void {
    // A tick later than the deadline: so its client fails with TIMEOUT before the site fails it with ABORTED.
    const overBefore = Date.now() - this.#options.tickMs;
    this.#submitters.forEach((submitter, serial) => {
      if (serial >= this.#tickedAtSerial) return;
      if ((submitter.deadlineAt ?? Infinity) <= overBefore) return this.#machine.abandon(serial);
      if (serial < this.#watchedBefore) return;
      const { signal } = submitter;
      if (signal.aborted) this.#machine.abandon(serial);
      else this.#listen(signal, serial);
    });
    this.#watchedBefore = this.#tickedAtSerial;
    this.#tickedAtSerial = this.#nextSerial;
  }

  #listen(signal: AbortSignal, serial: number): void {
    const abandon = (): void => this.#abandon(serial);
    signal.addEventListener('abort', abandon, { once: true });
    this.#unlisten.set(serial, () => signal.removeEventListener('abort', abandon));
  }

  #abandon(serial: number): void {
    if (this.#closed || this.#submitters.get(serial) === undefined) return;
    this.#machine.abandon(serial);
    this.#act();
  }

  #tickWhileBusy(): void {
    if (this.#ticker !== undefined || !this.#machine.busy) return;
    this.#ticker = setInterval(() => {
      this.#machine.tick(performance.now(), Date.now());
      this.#watch();
      this.#act();
      if (this.#machine.busy) return;
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }, this.#options.tickMs);
    // Links keep the process alive while something is in flight; a tick only mends.
    this.#ticker.unref();
  }
}

/** Whether it took so long that to look at its signal costs little beside (`isLetGo`). */
function isLate({ takenAtMs = 0 }: Submitter, nowMs: number): boolean {
  return nowMs - takenAtMs > LOOK_AFTER_MS;
}

function overloadedError(inFlightMax: number): CorrectableError {
  const message = `The site has ${inFlightMax} operations under way, as many as it takes. Nothing was done: try later.`;
  return new CorrectableError('OVERLOADED', message);
}

function fullError(because: string): CorrectableError {
  const message = `${because}. Nothing was done; reads are served, updates again once there is room.`;
  return new CorrectableError('UNAVAILABLE', message, { retryAfterMs: FULL_RETRY_MS });
}

function backlogError(backlogMax: number): CorrectableError {
  const message = `Another site has been away for so long that ${backlogMax} operations wait for it, as many as are kept.`;
  return new CorrectableError('OVERLOADED', `${message} Nothing was done: updates go on once it is back.`);
}

function refusedError({ why, cause, advice }: SiteEnd): CorrectableError {
  const message = `${why}. Nothing was done${advice === undefined ? '' : `: ${advice}`}.`;
  return new CorrectableError('UNAVAILABLE', message, { cause, retryable: advice === undefined });
}
