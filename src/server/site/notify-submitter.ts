/**
 * Notifies submitters of the outcome of their submissions. Several are notified in a row, and entries are stored between:
 * what one of them throws there costs its own submission, nothing else.
 */
import type { Reply } from '../records/reply.ts';
import type { Stage } from '../records/submissions.ts';
import type { Vector } from '../records/vector.ts';
import { undeliveredError } from './site-binding.ts';
import type { Submitter } from './site-binding.ts';

/** What is reported of one submission. */
export interface DeliveredView {
  readonly stage: Stage;
  readonly reply: Reply;
  /** What a session has seen with it. */
  readonly seen?: Vector | undefined;
  /** Nothing follows it. */
  readonly isLast: boolean;
}

/** Delivers a view. If that throws, the submission fails at this level, or as a whole if it was the last one. */
export function deliverView(submitter: Submitter, { stage, reply, seen, isLast }: DeliveredView): void {
  try {
    submitter.onView(stage, reply, seen);
  } catch (error) {
    deliverFailure(submitter, undeliveredError(submitter.effect, stage, error), isLast ? undefined : stage);
  }
}

/** Delivers a failure of one level, or of the operation. */
export function deliverFailure(submitter: Submitter, error: unknown, stage: Stage | undefined): void {
  try {
    submitter.onFailure(error, stage);
  } catch {
    // A submitter that throws here cannot be notified. Its callers give up at the deadline.
  }
}
