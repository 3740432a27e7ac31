/** The circumstances of an operation that came over the wire, for the hosted binding. */
import type { InvocationContext } from '../../correctable/binding.ts';

/** A context whose signal is only made when the binding looks at it. */
export class HostedContext implements InvocationContext {
  readonly deadlineAt: number | undefined;
  readonly session = undefined;
  readonly trace: unknown;
  readonly operationId: string;
  #controller: AbortController | undefined;
  #aborted = false;

  constructor(operationId: string, deadlineAt: number | undefined, trace: unknown) {
    this.operationId = operationId;
    this.deadlineAt = deadlineAt;
    this.trace = trace;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Nobody wants the views any more. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
