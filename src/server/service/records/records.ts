/**
 * Records that sites write into logs and send each other: operations of both colors, as plain data.
 */
import type { DomainErrorInfo, ErrorCode } from '../../../correctable/errors.ts';
import type { DeploymentVersion } from './deployment-version.ts';
import type { Effect } from './effect.ts';
import type { ReadRange } from './read-range.ts';
import type { Origin, SavedOrigin, SiteAddress } from './origin.ts';
import type { Reply } from './reply.ts';
import type { Vector } from './vector.ts';

/**
 * Identifies an operation permanently, as `client/sequence`. A retry with the same id is the same
 * operation.
 */
export type OperationId = string;

/** Why an operation failed for good, as plain data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string;
  /** The error that the contract declares, if it is one. */
  readonly domain?: DomainErrorInfo;
}

/** The part that both colors share. */
export interface ShadowRecord {
  readonly id: OperationId;
  /** The site where the generator ran. */
  readonly site: Origin;
  /** The chosen shadow operation. It is absent if the operation changes nothing. */
  readonly shadow?: string;
  readonly effects: readonly Effect[];
  /** The reply, unless the shadow operation creates it from the results of its effects. */
  readonly reply: Reply;
}

/** A committed blue operation in the stream of its site. */
export interface BlueOperation extends ShadowRecord {
  /** Its number in the stream of its site, counted from 1. */
  readonly sequence: number;
  /** The vector that it depends on. Its own entry is its stamp. */
  readonly vector: Vector;
  /** The slot of this site's log that it decides, if it may be submitted again. */
  readonly hop?: number;
}

/** Names an entry of a red log by the proposal that it came from. */
export interface EntryName {
  readonly origin: Origin;
  /** The start of the proposer, and the number of the proposal in it. */
  readonly epoch: number;
  readonly sequence: number;
}

/**
 * The number of red records that a site had delivered. If there are several red logs, it is the
 * number for each partition, by its ordinal.
 */
export type RedDelivered = number | readonly number[];

/** One execution of a red operation, among those of one start of a site. */
export type Execution = readonly [id: OperationId, attempt: number];

/** A record in the red log of a partition. */
interface PartitionRecord {
  /** The ordinal of the partition whose red log has it. It is absent in the log of `main`. */
  readonly partition?: number;
}

/** A red operation as proposed. The red log's prefix decides whether it commits. */
export interface RedOperation extends ShadowRecord, PartitionRecord {
  readonly kind: 'operation';
  /** Arguments of the shadow operation, if it creates the reply. */
  readonly args?: unknown;
  /** The number of times that the generator has run for the log. */
  readonly attempt: number;
  /**
   * The epoch of the start at which it ran. Another start may propose the operation with the same
   * number.
   */
  readonly epoch: number;
  /**
   * Earlier operations of the same start, undecided then, whose effects it may have read. It
   * commits only behind them.
   */
  readonly dependencies?: readonly Execution[];
  /**
   * Its client has the results of all its operations up to this one, so that they can be forgotten.
   */
  readonly acknowledged?: number;
  /** The snapshot on which the generator ran. Its red entry is the red stamp that was read. */
  readonly snapshot: Vector;
  /** The operation of the contract: its result schema holds for the reply. */
  readonly operation: string;
  /** The domain error that the generator threw, in place of the reply. */
  readonly domainError?: Failure;
  /** The reads that certification compares: see `read-set.ts`. */
  readonly reads: readonly string[];
  /** Intervals that were scanned. */
  readonly ranges?: readonly ReadRange[];
  /**
   * Names of the rows that the effects create, as far as the red order knows: see `existsByRed`.
   */
  readonly created?: readonly string[];
  /**
   * The clock of the proposer. It decides last-writer-wins, and the commit stamp is at least this.
   */
  readonly clock: number;
  /**
   * The ordinals of other partitions with rows of it, ascending. It is present in a global only.
   */
  readonly others?: readonly number[];
  /** In the record of a global: the stamps of its holds. */
  readonly holds?: readonly HoldStamp[];
  /** In that record: the site that has proposed it. */
  readonly proposer?: Origin;
}

