/**
 * The context of one call to the store behind a level. The call is aborted when its operation ends,
 * its level times out, or no caller waits any more.
 */
import type { InvocationContext, Principal } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { followSignal } from '../../correctable/subscribe.ts';

/** The context of one call to the store behind a level. */
export interface LevelContext {
  /** The level at which the call answers. */
  readonly level: string;
  /**
   * Pass it to the driver or `fetch`: it aborts when no caller needs the answer any more. The
   * operation may have ended, also by the answer of a stronger level, the level may have timed out,
   * or the client may be closed. The signal of a write never aborts, because a submitted write runs
   * to its end.
   */
  readonly signal: AbortSignal;
  /** When the client gives up, in milliseconds since the epoch; `undefined` without a deadline. */
  readonly deadlineAt: number | undefined;
  /** The trace context to pass on. */
  readonly trace: unknown;
  /**
   * The user for whom the operation is executed: the principal that a gateway passes to
   * `authorize`. `undefined` if the operation was invoked in this process without `withPrincipal`.
   */
  readonly principal: Principal | undefined;
}

/** Passes the context of the invocation to one call. Signals are created on first use. */
export class LevelCall implements LevelContext {
  readonly level: string;
  readonly #isWrite: boolean;
  readonly #invocation: InvocationContext;
  #controller: AbortController | undefined;
  #isAborted = false;
  readonly #stopFollowing: (() => void)[] = [];

  constructor(level: string, operation: Operation, invocation: InvocationContext) {
    this.level = level;
    this.#isWrite = operation.access === 'write';
    this.#invocation = invocation;
  }

  get signal(): AbortSignal {
    // Create a signal for each call. If all calls shared a signal that never aborts, the listeners
    // of drivers would stay on it for ever.
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (!this.#isWrite) this.#followSignals(this.#controller);
    }
    return this.#controller.signal;
  }

  /** Whether no caller waits for the result of a read any more. Creates no signal. */
  get isAborted(): boolean {
    return !this.#isWrite && (this.#isAborted || this.#controller?.signal.aborted === true);
  }

  /** Aborts the call: no caller wants the answer any more. */
  abort(): void {
    this.#isAborted = true;
    if (!this.#isWrite) this.#controller?.abort();
    this.stopFollowingSignals();
  }

  /**
   * Called when the store has answered or failed. The call then no longer listens to the signals of
   * its operation.
   */
  stopFollowingSignals(): void {
    for (const unfollow of this.#stopFollowing.splice(0)) unfollow();
  }

  #followSignals(controller: AbortController): void {
    if (this.#isAborted) return controller.abort();
    for (const signal of [this.#invocation.signal, this.#invocation.levelSignals?.[this.level]]) {
      if (signal?.aborted) controller.abort(signal.reason);
      else if (signal !== undefined)
        this.#stopFollowing.push(followSignal(signal, (reason) => controller.abort(reason)));
    }
  }

  get deadlineAt(): number | undefined {
    return this.#invocation.deadlineAt;
  }

  get trace(): unknown {
    return this.#invocation.trace;
  }

  get principal(): Principal | undefined {
    return this.#invocation.principal;
  }
}
