/**
 * Notifies submitters of the outcome of their submissions. Several are notified
 * in a row, and entries are stored between. So an error that a submitter throws
 * must fail only its own submission.
 */
import type { ReplicaOutput } from '../../records/replica-output.ts';
import type { Stage } from '../../records/replica-output.ts';
import { undeliveredError } from './submission-errors.ts';
import type { Submitter } from './submitter.ts';

type DeliveredView = Omit<
  Extract<ReplicaOutput, { kind: 'view' }>,
  'kind' | 'serial'
>;

/**
 * Delivers a view. If that throws, the submission fails at this level, or as a
 * whole if it was the last one.
 */
export function deliverView(
  submitter: Submitter,
  { stage, reply, seen, isLast }: DeliveredView,
): void {
  try {
    submitter.onView(stage, reply, seen);
  } catch (error) {
    deliverFailure(
      submitter,
      undeliveredError(submitter.plan.access, stage, error),
      isLast ? undefined : stage,
    );
  }
}

/** Delivers a failure of one level, or of the operation. */
export function deliverFailure(
  submitter: Submitter,
  error: unknown,
  stage: Stage | undefined,
): void {
  try {
    submitter.onFailure(error, stage);
  } catch {
    // A submitter that throws here cannot be notified. Its callers give up at
    // the deadline.
  }
}
