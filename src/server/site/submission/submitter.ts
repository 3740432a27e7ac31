/** One submission to a site, and the part of the site that takes it. */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { ContractInfo } from '../../../protocol/contract/contract.ts';
import type { Origin, Origins } from '../../records/origin.ts';
import type { Reply } from '../../records/reply.ts';
import type { SubmissionRequest } from '../../replica/core/submissions.ts';
import type { Stage } from '../../records/replica-output.ts';
import type { Vector } from '../../records/vector.ts';
import type { OperationPlans } from '../../service/operation-plan.ts';
import type { SessionTokens } from './site-session.ts';

/**
 * One submission and its callbacks. They are one object, since one is created
 * for each operation.
 */
export interface Submitter extends SubmissionRequest {
  /** The handle on the site through which it came. */
  readonly handle: object;
  /**
   * Aborted when no caller wants the views any more. It is created when it is
   * first read.
   */
  readonly signal: AbortSignal;
  /**
   * When the caller gives up, in milliseconds since the epoch by the wall
   * clock.
   */
  readonly deadlineAt: number | undefined;
  /**
   * When the site has taken it, in milliseconds of the clock that only runs
   * forward. The site sets it.
   */
  acceptedAtMs?: number;
  /** `seen` is what a session has seen with this view. */
  onView(stage: Stage, reply: Reply, seen: Vector | undefined): void;
  onFailure(error: unknown, stage: Stage | undefined): void;
}

/** The part of a site that a binding needs. */
export interface SubmissionPort {
  readonly contract: ContractInfo;
  readonly plans: OperationPlans;
  readonly site: Origin;
  readonly origins: Origins;
  readonly tokens: SessionTokens;
  /** Why the site has stopped, if its storage has failed. */
  readonly failure?: CorrectableError | undefined;
  /**
   * Why updates are refused for now, for example on a full disk. Reads are
   * served.
   */
  readonly writeRefusal?: CorrectableError | undefined;
  submit(submission: Submitter): void;
  /**
   * Applies at once what the submissions so far have led to, if the site
   * collects them.
   */
  endTurn?(): void;
  /**
   * Fails the submissions in flight that came through this handle. The site
   * itself goes on.
   */
  endSubmissions(handle: object): void;
}
