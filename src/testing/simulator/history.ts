/**
 * The operations of the clients of a run with their replies: the input of checkers that look from
 * outside.
 */

import type { Origin } from '../../server/service/records/origin.ts';
import type { Stage } from '../../server/site/answer.ts';

/** One operation of a client, over all its submissions. */
export interface ClientOperation {
  readonly id: string;
  readonly client: number;
  readonly operation: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly level: 'causal' | 'strong';
  readonly submittedAtMs: number;
  /** All final replies in order, each with its site and its number. */
  readonly replies: {
    readonly value: unknown;
    readonly stage: Stage;
    readonly site: Origin;
    readonly atMs: number;
  }[];
  /** All reported failures in order, except those which only mean that the request came late. */
  readonly failures: string[];
  /** The effect of the operation at the site of its first reply, as the simulation saw it. */
  shownColor?: 'blue' | 'red' | 'none';
  /** Whether its first reply stood for a change. */
  isChange?: boolean;
  /** Set if it failed for good. `UNKNOWN` means that it may have taken effect, or still will. */
  error?: string;
  /**
   * Whether its client was notified that nothing was or will be executed, and has not retried it
   * since.
   */
  isCertainlyNotApplied?: boolean;
}

/** The properties of a service's operations that checkers need. */
export interface OperationTraits {
  isRead(operation: { readonly operation: string }): boolean;
  /**
   * Returns whether an answered update is durable only at the site that answered first, and later
   * at the others.
   */
  isBlue(operation: ClientOperation): boolean;
  /** Returns whether an answered update changed something. */
  hasEffect(operation: ClientOperation): boolean;
}

/** All operations of a run, in the order of their first submission. */
export class History {
  readonly operations: ClientOperation[] = [];
  readonly traits: OperationTraits;

  constructor(traits: OperationTraits) {
    this.traits = traits;
  }

  getAnswered(operation?: string): ClientOperation[] {
    return this.operations.filter(
      (item) =>
        item.replies.length > 0 && (operation === undefined || item.operation === operation),
    );
  }
}
