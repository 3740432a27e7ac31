/**
 * Outputs of a replica: messages to send, entries to store, red records to propose, and views to
 * deliver.
 */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { BlueMessage, BlueOperation, LocalEntry, OperationId } from './records.ts';
import type { RedRecord, RightsMessage, SlotMessage } from './records.ts';
import type { Origin } from './origin.ts';
import type { Reply } from './reply.ts';
import type { Vector } from './vector.ts';

/** Outputs about the members of the deployment. */
export type MemberOutput =
  /** The table of origins has changed. */
  | { readonly kind: 'members' }
  /** The outcome of a change that this site has proposed: its origin, or why it is void. */
  | {
      readonly kind: 'changed';
      readonly id: OperationId;
      readonly origin: Origin | undefined;
      readonly problem: string | undefined;
    }
  /** What this site lacks is not kept for it any more. It needs the state of another site. */
  | { readonly kind: 'behind'; readonly message: string }
  /**
   * This site was closed, and must not go on. `unsent` are its operations that no other site is
   * known to have.
   */
  | {
      readonly kind: 'retired';
      readonly message: string;
      readonly unsent: readonly BlueOperation[];
    };

/** Rights to one bounded field that a closed site held, and that no site can use any more. */
export interface LostRight {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  readonly amount: number;
}

/** One output. The caller handles outputs in order. */
export type ReplicaOutput =
  | MemberOutput
  | {
      readonly kind: 'send';
      readonly to: Origin;
      readonly message: BlueMessage | SlotMessage | RightsMessage;
    }
  | {
      readonly kind: 'store';
      readonly log: 'local';
      readonly entries: readonly LocalEntry[];
    }
  /**
   * Another node of this site has gone on from an earlier point of its stream. This one must not go
   * on.
   */
  | { readonly kind: 'forked'; readonly message: string }
  /**
   * The stream of another origin differs between two sites. This site takes no more of that start
   * of the origin.
   */
  | { readonly kind: 'fork'; readonly origin: Origin; readonly message: string }
  /** A site was closed, and its rights to bounded fields are lost. */
  | {
      readonly kind: 'rights-lost';
      readonly origin: Origin;
      readonly lost: readonly LostRight[];
    }
  | { readonly kind: 'propose'; readonly record: RedRecord }
  /** No caller waits for the record any more. It is not proposed, if that is still possible. */
  | { readonly kind: 'withdraw'; readonly record: RedRecord }
  /**
   * `committed` is the one view of an update that its own site has decided. Nothing follows a view
   * with `isLast`.
   */
  | {
      readonly kind: 'view';
      readonly serial: number;
      readonly stage: Stage;
      readonly reply: Reply;
      readonly isLast: boolean;
      /**
       * What the session has seen with this view. It is absent for previews and outside of
       * sessions.
       */
      readonly seen?: Vector | undefined;
    }
  /** Without a stage the operation failed as a whole, and nothing follows. */
  | {
      readonly kind: 'failed';
      readonly serial: number;
      readonly error: CorrectableError;
      readonly stage?: Stage | undefined;
    };

/**
 * How far a view has got: a preview, in the stable snapshot, in the red order, or decided by one
 * site's log (at `causal`).
 */
export type Stage = 'tentative' | 'causal' | 'strong' | 'committed';