/** A red operation with rows in several partitions. */
export interface GlobalOperation extends RedOperation {
  readonly others: readonly number[];
}

/** The partition of a log, and the stamp of a hold in it. */
export type HoldStamp = readonly [partition: number, stamp: number];

/** Names one execution of a red operation at all sites. */
export type ExecutionName = string;

/**
 * Holds the rows of a global in this log. It has the whole operation, so that each site can finish
 * that.
 */
export interface HoldRecord extends PartitionRecord {
  readonly kind: 'hold';
  /** The operation. */
  readonly id: OperationId;
  /** The site that proposed the record. */
  readonly site: Origin;
  readonly operation: GlobalOperation;
}

/** Ends a hold. */
export interface ReleaseRecord extends PartitionRecord {
  readonly kind: 'release';
  readonly id: OperationId;
  readonly site: Origin;
  readonly execution: ExecutionName;
  /** The ordinal of the home of the global. */
  readonly home: number;
  /** The stamp of the global in its home; absent if it did not commit. */
  readonly stamp?: number;
}

/** Ends a global in its home log, unless its own record is before it. */
export interface AbortRecord extends PartitionRecord {
  readonly kind: 'abort';
  readonly id: OperationId;
  readonly site: Origin;
  readonly execution: ExecutionName;
}

/** A hold that the record of its global names, and that its log has lost. */
export interface LostHold {
  readonly operation: GlobalOperation;
  /** The stamp of the hold, by the record of the global. */
  readonly stamp: number;
}

/**
 * The first record of a red log that was restored without all that was confirmed. Other logs, blue
 * operations and sessions may wait for stamps that the log has lost: this record takes a stamp
 * above them.
 */
export interface OpeningRecord extends PartitionRecord {
  readonly kind: 'opening';
  readonly id: OperationId;
  readonly site: Origin;
  /** Its own stamp is at least this. */
  readonly stamp: number;
  /** Holds that stand from here on, unless the log has them. */
  readonly holds: readonly LostHold[];
}

/** The records of a global beside its operation. */
export type GlobalRecord = HoldRecord | ReleaseRecord | AbortRecord;

/** Ends an operation that was rejected too often. It cannot commit after this. */
export interface CloseRecord extends PartitionRecord {
  readonly kind: 'close';
  readonly id: OperationId;
  readonly site: Origin;
  readonly failure: Failure;
}

/** Takes a place in the red order for strong reads of one site. */
export interface MarkerRecord extends PartitionRecord {
  readonly kind: 'marker';
  readonly id: OperationId;
  readonly site: Origin;
}

/** Asks whether what a strong read over several partitions has read still holds at this place. */
export interface CheckRecord extends PartitionRecord {
  readonly kind: 'check';
  readonly id: OperationId;
  readonly site: Origin;
  /** The number of the execution, from 1 on. */
  readonly attempt: number;
  /** The snapshot on which the generator ran. */
  readonly snapshot: Vector;
  readonly reads: readonly string[];
  readonly ranges?: readonly ReadRange[];
}

/** A change of the members. */
export interface MemberChange {
  /** The name of the site that joins, is rebuilt, or is retired. */
  readonly name: string;
  /**
   * The identity of the directory that the site begins on. It is `null` for a site that is retired.
   */
  readonly directory: string | null;
  readonly address?: SiteAddress;
}

/**
 * Requests to close the origin with this name, if there is one, and to open another one if there is
 * a directory: a site joins, is rebuilt, or is retired.
 */
export interface ChangeRecord extends MemberChange {
  readonly kind: 'member';
  readonly action: 'change';
  readonly id: OperationId;
  readonly site: Origin;
  /**
   * The leader of the red log when it was proposed. The effect of the record must not depend on who
   * leads when it is read.
   */
  readonly leader?: Origin;
  /** The leaders of the other red logs, if there are any. */
  readonly leaders?: readonly Origin[];
}

