/** Executes one update once, at the primary. */
import type { SubmissionStatus } from '../../correctable/binding.ts';
import { isThenable } from '../../correctable/validate.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { SessionRead } from '../shared/session-positions.ts';
import { describe, StoreCall, toDetails, toReadError, type RunOptions } from './operation-run.ts';
import { readNearest } from './read-nearest.ts';
import type { ReplicaRead, ReplicaWrite } from './replica-store.ts';

export class WriteRun implements SubmissionStatus {
  readonly blockedBy = undefined;
  readonly #options: RunOptions;
  /** What the session had seen when the write began. */
  readonly #before: SessionRead<unknown> | undefined;
  mayHaveBeenSent = false;
  #previewCall: StoreCall | undefined;
  #hasEnded = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#before = options.session?.beginRead();
  }

  start(): void {
    const { store, operation, context } = this.#options;
    context.submissionStatus = this;
    try {
      const turn = store.enter?.(operation, context);
      if (isThenable(turn)) void this.#beginAfter(turn);
      else this.#begin(turn);
    } catch (error) {
      this.#fail(this.#toError(error));
    }
  }

  async #beginAfter(turn: PromiseLike<() => void>): Promise<void> {
    try {
      this.#begin(await turn);
    } catch (error) {
      this.#fail(this.#toError(error));
    }
  }

  #begin(leave: (() => void) | undefined): void {
    if (this.#hasEnded) return leave?.();
    const { levels, store } = this.#options;
    const isPreviewWanted = levels.includes('replica') && levels.includes('primary');
    if (isPreviewWanted && store.preview !== undefined) void this.#preview();
    void this.#write().finally(leave);
  }

  close(error: CorrectableError): void {
    const { operation } = this.#options;
    if (!this.mayHaveBeenSent) return this.#fail(error);
    const message = `${operation.name}: the binding was closed before the answer. The write may have been made.`;
    this.#fail(new CorrectableError('UNKNOWN', message));
  }

  async #write(): Promise<void> {
    const { store, operation, context } = this.#options;
    const markSent = (): void => this.#markSent();
    const call = new StoreCall('primary', operation, context, {
      after: this.#before?.need,
      markSent,
      markUnsent: () => void (this.mayHaveBeenSent = false),
    });
    try {
      this.#deliver(await store.write(operation, call));
    } catch (error) {
      this.#fail(this.#toError(error));
    } finally {
      call.stopFollowingSignals();
    }
  }

  /** The caller may have got the error that the update was not made. */
  #markSent(): void {
    const { context, operation } = this.#options;
    if (!this.mayHaveBeenSent && context.signal.aborted) this.#end();
    if (this.#hasEnded && !this.mayHaveBeenSent) {
      const message = `${operation.name}: the caller has left. The write was not made.`;
      throw new CorrectableError('ABORTED', message);
    }
    this.mayHaveBeenSent = true;
  }

  #deliver(answer: ReplicaWrite<unknown>): void {
    const { sink, session, onLoss } = this.#options;
    session?.recordWrite(answer.position, this.#before);
    if (session?.hasLoss === true) onLoss();
    const details = toDetails(answer, 0, session);
    if (this.#end()) sink.view(answer.value, 'primary', details);
  }

  #toError(error: unknown): unknown {
    const { operation, store } = this.#options;
    if (isCorrectableError(error)) return error;
    if (!this.mayHaveBeenSent) return toReadError(error, operation, store.name);
    const message = `${operation.name}: ${store.name} gave no answer: ${describe(error)}. The write may have been made.`;
    return new CorrectableError('UNKNOWN', message, { cause: error });
  }

  async #preview(): Promise<void> {
    const { operation, context, store, sink } = this.#options;
    // As a read, it ends when no caller wants it any more.
    const asRead = { ...operation, access: 'read' } as const;
    const after = this.#before?.need;
    const call = new StoreCall('replica', asRead, context, { after });
    this.#previewCall = call;
    try {
      const guess = await readNearest(this.#options, call, (server) =>
        store.preview!(operation, server, call),
      );
      if (guess !== undefined && !this.#hasEnded) this.#showGuess(guess);
    } catch (error) {
      if (!this.#hasEnded) sink.fail(toReadError(error, operation, store.name), 'replica');
    } finally {
      call.stopFollowingSignals();
    }
  }

  #showGuess(guess: ReplicaRead<unknown>): void {
    const before = this.#before;
    const { session, stats, sink, history, clock } = this.#options;
    const { position } = guess;
    if (before !== undefined && session?.canShow(before, position) === false) {
      stats.behindSession += 1;
      return;
    }
    stats.replicaViews += 1;
    const lagMs = position === undefined ? undefined : history.getLagMs(position, clock.now());
    // It is a guess: the position is not that of the write.
    const details = toDetails({ ...guess, position: undefined }, lagMs, session);
    sink.view(guess.value, 'replica', details);
  }

  #fail(error: unknown): void {
    if (this.#end()) this.#options.sink.fail(error);
  }

  /** @returns whether it had not ended before */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#previewCall?.abort();
    this.#options.onEnded();
    return true;
  }
}
