/** What the clients of a run did and were told: what checkers that look from outside go by. */

/** One operation of a client, over all its submissions. */
export interface ClientOperation {
  readonly id: string;
  readonly client: number;
  readonly site: number;
  readonly operation: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly level: 'causal' | 'strong';
  readonly submittedAtMs: number;
  /** Every final answer that was given, in order. */
  readonly answers: { readonly value: unknown; readonly atMs: number }[];
  /** Set when it failed for good. */
  error?: string;
}

/** All operations of a run, in the order of their first submission. */
export class History {
  readonly operations: ClientOperation[] = [];

  /** Operations that were answered at least once. */
  answered(operation?: string): ClientOperation[] {
    return this.operations.filter(
      (each) => each.answers.length > 0 && (operation === undefined || each.operation === operation),
    );
  }
}

/** The answer that counts. */
export function answerOf(operation: ClientOperation): unknown {
  return operation.answers[0]?.value;
}

/** Whether an answered update says that it changed something. */
export function tookEffect({ operation, answers }: ClientOperation): boolean {
  const value = answers[0]?.value;
  if (answers.length === 0) return false;
  if (operation === 'withdraw') return (value as { readonly paid: boolean }).paid;
  return operation !== 'size' && operation !== 'balance';
}
