/** What the caller of a submission gets: views and failures. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Reply } from '../service/records/reply.ts';
import type { Vector } from '../service/records/vector.ts';

/**
 * How far a view has got: a preview, in the stable snapshot, in the red order, or decided by one
 * site's log (at `causal`).
 */
export type Stage = 'tentative' | 'causal' | 'strong' | 'committed';

/**
 * `committed` is the one view of an update that its own site has decided. Nothing follows a view
 * with `isLast`.
 */
export interface ViewAnswer {
  readonly kind: 'view';
  readonly serial: number;
  readonly stage: Stage;
  readonly reply: Reply;
  readonly isLast: boolean;
  /** What the session has seen with this view. Absent for previews and outside of sessions. */
  readonly seen?: Vector | undefined;
}

/** Without a stage the operation failed as a whole, and nothing follows. */
export interface FailedAnswer {
  readonly kind: 'failed';
  readonly serial: number;
  readonly error: CorrectableError;
  readonly stage?: Stage | undefined;
}

export type Answer = ViewAnswer | FailedAnswer;
