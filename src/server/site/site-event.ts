/** What a site reports about itself and about the members of its deployment. */
import type { Origin } from '../service/records/origin.ts';
import type { BlueOperation, OperationId } from '../service/records/records.ts';

/** Events of the members of the deployment. */
export type MemberEvent =
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