/** How much of a stream a site holds, synced. */
export type HeldStream = readonly [origin: Origin, sequence: number, stamp: number];

/**
 * A site confirms a change. From then on it takes operations of the closed origin only from other
 * sites.
 */
export interface AckRecord {
  readonly kind: 'member';
  readonly action: 'ack';
  readonly id: OperationId;
  readonly site: Origin;
  /** The place of the change in the red log, from 1 on. */
  readonly change: number;
  /** By origin that is being closed: how much of its stream the site holds. */
  readonly held: readonly HeldStream[];
}

/**
 * A copy of the table of origins, in the red log of a partition beside `main`. From this place on
 * the log has these members. The table is that of `main` behind a change, or behind its last
 * confirmation.
 */
export interface MembersCopyRecord {
  readonly kind: 'member';
  readonly action: 'copy';
  readonly id: OperationId;
  readonly site: Origin;
  readonly partition: number;
  /** The place in `main` behind which the table is like this, from 1 on. */
  readonly place: number;
  readonly origins: readonly SavedOrigin[];
}

export type MemberRecord = ChangeRecord | AckRecord | MembersCopyRecord;

/**
 * A version is activated, since all sites run it. With one red log it is in force from this place
 * on. With several logs `main` has the record, and each other log a copy of it: it is in force once
 * all of them have it.
 */
export interface ActivateRecord {
  readonly kind: 'activate';
  readonly id: OperationId;
  readonly site: Origin;
  readonly version: DeploymentVersion;
  /** Of a copy: the ordinal of the partition whose log has it. */
  readonly partition?: number;
  /** Of a copy: the place of the record in `main`, from 1 on. */
  readonly place?: number;
}

export type RedRecord =
  | RedOperation
  | GlobalRecord
  | OpeningRecord
  | CloseRecord
  | MarkerRecord
  | CheckRecord
  | MemberRecord
  | ActivateRecord;

/**
 * Returns the ordinal of the partition whose red log has the record. Records about the deployment
 * are in `main`.
 */
export function getPartition(record: RedRecord): number {
  if (record.kind === 'member') return record.action === 'copy' ? record.partition : 0;
  return record.partition ?? 0;
}

/** The final result of an operation, as it decides a slot. */
export interface ReplyRecord {
  readonly kind: 'record';
  readonly reply?: Reply;
  readonly failure?: Failure;
  /**
   * The vector that the result depends on, its own effects included. Other sites deliver it once
   * all of that is visible there.
   */
  readonly vector: Vector;
}

/**
 * The decision of the first entry of a slot (log, identifier, hop): the reply, a move to another
 * site, or that it is red.
 */
export type SlotDecision =
  | ReplyRecord
  | { readonly kind: 'claim'; readonly site: Origin; readonly hop: number }
  | { readonly kind: 'handover' };

/** A blue operation in the log of a site: one of its own, or received from another one. */
export interface BlueEntry {
  readonly kind: 'blue';
  readonly operation: BlueOperation;
  /**
   * For an own operation: the number of red records that were delivered before it. After a restart
   * this proves that they are committed.
   */
  readonly redDelivered?: RedDelivered;
  /**
   * Only for an own operation that is being stored: the parts of its identifier, so that no code
   * has to parse it.
   */
  readonly client?: string;
  readonly number?: number;
}

/** An entry of a site's own log. It counts once it is synced. */
export type LocalEntry =
  | BlueEntry
  /** The slot of a named operation is decided, without effects. */
  | {
      readonly kind: 'slot';
      readonly id: OperationId;
      readonly hop: number;
      readonly decision: SlotDecision;
    }
  /** A client has the results of its operations up to `upTo`: their identifiers have expired. */
  | { readonly kind: 'expire'; readonly client: string; readonly upTo: number }
  /**
   * This number of records of the red log was delivered here. After a restart they are delivered
   * again before anything else is taken.
   */
  | { readonly kind: 'delivered'; readonly redDelivered: RedDelivered }
  /**
   * The start of a site with this term was accepted, on this directory. Messages of earlier starts
   * are not taken any more.
   */
  | {
      readonly kind: 'term';
      readonly site: Origin;
      readonly term: number;
      readonly directory?: string;
    };

