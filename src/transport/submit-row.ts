/** The row that submits an operation. */
import type { InvocationContext } from '../correctable/binding.ts';
import type { Operation } from '../correctable/operation.ts';
import type { SubmitRow } from '../protocol/submit.ts';
import { WireSession } from './wire-session.ts';

/** What goes into the row. */
export interface Submission {
  readonly id: number;
  readonly operation: Operation;
  /** The requested levels, as bits. */
  readonly levels: number;
  readonly context: InvocationContext;
  readonly nowMs: number;
}

/** Builds the row, leaving out what is not there at its end. */
export function submitRow({ id, operation, levels, context, nowMs }: Submission): SubmitRow {
  const { name, effect, args, key } = operation;
  const { deadlineAt, trace, session } = context;
  const timeoutMs = deadlineAt === undefined ? null : Math.max(0, Math.round(deadlineAt - nowMs));
  if (session instanceof WireSession) {
    return [id, 'submit', name, effect, levels, args, key ?? null, timeoutMs, trace ?? null, session.tokens];
  }
  if (trace !== undefined) return [id, 'submit', name, effect, levels, args, key ?? null, timeoutMs, trace];
  if (timeoutMs !== null) return [id, 'submit', name, effect, levels, args, key ?? null, timeoutMs];
  if (key !== undefined) return [id, 'submit', name, effect, levels, args, key];
  return [id, 'submit', name, effect, levels, args];
}
