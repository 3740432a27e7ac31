import type { Principal } from '../../../correctable/binding.ts';
import type { Codec } from '../../../protocol/codec/codec.ts';
import type { SiteMove } from '../../../protocol/messages/submit.ts';
import type { SubmitterRecord } from '../clients/client-table.ts';
import type { OperationFigures, OperationStats } from './operation-stats.ts';
import type { LoadSlot } from '../limits/in-flight-load.ts';

/** The facts and the callbacks that all submissions of one client share. */
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
  /** Whether it is a write. If its result cannot be sent, it still took effect. */
  readonly isWrite: boolean;
  /** Index of the strongest requested level. A view at this level or above is the last one. */
  readonly strongest: number;
  /** When the operation arrived, by `now` of the process's clock. */
  readonly receivedAt: number;
  /** The statistics of the operation, if a contract names it. */
  readonly figures: OperationFigures | undefined;
  /** The statistics of all operations, which count an operation that no contract names. */
  readonly stats: OperationStats;
  /** The deadline, by `now` of the process's clock. */
  readonly deadlineAt: number | undefined;
  /** The site to which it was sent first, if it has moved. */
  readonly move?: SiteMove | undefined;
  /** The client's idempotency key. All connections of a principal share their keys. */
  readonly idempotencyKey?: string | undefined;
  /** The principal that `authorize` has decided about. */
  readonly principal: Principal;
  /** The place in the load, held until the store has ended the operation. */
  readonly slot: LoadSlot;
}
