/** What a submission is made from, and what it needs of its surroundings. */
import type { Principal } from '../../../correctable/binding.ts';
import type { Codec } from '../../../protocol/codec/codec.ts';
import type { SiteMove } from '../../../protocol/messages/submit.ts';
import type { ClientRecord } from '../clients/client-table.ts';
import type { OperationStats } from './operation-stats.ts';
import type { LoadSlot } from '../limits/in-flight-load.ts';

/** What all submissions of one client share. */
export interface SubmissionOwner {
  readonly record: Pick<
    ClientRecord,
    'key' | 'acknowledged' | 'tryReserve' | 'reserve' | 'release' | 'onEnded'
  >;
  readonly codec: Codec;
  /** The levels of the hosted binding. */
  readonly levels: readonly string[];
  /** The largest row of a view, in bytes. */
  readonly maxResultBytes: number;
  /** Reports failures, and what a binding does against its interface. */
  onAnomaly(operation: string, description: string, error?: unknown): void;
}

export interface SubmissionOptions {
  readonly id: number;
  /** Name of the operation, for reports. */
  readonly name: string;
  /** That the result of an update cannot be sent does not undo it. */
  readonly isWrite: boolean;
  /**
   * Whether its reply is kept for a repetition: that of an update, unless the
   * store remembers it itself.
   */
  readonly isRetained: boolean;
  /**
   * Index of the strongest requested level: a view at it or above is the last.
   */
  readonly strongest: number;
  /** When it arrived, by `now` of the clock of the process. */
  readonly receivedAt: number;
  /** Where its views and failures are counted. */
  readonly stats: OperationStats;
  /** When its time is up, by `now` of the clock of the process. */
  readonly deadlineAt: number | undefined;
  /** Where it was sent first, if it has moved. */
  readonly move?: SiteMove | undefined;
  /**
   * The client's name for it, the same for every connection of its principal.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The user that it is executed for: the one that `authorize` has decided on.
   */
  readonly principal: Principal;
  /** Its own until the store is done with it. */
  readonly slot: LoadSlot;
}
