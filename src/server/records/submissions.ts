/** What goes into a replica and what comes out: all that it says to the world outside. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { BlueMessage, LocalEntry, OperationId, RedRecord, RightsMessage, SlotMessage } from './records.ts';
import type { Origin } from './origin.ts';
import type { Reply } from './reply.ts';
import type { Vector } from './vector.ts';

/** Of an operation that may be submitted again, here or at another site: its name, and the way that it has come. */
export interface SubmissionIdentity {
  readonly id: OperationId;
  /** The site that it was sent to first: its log is where the walk begins. */
  readonly home: Origin;
  /** How often its client had changed sites with it: 0 at home. */
  readonly hop: number;
  /** Its client has the answers of its operations up to this number and will not ask for them again. */
  readonly acknowledged: number;
}

/** An operation submitted at a site. */
export interface Submission {
  /** Names the submission within this start of the replica; grows with each. */
  readonly serial: number;
  readonly operation: string;
  /** Parsed by the contract. */
  readonly args: unknown;
  /** Given by whoever may submit it again; then it takes effect once all the same. */
  readonly identity?: SubmissionIdentity | undefined;
  /** Present in a session: what the session has seen, which every view must contain. */
  readonly sessionVector?: Vector | undefined;
  /** Seeds the generator's `random`: an unsigned 32-bit number. */
  readonly seed: number;
  /** By the clock of the site, in milliseconds since the epoch. */
  readonly submittedAtMs: number;
  readonly wantedStages: { readonly tentative: boolean; readonly causal: boolean; readonly strong: boolean };
}

/** What is asked of a site, which sets the rest when it takes it. */
export interface SubmissionRequest extends Omit<Submission, 'serial' | 'seed' | 'submittedAtMs'> {
  serial: number;
  seed: number;
  submittedAtMs: number;
}

/**
 * How far along a view is: a guess, in the stable snapshot, in the red order; or for good by the log of one site, which
 * reaches `causal` and never more.
 */
export type Stage = 'tentative' | 'causal' | 'strong' | 'committed';

/** What a replica wants done, in order. */
export type ReplicaOutput =
  | { readonly kind: 'send'; readonly to: Origin; readonly message: BlueMessage | SlotMessage | RightsMessage }
  | { readonly kind: 'store'; readonly log: 'local'; readonly entries: readonly LocalEntry[] }
  | { readonly kind: 'propose'; readonly record: RedRecord }
  /** Nobody waits for it any more: not to be proposed, if that can still be. */
  | { readonly kind: 'withdraw'; readonly record: RedRecord }
  /** `committed` is the one view of an update that its own site has decided; nothing follows the `last`. */
  | {
      readonly kind: 'view';
      readonly serial: number;
      readonly stage: Stage;
      readonly reply: Reply;
      readonly isLast: boolean;
      /** What the session has seen with this view; none of a guess, and outside of sessions. */
      readonly seen?: Vector | undefined;
    }
  /** Without a stage the operation failed as a whole, and nothing follows. */
  | {
      readonly kind: 'failed';
      readonly serial: number;
      readonly error: CorrectableError;
      readonly stage?: Stage | undefined;
    };
