/**
 * Reads at the nearest replica that answers.
 *
 * A replica may fail, or may give no answer at all, as a frozen host does. Then the next one is
 * asked, long before the operation times out. Only a failure of the server itself keeps other
 * operations from it.
 */
import { getWallOffsetMs } from '../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { isCodeError } from '../shared/code-error.ts';
import { getSilenceMs } from '../shared/connections/silence.ts';
import { startTimer } from '../shared/connections/time-limit.ts';
import type { BindingParts, StoreCall } from './operation-run.ts';
import type { ReplicaStore } from './replica-store.ts';

/**
 * @param call the context of the reads, which is used for nothing else
 * @throws the error of the last one, or UNAVAILABLE if there is none to ask
 */
export async function readNearest<T>(
  parts: BindingParts,
  call: StoreCall,
  read: (server: string) => Promise<T>,
): Promise<T> {
  const { selection, stats, store } = parts;
  let failure = selection.latestError;
  let hasSilent = false;
  try {
    for (const server of selection.getCandidates()) {
      const reading = read(server);
      const silence = new SilentServer(parts, call, server);
      try {
        const answer = await silence.untilFound(reading);
        selection.noteSuccess(server);
        return answer;
      } catch (error) {
        hasSilent ||= silence.isFound;
        // The caller has left, or no other replica would answer otherwise.
        if (call.isAborted || !mayAnotherAnswer(store, error)) throw error;
        if (isServerFailure(store, error)) selection.noteFailure(server, error);
        stats.replicaFailures += 1;
        failure = error;
      }
    }
  } finally {
    // A read that a silent server still has is needed by no caller.
    if (hasSilent) call.abort();
  }
  throw failure ?? new CorrectableError('UNAVAILABLE', `${store.name}: no replica`);
}

/** Finds out whether a server that gives no answer to a read is still there. */
class SilentServer {
  readonly #parts: BindingParts;
  readonly #server: string;
  readonly #silenceMs: number;
  #stopTimer: () => void = () => {};
  #reject: (error: CorrectableError) => void = () => {};
  #hasAnswered = false;
  isFound = false;

  constructor(parts: BindingParts, { deadlineAt }: StoreCall, server: string) {
    this.#parts = parts;
    this.#server = server;
    const { clock, selection } = parts;
    const wallNowMs = clock.now() + getWallOffsetMs(clock);
    const shortMs = getSilenceMs(deadlineAt, wallNowMs);
    // Without a probe, a slow read looks like a server that is gone.
    const quarterMs = deadlineAt === undefined ? shortMs : (deadlineAt - wallNowMs) / 4;
    this.#silenceMs = selection.hasProbes ? shortMs : Math.max(shortMs, quarterMs);
  }

  /**
   * Returns the answer, or rejects when the server is found to be gone. It goes on after the caller
   * has left: the next caller needs the verdict.
   */
  untilFound<T>(reading: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      this.#setTimer(() => this.#judge());
      void reading.then(resolve, reject).finally(() => {
        this.#hasAnswered = true;
        this.#stopTimer();
      });
    });
  }

  #judge(): void {
    const { selection } = this.#parts;
    if (!selection.hasProbes) return this.#find();
    // A verdict that takes as long again is not awaited.
    this.#setTimer(() => this.#find());
    void selection.check(this.#server).then((failure) => {
      if (this.#hasAnswered) return;
      this.#stopTimer();
      if (failure !== undefined) this.#find(failure.reason);
    });
  }

  #find(cause?: unknown): void {
    const { selection, store } = this.#parts;
    const message = `${store.name}: ${this.#server} gives no answer. Nothing was read.`;
    const error = new CorrectableError('UNAVAILABLE', message, { cause });
    this.isFound = true;
    selection.noteFailure(this.#server, error);
    this.#reject(error);
  }

  #setTimer(onTime: () => void): void {
    this.#stopTimer = startTimer(this.#parts.clock, this.#silenceMs, onTime);
  }
}

function mayAnotherAnswer(store: ReplicaStore, error: unknown): boolean {
  return (
    isServerFailure(store, error) ||
    isCorrectableError(error, 'UNAVAILABLE') ||
    isCorrectableError(error, 'OVERLOADED')
  );
}

function isServerFailure(store: ReplicaStore, error: unknown): boolean {
  if (store.isServerFailure !== undefined) return store.isServerFailure(error);
  return isCorrectableError(error)
    ? /^(UNAVAILABLE|OVERLOADED)$/.test(error.code)
    : !isCodeError(error);
}
