/** A store whose answers the test gives by hand. */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../../../src/correctable/binding.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';

export const LEVELS = ['tentative', 'weak', 'strong'] as const;
export type StoreLevels = typeof LEVELS;

/** One operation that reached the store. */
export interface Submitted {
  readonly operation: Operation;
  readonly levels: readonly string[];
  readonly sink: Sink;
  readonly context: InvocationContext;
}

export class StoreBehind implements Binding<StoreLevels> {
  readonly name = 'store';
  readonly submitted: Submitted[] = [];
  readonly sessions: BindingSession[] = [];
  isClosed = false;

  get last(): Submitted {
    const last = this.submitted.at(-1);
    if (last === undefined) throw new Error('nothing was submitted');
    return last;
  }

  consistencyLevels(): StoreLevels {
    return LEVELS;
  }

  supports({ name }: Operation): boolean {
    return name !== 'unheard-of';
  }

  submitOperation(
    operation: Operation,
    levels: readonly string[],
    sink: Sink,
    context: InvocationContext,
  ): void {
    this.submitted.push({ operation, levels, sink, context });
  }

  openSession(): BindingSession {
    const session = {};
    this.sessions.push(session);
    return session;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
