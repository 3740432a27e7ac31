/**
 * Outputs of a replica: messages to send, entries to store, red records to
 * propose, and views to deliver.
 */
import type { CorrectableError } from '../../correctable/errors.ts';
import type {
  BlueMessage,
  BlueOperation,
  LocalEntry,
  OperationId,
} from './records.ts';
import type { RedRecord, RightsMessage, SlotMessage } from './records.ts';
import type { Origin } from './origin.ts';
import type { Reply } from './reply.ts';
import type { Stage } from './submissions.ts';
import type { Vector } from './vector.ts';

/** What changes in who the members are. */
export type MemberOutput =
  /** The table of origins has changed. */
  | { readonly kind: 'members' }
  /**
   * What became of a change that this site has proposed: its origin, or why it
   * is void.
   */
  | {
      readonly kind: 'changed';
      readonly id: OperationId;
      readonly origin: Origin | undefined;
      readonly problem: string | undefined;
    }
  /**
   * What this site lacks is not kept for it any more: it needs the state of
   * another one.
   */
  | { readonly kind: 'behind'; readonly message: string }
  /**
   * This site was closed. It must not go on; `unsent` are its operations that
   * no other site is known to have.
   */
  | {
      readonly kind: 'retired';
      readonly message: string;
      readonly unsent: readonly BlueOperation[];
    };

/**
 * Rights to one bounded field that a closed site held: no site can take them.
 */
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
   * Another node of this site has gone on from an earlier place of its stream:
   * this one must not go on.
   */
  | { readonly kind: 'forked'; readonly message: string }
  /**
   * The stream of another origin differs between two sites: this site takes no
   * more of that start of it.
   */
  | { readonly kind: 'fork'; readonly origin: Origin; readonly message: string }
  /** A site was closed, and its rights to bounded fields are lost. */
  | {
      readonly kind: 'rights-lost';
      readonly origin: Origin;
      readonly lost: readonly LostRight[];
    }
  | { readonly kind: 'propose'; readonly record: RedRecord }
  /**
   * No caller waits for it any more: the record is not proposed, if that is
   * still possible.
   */
  | { readonly kind: 'withdraw'; readonly record: RedRecord }
  /**
   * `committed` is the one view of an update that its own site has decided;
   * nothing follows the `last`.
   */
  | {
      readonly kind: 'view';
      readonly serial: number;
      readonly stage: Stage;
      readonly reply: Reply;
      readonly isLast: boolean;
      /**
       * What the session has seen with this view; none of a guess, and outside
       * of sessions.
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
