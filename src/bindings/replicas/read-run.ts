/** Executes one read: at the nearest replica, and at the primary. */
import { isAbandoned, waitForWeaker } from '../../correctable/binding.ts';
import { getElapsedMs } from '../../correctable/clock.ts';
import { isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { readCurrent } from '../shared/read-current.ts';
import type { SessionRead } from '../shared/session-positions.ts';
import { StoreCall, toDetails, toReadError, type Level, type RunOptions } from './operation-run.ts';
import { readNearest } from './read-nearest.ts';
import type { ReplicaRead } from './replica-store.ts';

/** Whether a replica gave the view of its level. */
type ReplicaOutcome = 'shown' | 'failed' | 'skipped';

type Answer = ReplicaRead<unknown>;

export class ReadRun {
  readonly #options: RunOptions;
  readonly #startedAtMs: number = getElapsedMs();
  /** What the session had seen when the read began. */
  readonly #before: SessionRead<unknown> | undefined;
  readonly #calls = new Set<StoreCall>();
  #preliminary: Answer | undefined;
  /** Whether the final view is decided. It is delivered in a later turn. */
  #isDecided = false;
  #hasEnded = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#before = options.session?.beginRead();
  }

  start(): void {
    const { levels } = this.#options;
    const isReplicaWanted = levels.includes('replica');
    const isPrimaryWanted = levels.includes('primary');
    const reading = isReplicaWanted ? this.#readReplica() : undefined;
    if (isPrimaryWanted) void this.#readPrimary(reading);
    else void this.#answerInstead(reading);
  }

  close(error: CorrectableError): void {
    if (this.#end()) this.#options.sink.fail(error);
  }

  /** If only a replica is wanted and none answers, the primary does. */
  async #answerInstead(reading: Promise<ReplicaOutcome> | undefined): Promise<void> {
    const outcome = await reading;
    if (outcome === 'shown' || this.#isCallerGone()) this.#end();
    else await this.#readPrimary(undefined);
  }

  async #readReplica(): Promise<ReplicaOutcome> {
    const { levels, sink, operation, store } = this.#options;
    const call = this.#openCall('replica');
    try {
      const answer = await readNearest(this.#options, call, (server) =>
        this.#askReplica(server, call),
      );
      if (this.#isCallerGone()) return 'failed';
      if (this.#isDecided) return 'skipped';
      return this.#show(answer) ? 'shown' : 'skipped';
    } catch (error) {
      // If no final is to come, the primary answers instead.
      if (!this.#isCallerGone() && levels.includes('primary'))
        sink.fail(toReadError(error, operation, store.name), 'replica');
      return 'failed';
    } finally {
      this.#closeCall(call);
    }
  }

  async #askReplica(server: string, call: StoreCall): Promise<Answer> {
    const { store, operation, levels, probePrimary } = this.#options;
    if (!levels.includes('primary')) probePrimary();
    const answer = await store.read(operation, server, call);
    if (answer.position === undefined) this.#options.onUnknownPosition(server);
    return answer;
  }

  /** @returns whether the session allows that the view is shown */
  #show(answer: Answer): boolean {
    const { session, stats, sink, history, clock } = this.#options;
    const { position } = answer;
    if (session !== undefined) {
      if (!session.canShow(this.#before!, position)) {
        stats.behindSession += 1;
        return false;
      }
      session.recordReplica(this.#before!, answer.seenUpTo ?? position);
    }
    this.#preliminary = answer;
    stats.replicaViews += 1;
    const lagMs = position === undefined ? undefined : history.getLagMs(position, clock.now());
    sink.view(answer.value, 'replica', toDetails(answer, lagMs, session));
    return true;
  }

  async #readPrimary(reading: Promise<ReplicaOutcome> | undefined): Promise<void> {
    const { sink, session } = this.#options;
    try {
      const answer = await this.#askPrimaryUntilCurrent();
      if (this.#isCallerGone()) return void this.#end();
      this.#record(answer);
      const details = toDetails(this.#withNewestPosition(answer), 0, session);
      if (this.#end()) sink.view(answer.value, 'primary', details);
    } catch (error) {
      await this.#failFinal(error, reading);
    }
  }

  /**
   * Reads once more if the primary is behind what was shown: a replica may show a write that the
   * primary does not show yet, since its client has no answer.
   */
  #askPrimaryUntilCurrent(): Promise<Answer> {
    const { stats, operation } = this.#options;
    return readCurrent({
      read: () => this.#askPrimary(),
      isBehind: (answer) => this.#isBehindSession(answer),
      isDoubtful: (answer) => this.#contradictsPreliminary(answer),
      isCallerGone: () => this.#isCallerGone(),
      onAccepted: () => void (this.#isDecided = true),
      stats,
      describe: () =>
        `${operation.name}: the primary is behind what this session has seen. Nothing was changed. Check that "primary" is the primary, then retry.`,
    });
  }

  async #askPrimary(): Promise<Answer> {
    const { store, operation, history, clock } = this.#options;
    const call = this.#openCall('primary');
    const sentAtMs = clock.now();
    try {
      const answer = await store.read(operation, 'primary', call);
      if (answer.position !== undefined) history.note(sentAtMs, answer.position);
      return answer;
    } finally {
      this.#closeCall(call);
    }
  }

  #isBehindSession({ position }: Answer): boolean {
    const { session } = this.#options;
    return session?.isPrimaryBehind(this.#before!, position) === true;
  }

  /** Returns whether a replica that is as far has shown another value. */
  #contradictsPreliminary({ position, value }: Answer): boolean {
    const early = this.#preliminary;
    if (early?.position === undefined || position === undefined) return false;
    const { store } = this.#options;
    return store.reached(early.position, position) && !this.#isSame(early.value, value);
  }

  /**
   * The replica may have been read later than the primary. If it has shown the same value, that is
   * also the value at its position.
   */
  #withNewestPosition(answer: Answer): Answer {
    const early = this.#preliminary?.position;
    const { position } = answer;
    if (early === undefined || position === undefined) return answer;
    const isNewer = this.#options.store.reached(early, position);
    return isNewer ? { ...answer, position: early } : answer;
  }

  #isSame(a: unknown, b: unknown): boolean {
    const { operation } = this.#options;
    return operation.equals?.(a, b) ?? structurallyEqual(a, b);
  }

  #record(answer: Answer): void {
    const { session, stats } = this.#options;
    session?.recordPrimary(this.#before!, answer.seenUpTo ?? answer.position);
    if (session?.hasLoss === true) this.#options.onLoss();
    if (this.#preliminary === undefined) return;
    if (!this.#isSame(this.#preliminary.value, answer.value)) stats.corrected += 1;
  }

  /** Waits a short time for a replica: no view can follow the failure. */
  async #failFinal(cause: unknown, reading: Promise<ReplicaOutcome> | undefined): Promise<void> {
    const { context, sink, operation, store } = this.#options;
    if (this.#hasEnded) return;
    const error = toReadError(cause, operation, store.name);
    if (reading !== undefined) {
      context.submissionStatus = {
        mayHaveBeenSent: true,
        blockedBy: isCorrectableError(error) ? error : undefined,
        levelErrors: { primary: error },
      };
      const late = context.levelSignals?.['replica'];
      await waitForWeaker(reading, context, late);
    }
    if (this.#end()) sink.fail(error);
  }

  #openCall(level: Level): StoreCall {
    const { operation, context } = this.#options;
    const after = this.#before?.need;
    const call = new StoreCall(level, operation, context, { after });
    this.#calls.add(call);
    return call;
  }

  #closeCall(call: StoreCall): void {
    this.#calls.delete(call);
    call.stopFollowingSignals();
  }

  #isCallerGone(): boolean {
    const { context } = this.#options;
    return this.#hasEnded || isAbandoned(context, this.#startedAtMs);
  }

  /** @returns whether it had not ended before */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    for (const call of this.#calls) call.abort();
    this.#options.onEnded();
    return true;
  }
}
