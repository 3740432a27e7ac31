/**
 * The decision of certification about a record of the red log, and how an operation ended by it.
 */
import type { ReadRange } from './read-range.ts';
import type { ExecutionName, OperationId } from './records.ts';

/**
 * Why certification rejected a red operation. `name`: a field or row that it read changed, and
 * `others` if there are more. `range`: an interval that it scanned changed. `predecessor`: an
 * earlier operation that it depends on did not commit as expected. `window`: its snapshot is older
 * than the window of commits, so the cause is unknown. `held`: it overlaps a global that holds a
 * row of the partition. `aborted`: another red log did not grant a hold of this global in time.
 */
export type Conflict =
  | {
      readonly reason: 'name';
      readonly name: string;
      readonly others?: readonly string[];
    }
  | { readonly reason: 'range'; readonly range: ReadRange }
  | { readonly reason: 'predecessor'; readonly id: OperationId }
  | { readonly reason: 'window' | 'aborted' }
  | HeldConflict;

/** The conflict with a global that holds a row. */
export interface HeldConflict {
  readonly reason: 'held';
  readonly name: string;
  readonly execution: ExecutionName;
}

/** Returns all fields and rows that conflict. The list is empty for other conflicts. */
export function getConflictingNames(conflict: Conflict | undefined): readonly string[] {
  return conflict?.reason === 'name' ? [conflict.name, ...(conflict.others ?? [])] : [];
}

/** The decision about a record, which follows from the log's prefix. */
export type CertificationDecision =
  | { readonly kind: 'commit'; readonly stamp: number }
  | {
      readonly kind: 'reject';
      readonly conflict?: Conflict | undefined;
      /** Only of a global: the rejection is remembered by this stamp. */
      readonly stamp?: number;
    }
  | RepeatedDecision
  | { readonly kind: 'closed' }
  | { readonly kind: 'marker' }
  /** What was read still holds, unless there is a conflict. */
  | { readonly kind: 'check'; readonly conflict: Conflict | undefined }
  | GlobalDecision;

/** The operation was decided by an earlier record. */
export interface RepeatedDecision {
  readonly kind: 'void' | 'expired';
  /** Only of a global: the end of this execution is remembered by this stamp. */
  readonly stamp?: number;
}

/** The decision about a record of a global that is not its operation. */
export type GlobalDecision =
  /** The hold stands from its stamp on. */
  | { readonly kind: 'grant'; readonly stamp: number }
  | {
      readonly kind: 'refuse';
      readonly stamp: number;
      readonly conflict: Conflict | undefined;
    }
  /** The hold has ended. */
  | { readonly kind: 'release'; readonly stamp: number }
  /** The global cannot commit after this. */
  | { readonly kind: 'abort'; readonly stamp: number }
  /** The log goes on. The holds of these executions stand again. */
  | {
      readonly kind: 'open';
      readonly stamp: number;
      readonly restated: readonly ExecutionName[];
    };

export type OperationOutcome = { readonly stamp: number } | 'conflict';
