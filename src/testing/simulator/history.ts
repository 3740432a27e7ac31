/**
 * What the clients of a run did, and which replies they got: the input of
 * checkers that look from outside.
 */

import type { Origin } from '../../server/records/origin.ts';
import type { Stage } from '../../server/records/submissions.ts';

/** One operation of a client, over all its submissions. */
export interface ClientOperation {
  readonly id: string;
  readonly client: number;
  readonly operation: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly level: 'causal' | 'strong';
  readonly submittedAtMs: number;
  /**
   * Every final answer that was given, in order, by which site, and how far
   * along.
   */
  readonly replies: {
    readonly value: unknown;
    readonly stage: Stage;
    readonly site: Origin;
    readonly atMs: number;
  }[];
  /**
   * All reported failures, in order, without those which only mean that the
   * request came late.
   */
  readonly failures: string[];
  /**
   * What its first answer stood for at the site that gave it: seen by the
   * simulation, whatever the answer says.
   */
  shownColor?: 'blue' | 'red' | 'none';
  /** Whether its first answer stood for a change. */
  isChange?: boolean;
  /**
   * Set when it failed for good. `UNKNOWN`: it may have taken effect, or still
   * will.
   */
  error?: string;
  /**
   * Its client was notified that nothing was done, nor will be, and has not
   * retried it since.
   */
  isCertainlyNotApplied?: boolean;
}

/** What the operations of a service are, as far as checkers have to know. */
export interface OperationTraits {
  isRead(operation: Pick<ClientOperation, 'operation'>): boolean;
  /**
   * Whether an answered update is durable at the site that answered first, and
   * then at the others.
   */
  isBlue(operation: ClientOperation): boolean;
  /** Whether an answered update changed something. */
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
        item.replies.length > 0 &&
        (operation === undefined || item.operation === operation),
    );
  }
}
