/** What certification says of a record of the red log, and how an operation ended by it. */
import type { ReadRange } from './key-range.ts';
import type { OperationId } from './records.ts';

/**
 * What a red operation met: a field or a row that it had read (and `others`, where there are more), an interval that it had
 * scanned, one that it stood on which has not committed as it was then, or nothing that is known, since its snapshot was
 * older than the window of commits.
 */
export type Conflict =
  | { readonly reason: 'name'; readonly name: string; readonly others?: readonly string[] }
  | { readonly reason: 'range'; readonly range: ReadRange }
  | { readonly reason: 'predecessor'; readonly id: OperationId }
  | { readonly reason: 'window' };

/** All fields and rows that it met: none where it met something else. */
export function getConflictingNames(conflict: Conflict | undefined): readonly string[] {
  return conflict?.reason === 'name' ? [conflict.name, ...(conflict.others ?? [])] : [];
}

/** What the log's prefix says about a record. */
export type CertificationDecision =
  | { readonly kind: 'commit'; readonly stamp: number }
  | { readonly kind: 'reject'; readonly conflict?: Conflict | undefined }
  /** The operation was decided by an earlier record. */
  | { readonly kind: 'void' }
  /** The operation's identifier has expired. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'marker' };

/** How an operation ended. */
export type OperationOutcome = { readonly stamp: number } | 'conflict';
