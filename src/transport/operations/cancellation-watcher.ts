/**
 * Notices cancelled operations. Looking at an operation's signal makes an `AbortController`, which costs more than all
 * the rest of a submission; most operations are answered long before anybody could want to cancel them. So only those
 * are looked at that are still in flight when a short while has passed, or that have to wait.
 */
import type { InFlightOperation } from './in-flight-operation.ts';
import type { InFlightOperations } from './in-flight-operations.ts';
import type { Scheduling } from '../options/scheduling.ts';

const SIGNAL_CHECK_DELAY_MS = 20;

/** Calls `onCancelled` for every operation in flight whose signal aborts. */
export class CancellationWatcher {
  readonly #inFlight: InFlightOperations;
  readonly #scheduling: Scheduling;
  readonly #onCancelled: (operation: InFlightOperation) => void;
  #cancelTimer: (() => void) | undefined;
  /** Operations up to this number have been in flight for as long as the timer runs. */
  #checkUpToId = 0;

  constructor(
    inFlight: InFlightOperations,
    scheduling: Scheduling,
    onCancelled: (operation: InFlightOperation) => void,
  ) {
    this.#inFlight = inFlight;
    this.#scheduling = scheduling;
    this.#onCancelled = onCancelled;
  }

  scheduleCheck(): void {
    if (this.#cancelTimer === undefined) this.#arm();
  }

  /** An operation has to wait before it can be submitted, or submitted again: it must not be once it was cancelled. */
  listenToSignal(operation: InFlightOperation): void {
    if (operation.removeAbortListener !== undefined) return;
    const { signal } = operation.context;
    const cancel = (): void => this.#onCancelled(operation);
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel, { once: true });
    operation.removeAbortListener = () => signal.removeEventListener('abort', cancel);
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #arm(): void {
    this.#checkUpToId = this.#inFlight.lastId;
    this.#cancelTimer = this.#scheduling.setTimer(() => this.#checkSignals(), SIGNAL_CHECK_DELAY_MS);
  }

  #checkSignals(): void {
    this.#cancelTimer = undefined;
    let newer = false;
    this.#inFlight.forEach((operation) => {
      newer = operation.id > this.#checkUpToId;
      if (!newer && !operation.isCancelled) this.listenToSignal(operation);
      return !newer;
    });
    if (newer) this.#arm();
  }
}
