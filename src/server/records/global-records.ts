/**
 * Records of globals: red operations with rows in several partitions. A global
 * is one record in the red log of its home. Before it, hold records stand in
 * the other logs. After it, release records end the holds.
 */
import type { Origin } from './origin.ts';
import type { OperationId, RedOperation } from './records.ts';

/** Names one execution of a red operation at all sites. */
export type ExecutionName = string;

/** Returns the name of an execution. An identifier may contain anything. */
export function getExecutionName({
  id,
  site,
  epoch,
  attempt,
}: Pick<RedOperation, 'id' | 'site' | 'epoch' | 'attempt'>): ExecutionName {
  return `${site}.${epoch}.${attempt} ${id}`;
}

/** The partition of a log, and the stamp of a hold in it. */
export type HoldStamp = readonly [partition: number, stamp: number];

/** A red operation with rows in several partitions, or with its home alone. */
export interface GlobalOperation extends RedOperation {
  /** The ordinal of its home. Default: 0, which is `main` */
  readonly partition?: number;
  /** The ordinals of the other partitions with rows of it, ascending. */
  readonly others: readonly number[];
  /** In the record that commits: the stamps of its holds. */
  readonly holds?: readonly HoldStamp[];
  /** In that record: the site that has proposed it. */
  readonly proposer?: Origin;
}

export function isGlobal(
  operation: RedOperation,
): operation is GlobalOperation {
  return 'others' in operation;
}

/**
 * Returns the site that has proposed a record. If that site is closed, the
 * record is void. Another site can finish the global of a site that is closed.
 */
export function getProposer(record: {
  readonly site: Origin;
  readonly proposer?: Origin;
}): Origin {
  return record.proposer ?? record.site;
}

export const getHome = ({ partition = 0 }: GlobalOperation): number =>
  partition;

interface PartitionRecord {
  /** The operation. */
  readonly id: OperationId;
  /** The site that proposed the record. */
  readonly site: Origin;
  /** The ordinal of the partition whose log has it. Default: 0 */
  readonly partition?: number;
}

/**
 * Holds the rows of a global in this log. It has the whole operation, so that
 * each site can finish that.
 */
export interface HoldRecord extends PartitionRecord {
  readonly kind: 'hold';
  readonly operation: GlobalOperation;
}

/** Ends a hold. */
export interface ReleaseRecord extends PartitionRecord {
  readonly kind: 'release';
  readonly execution: ExecutionName;
  /** The ordinal of the home of the global. */
  readonly home: number;
  /** The stamp of the global in its home; absent if it did not commit. */
  readonly stamp?: number;
}

/** Ends a global in its home log, unless its own record is before it. */
export interface AbortRecord extends PartitionRecord {
  readonly kind: 'abort';
  readonly execution: ExecutionName;
}

export type GlobalRecord = HoldRecord | ReleaseRecord | AbortRecord;
