/** Operations as callers submit them to a site. */
import type { Principal } from '../../../correctable/binding.ts';
import type { OperationPlan } from '../../service/operation-plan.ts';
import type { OperationId } from '../../service/records/records.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { Vector } from '../../service/records/vector.ts';

/**
 * The name of an operation that may be submitted again, here or at another site, and its moves so
 * far.
 */
export interface SubmissionIdentity {
  readonly id: OperationId;
  /** The site that it was sent to first. The lookup begins in its log. */
  readonly home: Origin;
  /** The number of times that its client had changed sites with it. It is 0 at home. */
  readonly hop: number;
  /**
   * Whether its client may have sent it to another site before. Default: it has changed sites with
   * it
   */
  readonly hasMoved?: boolean | undefined;
  /**
   * The client has the results of its operations up to this number, and sends no retries of them
   * any more.
   */
  readonly acknowledged: number;
}

export interface Submission {
  /** The number of the submission within this start of the site. It grows with each one. */
  readonly serial: number;
  /** The plan of its operation. */
  readonly plan: OperationPlan;
  /** Parsed by the contract. */
  readonly args: unknown;
  /**
   * The user that it is executed for, the same in each run of its generator. It is in no log,
   * because a generator runs only at the site where its client has submitted the operation.
   */
  readonly principal?: Principal | undefined;
  /** Present if the caller may submit it again. It takes effect only once. */
  readonly identity?: SubmissionIdentity | undefined;
  /** Present in a session: what the session has seen, which every view must contain. */
  readonly sessionVector?: Vector | undefined;
  /** Seeds the generator's `random`: an unsigned 32-bit number. */
  readonly seed: number;
  /** By the clock of the site, in milliseconds since the epoch. */
  readonly submittedAtMs: number;
  /** Whether it was given up because its deadline has passed, and not because its caller left. */
  readonly hasExpired?: boolean | undefined;
  readonly wantedStages: WantedStages;
}

/** The stages whose views a caller wants. */
export interface WantedStages {
  readonly tentative: boolean;
  readonly causal: boolean;
  readonly strong: boolean;
}
