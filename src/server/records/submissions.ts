/**
 * Operations as a site submits them to its replica, and the stages that their
 * views reach.
 */
import type { Principal } from '../../correctable/binding.ts';
import type { OperationId } from './records.ts';
import type { Origin } from './origin.ts';
import type { Vector } from './vector.ts';

/**
 * Of an operation that may be submitted again, here or at another site: its
 * name, and the way that it has come.
 */
export interface SubmissionIdentity {
  readonly id: OperationId;
  /** The site that it was sent to first: its log is where the walk begins. */
  readonly home: Origin;
  /** How often its client had changed sites with it: 0 at home. */
  readonly hop: number;
  /**
   * Its client has the answers of its operations up to this number and will not
   * ask for them again.
   */
  readonly acknowledged: number;
}

export interface Submission {
  /** Names the submission within this start of the replica; grows with each. */
  readonly serial: number;
  readonly operation: string;
  /** Parsed by the contract. */
  readonly args: unknown;
  /**
   * The user that it is executed for, the same for each run of its generator.
   * No log has it: a generator runs only where its client has submitted it.
   */
  readonly principal?: Principal | undefined;
  /**
   * Present if the caller may resend it: then it still takes effect only once.
   */
  readonly identity?: SubmissionIdentity | undefined;
  /**
   * Present in a session: what the session has seen, which every view must
   * contain.
   */
  readonly sessionVector?: Vector | undefined;
  /** Seeds the generator's `random`: an unsigned 32-bit number. */
  readonly seed: number;
  /** By the clock of the site, in milliseconds since the epoch. */
  readonly submittedAtMs: number;
  /**
   * Whether it is given up because its deadline has passed, and not because its
   * caller left.
   */
  readonly hasExpired?: boolean | undefined;
  readonly wantedStages: {
    readonly tentative: boolean;
    readonly causal: boolean;
    readonly strong: boolean;
  };
}

/** What is asked of a site, which sets the rest when it takes it. */
export interface SubmissionRequest extends Omit<
  Submission,
  'serial' | 'seed' | 'submittedAtMs' | 'hasExpired'
> {
  serial: number;
  seed: number;
  submittedAtMs: number;
  hasExpired?: boolean;
}

/**
 * How far a view is: a guess, in the stable snapshot, in the red order, or for
 * good by one site's log (at `causal`).
 */
export type Stage = 'tentative' | 'causal' | 'strong' | 'committed';
