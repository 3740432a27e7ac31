import type {
  BindingSession,
  InvocationContext,
  Principal,
  SubmissionOrigin,
  SubmissionStatus,
} from '../../../correctable/binding.ts';
import { toOwnedKey } from '../../../correctable/idempotency-key.ts';
import { systemClock, getWallOffsetMs } from '../../../correctable/clock.ts';
import { createGuardedController } from './call-hook.ts';
import type { SubmissionOptions, SubmissionOwner } from './submission-types.ts';

/** Receives events of the signal of an operation. */
export interface SignalEvents {
  /** Called when the store reads the signal for the first time after the operation was aborted. */
  onAbortedSignalRead(): void;
  /** Called when a listener of the store threw at the abort. */
  onListenerThrew(error: unknown): void;
}

/** The context of one operation of a client, as the hosted binding gets it. */
export class HostedContext implements InvocationContext {
  session: BindingSession | undefined;
  trace: unknown;
  /** Set by the store. */
  submissionStatus: SubmissionStatus | undefined = undefined;
  readonly #owner: SubmissionOwner;
  readonly #options: SubmissionOptions;
  readonly #events: SignalEvents;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(
    owner: SubmissionOwner,
    options: SubmissionOptions,
    session: BindingSession | undefined,
    trace: unknown,
    events: SignalEvents,
  ) {
    this.session = session;
    this.trace = trace;
    this.#owner = owner;
    this.#options = options;
    this.#events = events;
  }

  get deadlineAt(): number | undefined {
    const { deadlineAt } = this.#options;
    return deadlineAt === undefined ? undefined : deadlineAt + getWallOffsetMs(systemClock);
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  get operationId(): string {
    return `${this.#owner.record.key}/${this.#options.id}`;
  }

  /**
   * The client's key with the principal as a prefix, so that no principal gets the reply of another
   * one.
   */
  get idempotencyKey(): string | undefined {
    const { key } = this.#owner.record;
    const { idempotencyKey } = this.#options;
    return idempotencyKey === undefined
      ? undefined
      : toOwnedKey(key.slice(0, key.indexOf('/')), idempotencyKey);
  }

  get origin(): SubmissionOrigin {
    const { key, acknowledged } = this.#owner.record;
    const { id, move } = this.#options;
    return {
      client: key,
      sequence: id,
      acknowledged,
      home: move?.[0],
      hop: move?.[1],
    };
  }

  get signal(): AbortSignal {
    if (this.#isAborted) {
      this.#events.onAbortedSignalRead();
      return AbortSignal.abort();
    }
    this.#controller ??= createGuardedController((error) => this.#events.onListenerThrew(error));
    return this.#controller.signal;
  }

  /** Aborts the signal. Returns whether the store has read it before. */
  abort(): boolean {
    this.#isAborted = true;
    if (this.#controller === undefined) return false;
    this.#controller.abort();
    return true;
  }

  /**
   * Drops the fields of the operation, because the store may keep the context for longer. Returns
   * the session, which the caller must close.
   */
  release(): BindingSession | undefined {
    const { session } = this;
    this.session = undefined;
    this.trace = undefined;
    this.submissionStatus = undefined;
    this.#controller = undefined;
    return session;
  }
}
