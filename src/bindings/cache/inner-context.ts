/** The circumstances of a submission as the store behind sees them: with its own session instead of the cache's. */
import type {
  BindingSession,
  InvocationContext,
  SubmissionOrigin,
  SubmissionStatus,
} from '../../correctable/binding.ts';

export class InnerContext implements InvocationContext {
  readonly #outer: InvocationContext;
  readonly session: BindingSession;

  constructor(outer: InvocationContext, session: BindingSession) {
    this.#outer = outer;
    this.session = session;
  }

  /** Made on first use by the client, so that it is not touched before the store asks for it. */
  get signal(): AbortSignal {
    return this.#outer.signal;
  }

  get deadlineAt(): number | undefined {
    return this.#outer.deadlineAt;
  }

  get levelSignals(): Readonly<Record<string, AbortSignal>> | undefined {
    return this.#outer.levelSignals;
  }

  get trace(): unknown {
    return this.#outer.trace;
  }

  get operationId(): string | undefined {
    return this.#outer.operationId;
  }

  get idempotencyKey(): string | undefined {
    return this.#outer.idempotencyKey;
  }

  get origin(): SubmissionOrigin | undefined {
    return this.#outer.origin;
  }

  get submissionStatus(): SubmissionStatus | undefined {
    return this.#outer.submissionStatus;
  }

  set submissionStatus(whereabouts: SubmissionStatus | undefined) {
    this.#outer.submissionStatus = whereabouts;
  }
}