/** A length of a stream or log, and the digest of the entries before it if that is known. */
export interface StreamPoint {
  readonly length: number;
  readonly digest?: number | undefined;
}

/** Messages between sites about their blue streams. */
export type BlueMessage =
  /**
   * Operations of one origin's stream in order, which the sender has created or passes on. `digest`
   * is that of the operations before them.
   */
  | {
      readonly kind: 'blue.operations';
      readonly operations: readonly BlueOperation[];
      readonly digest?: number | undefined;
    }
  /** All operations of the receiver's stream up to this one are synced at the sender. */
  | { readonly kind: 'blue.received'; readonly sequence: number }
  /** The sender's stream has reached this operation. The answer is `blue.received`. */
  | { readonly kind: 'blue.heartbeat'; readonly sequence: number }
  /**
   * How far the sender has synced the stream of each origin, by ordinal. `isRequest`: the receiver
   * has to send the same.
   */
  | {
      readonly kind: 'blue.have';
      readonly synced: readonly number[];
      readonly isRequest: boolean;
    }
  /** The sender lacks the operations of `origin` after this one. */
  | {
      readonly kind: 'blue.resend';
      readonly origin: Origin;
      readonly after: number;
    }
  /** The sender was asked for these operations, and does not keep the first of them any more. */
  | {
      readonly kind: 'blue.gone';
      readonly origin: Origin;
      readonly after: number;
    };

/** Rights to a bounded field that a site requests from another one. */
export interface RightsRequest {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  readonly amount: number;
  /** An operation waits for them: at its site, or for the pool, into which they are then given. */
  readonly target?: 'here' | 'pool';
}

/** Requests rights. The answer is an operation in the stream of a site that gives some. */
export interface RightsMessage {
  readonly kind: 'rights.request';
  readonly requests: readonly RightsRequest[];
  /**
   * The stamp of the last operation of the receiver that the sender has seen. Rights that were
   * given after it are on their way.
   */
  readonly seenStamp: number;
}

/** The rows of a table whose keys are in an interval, from `from` on, without `before`. */
export interface KeyRange {
  readonly table: string;
  readonly from?: string;
  readonly before?: string;
}

/** Messages by which two sites compare their rows: see `RowComparisons`. */
export type RowsMessage =
  /** Requests digests of rows of a state that covers `seen`. */
  | {
      readonly kind: 'rows.request';
      readonly range: KeyRange;
      readonly seen: Vector;
      /** Whether the digest of each row is needed. */
      readonly isDetailed: boolean;
    }
  /** The sum of the digests of rows, as they are in the state `at`. */
  | {
      readonly kind: 'rows.digest';
      /** The requested range, or its beginning. */
      readonly range: KeyRange;
      readonly at: Vector;
      readonly sum: number;
      /** The digest of each row, if it was requested. */
      readonly rows?: readonly (readonly [key: string, digest: number])[];
    };

/** Messages by which sites find the result of an operation that has moved. */
export type SlotMessage =
  /**
   * Requests the decision of the slot. If there is none, the slot records that the operation has
   * moved to the sender, at hop `by`.
   */
  | {
      readonly kind: 'slot.request';
      readonly id: OperationId;
      readonly hop: number;
      readonly by: number;
    }
  /** The decision of the slot, synced. It is absent if the identifier has expired. */
  | {
      readonly kind: 'slot.answered';
      readonly id: OperationId;
      readonly hop: number;
      readonly by: number;
      readonly decision: SlotDecision | undefined;
    };
