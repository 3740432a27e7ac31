import type { Principal } from '../../../correctable/binding.ts';
import type { Codec } from '../../../protocol/codec/codec.ts';
import type { SiteMove } from '../../../protocol/messages/submit.ts';
import type { SubmitterRecord } from '../clients/client-table.ts';
import type { OperationFigures, OperationStats } from './operation-stats.ts';
import type { LoadSlot } from '../limits/in-flight-load.ts';

/** What all submissions of one client share. */
export interface SubmissionOwner {
  readonly record: SubmitterRecord;
  readonly codec: Codec;
  /** The levels of the hosted binding. */
  readonly levels: readonly string[];
  /** The size of the largest view, in bytes. */
  readonly maxResultBytes: number;
  /** Reports failures, and violations of the binding's interface. */
  onAnomaly(operation: string, description: string, error?: unknown): void;
}

export interface SubmissionOptions {
  readonly id: number;
  /** Name of the operation, for reports. */
  readonly name: string;
  /**
   * Whether it is a write. If its result cannot be sent, it still took effect.
   */
  readonly isWrite: boolean;
  /**
   * Index of the strongest requested level. A view at this level or above is
   * the last one.
   */
  readonly strongest: number;
  /** When the operation arrived, by `now` of the process's clock. */
  readonly receivedAt: number;
  /** Where its views and failures are counted, if a contract names it. */
  readonly figures: OperationFigures | undefined;
  /** Where they are counted otherwise. */
  readonly stats: OperationStats;
  /** When its time is up, by `now` of the process's clock. */
  readonly deadlineAt: number | undefined;
  /** The site to which it was sent first, if it has moved. */
  readonly move?: SiteMove | undefined;
  /**
   * The client's key for it. All connections of its principal share their keys.
   */
  readonly idempotencyKey?: string | undefined;
  /** The principal that `authorize` has decided about. */
  readonly principal: Principal;
  /** Held until the store is done with the operation. */
  readonly slot: LoadSlot;
}
